package aks

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	neutral "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// Instances are the VMs of an agent pool. VMs that Azure lists while it adds or removes nodes are included: Cluster API needs to know
// existing nodes.
type Instances struct {
	ProviderIDs []string
	// Count is the current or target number of nodes, as Azure reports it.
	Count int32
	// Exists is set if the pool has a scale set.
	Exists bool
	// Autoscaled is set if AKS's autoscaler changes the number of nodes.
	Autoscaled bool
	// Version is the Kubernetes version that the pool runs.
	Version string
	// Unsupported is the reason why the VMs of a pool of this type are not listed, "" if they are.
	Unsupported string
	// ReadAt is when Azure was asked.
	ReadAt time.Time
}

// ReadInstances reads the VMs of an agent pool in its node resource group at the time now. observed is the body of the pool.
func ReadInstances(ctx context.Context, f *facts.Facts, asker facts.Asker, now time.Time, group arm.ID, pool string,
	observed json.RawMessage) (*Instances, error) {
	shown := agentpool.Observe(observed)
	have := shown.Properties
	out := &Instances{ReadAt: now, Autoscaled: have.EnableAutoScaling, Version: shown.Version().Running}
	if have.Count != nil {
		out.Count = *have.Count
	}
	if out.Unsupported = agentpool.UnsupportedType(have.Type); out.Unsupported != "" {
		return out, nil
	}
	ids, exists, err := f.ListPoolInstances(ctx, asker, group, pool, observed, int(out.Count))
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		out.ProviderIDs = append(out.ProviderIDs, neutral.ProviderID(id))
	}
	out.Exists = exists
	return out, nil
}

// IsComplete reports whether the pool has all its VMs.
func (i *Instances) IsComplete() bool {
	return i.Unsupported == "" && len(i.ProviderIDs) == int(i.Count)
}

// Condition returns the condition ScaleSetReady.
func (i *Instances) Condition() metav1.Condition {
	if i.Unsupported != "" {
		return metav1.Condition{Type: infrav1.ScaleSetReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.NotSupportedReason,
			Message: i.Unsupported}
	}
	return scaleSetCondition(i.Exists, len(i.ProviderIDs), i.Count)
}

// autoscaledResync is how often an autoscaled pool is checked, because AKS sends no notice of its changes.
const autoscaledResync = time.Minute

// ValidFor returns how long the instances of a complete pool are valid, 0 if AKS does not change their number by itself.
func (i *Instances) ValidFor() time.Duration {
	if i.Autoscaled {
		return autoscaledResync
	}
	return 0
}
