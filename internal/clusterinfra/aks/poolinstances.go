package aks

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

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
	// State is the state of the pool: AKS may be changing it, or may have refused a change.
	State arm.State
}

// InstanceReader reads the VMs of agent pools.
type InstanceReader struct {
	Facts  *facts.Facts
	Caller facts.Caller
	Now    time.Time
	// NodeGroup returns the node resource group of the cluster.
	NodeGroup func(context.Context) (arm.ID, error)
}

// Read reads the VMs of an existing agent pool, and returns nil for any other pool. It reads them also while AKS applies a change of the
// pool, or has refused one, because AKS's autoscaler continues, and a refused change can last for days. If the pool is not as planned, an
// error of Read is only logged, so that the status shows why the pool is not as planned.
func (r InstanceReader) Read(ctx context.Context, pool arm.Result) (*Instances, error) {
	if !hasInstances(pool) {
		return nil, nil
	}
	out, err := r.read(ctx, pool)
	if err != nil && !pool.IsDone() {
		ctrl.LoggerFrom(ctx).Info("The VMs of the pool cannot be read. Its status keeps those of the last read", "reason", err.Error())
		return nil, nil
	}
	return out, err
}

func (r InstanceReader) read(ctx context.Context, pool arm.Result) (*Instances, error) {
	group, err := r.NodeGroup(ctx)
	if err != nil {
		return nil, err
	}
	out, err := readInstances(ctx, r.Facts, r.Caller, r.Now, group, pool.ID.Name(), pool.Observed)
	if err != nil {
		return nil, err
	}
	out.State = pool.State
	return out, nil
}

// hasInstances reports whether a pool has VMs that Cluster API may use. A pool that is being created has none yet, and a stopped one has
// none left.
func hasInstances(pool arm.Result) bool {
	shown := agentpool.Observe(pool.Observed)
	switch pool.State {
	case arm.Ready, arm.Foreign:
		return !shown.IsStopped()
	case arm.Updating, arm.Waiting, arm.Blocked, arm.Failed:
		return shown.Exists && !pool.ReadFailed && !shown.IsStopped() && shown.Properties.ProvisioningState != "Creating"
	}
	return false
}

// readInstances reads the VMs of an agent pool in its node resource group at the time now. observed is the body of the pool.
func readInstances(ctx context.Context, f *facts.Facts, caller facts.Caller, now time.Time, group arm.ID, pool string,
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
	ids, exists, err := f.ListPoolInstances(ctx, caller, group, pool, observed, int(out.Count))
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

// NextRead returns when to read the instances of a pool again; 0 leaves that to the next sync, the retry of a refused change or the end of an
// operation. AKS changes the number of an autoscaled pool by itself. incomplete is set if the pool is as planned and VMs are missing.
func (i *Instances) NextRead(pool conditions.Getter) (after time.Duration, incomplete bool) {
	switch {
	case i == nil || i.Unsupported != "":
		return 0, false
	case i.isInPlace() && !i.IsComplete():
		return InstancesRetry(pool, i.ReadAt), true
	case i.Autoscaled:
		return autoscaledResync, false
	}
	return 0, false
}

// isInPlace reports whether the pool is as planned.
func (i *Instances) isInPlace() bool { return arm.Result{State: i.State}.IsDone() }
