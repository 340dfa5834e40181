package azureasomanagedmachinepool

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	nodes "sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	neutral "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// autoscaledResync is how often an autoscaled pool is checked, because AKS sends no notice of its changes.
const autoscaledResync = time.Minute

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned, err = in.members.LoadPlanInput(ctx, k.Client, session, asoresources.MachinePoolKind, in.object)
	return err
}

// FingerprintInputs implements reconcile.Kind. The status of the control plane shows upgrades of the cluster.
func (k *Kind) FingerprintInputs(in *input) []any {
	version := ""
	if in.members.ControlPlane != nil {
		version = in.members.ControlPlane.Status.Version
	}
	return append(asoresources.FingerprintInputs(in.planned), version)
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if _, ok := in.planned.AgentPool(); !ok {
		return nil, reconcile.RefuseSpec(field.ErrorList{field.Required(field.NewPath("spec", "resources"), "a resource manifest of kind ManagedClustersAgentPool, group containerservice.azure.com")})
	}
	return in.members.PlanResources(ctx, k.Facts, session, &in.planned)
}

// newPublisher returns the publisher for the object.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.MachinePoolKind, Cluster: in.members.Cluster.Name}
}

// RenewOwnerReferences implements reconcile.OwnerReferenceRenewer.
func (k *Kind) RenewOwnerReferences(ctx context.Context, in *input) error {
	return k.newPublisher(in).RenewOwnerReferences(ctx)
}

// Report implements reconcile.Kind. It shows the VMs of a finished pool.
func (k *Kind) Report(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (time.Duration, error) {
	plain, err := asoresources.ReconcilePlainObjects(ctx, k.Client, session, in.object, in.planned)
	if err != nil {
		return 0, err
	}
	resources, done := asoresources.ReportResources(in.object, in.planned, outcome, plain)
	in.object.Status.Resources = resources
	if err := asoresources.ExportValues(ctx, k.newPublisher(in), in.planned, outcome, nil); err != nil {
		return 0, err
	}
	d, _ := in.planned.AgentPool()
	id, _ := in.planned.ResourceID(d) // Without an ID there is no result.
	result, ok := outcome.Result(id)
	if !ok || !result.IsDone() {
		in.object.Status.Ready = false
		reconcile.SummarizeReady(in.object, summarizedConditions)
		return 0, nil
	}
	complete, err := k.reportInstances(ctx, session.Asker(), in, id, result.Observed)
	if err != nil {
		return 0, reconcile.ReadFailedFor(infrav1.ScaleSetReadyCondition, err)
	}
	if in.machinePool != nil {
		if in.machinePool, err = nodes.FollowAutoscaler(ctx, k.Client, in.machinePool, plan.ManagedByAKS, plan.HasAutoscaler(d), nodeCount(result.Observed)); err != nil {
			return 0, err
		}
		in.planned.MachinePools[in.planned.ObjectKey] = in.machinePool
	}
	in.object.Status.Ready = done && complete
	if in.object.Status.Ready {
		in.object.Status.Initialization.Provisioned = new(true)
	}
	reconcile.SummarizeReady(in.object, summarizedConditions)
	switch {
	case !complete:
		return 0, reconcile.RecheckIn(nodes.InstancesRetry(in.object, time.Now()), nil)
	case plan.HasAutoscaler(d):
		return asoresources.ValidFor(plain, autoscaledResync), nil
	}
	return asoresources.ValidFor(plain, 0), nil
}

// reportInstances reads the VMs of the pool, and reports whether the pool has all of them. VMs that Azure lists while it adds or
// removes nodes are shown too: Cluster API needs to know existing nodes.
func (k *Kind) reportInstances(ctx context.Context, asker facts.Asker, in *input, pool arm.ID, observed json.RawMessage) (complete bool, err error) {
	cluster, err := k.Facts.ReadResource(ctx, asker, pool.Parent())
	if err != nil {
		return false, err
	}
	group := arm.ResourceGroupID(pool.Subscription(), managedcluster.NodeResourceGroup(cluster))
	want := nodeCount(observed)
	ids, exists, err := k.Facts.ListPoolInstances(ctx, asker, group, pool.Name(), observed, int(want))
	if err != nil {
		return false, err
	}
	var providerIDs []string
	for _, id := range ids {
		providerIDs = append(providerIDs, neutral.ProviderID(id))
	}
	in.object.Spec.ProviderIDList, in.object.Status.Replicas = providerIDs, int32(len(providerIDs))
	condition := nodes.ScaleSetCondition(exists, len(ids), want)
	conditions.Set(in.object, condition)
	return condition.Status == metav1.ConditionTrue, nil
}

// nodeCount is the current or target number of nodes of the pool, as Azure reports it.
func nodeCount(observed json.RawMessage) int32 {
	if count := agentpool.Observe(observed).Properties.Count; count != nil {
		return *count
	}
	return 0
}
