package azuremachinepool

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/volumes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Deleting implements reconcile.Kind. The VMs go with their scale set, which the pool's own finalizer stands for, so nothing keeps
// what stands for them.
func (k *Kind) Deleting(ctx context.Context, in *input) error {
	in.azurePool.Status.Ready = false
	if !in.home.There() && deletion.Moved(in.azurePool) {
		return reconcile.Nothing()
	}
	if err := k.loadMembers(ctx, in); err != nil {
		return err
	}
	in.countReady()
	for _, m := range in.members {
		if m.seen().Held {
			condition := deletion.Paused(m.vm, machineKind, nil)
			condition.Message = machineKind + " " + m.vm.Name + ": " + condition.Message
			return reconcile.WaitFor(condition)
		}
	}
	for _, m := range in.members {
		if err := k.release(ctx, m.vm); err != nil {
			return err
		}
	}
	switch {
	case in.home.There():
		return nil
	case untouched(in):
		return reconcile.LetGo()
	}
	return reconcile.Abandon("the AzureCluster or AzureManagedControlPlane that says how to ask Azure is gone", inAzure(in))
}

// Untouched implements reconcile.Kind: scale sets are made in a network that is there.
func (k *Kind) Untouched(in *input) bool {
	return untouched(in) && !selfmanaged.Provisioned(in.cluster) && in.home.Untouched()
}

// untouched tells whether the pool itself says that nothing of it was ever planned.
func untouched(in *input) bool {
	return in.azurePool.Spec.ProviderID == "" && !memory.Stored(in.azurePool.Annotations)
}

// PlanDeletion implements reconcile.Kind. When the whole cluster goes and its resource group with it, the group's deletion takes
// everything.
func (k *Kind) PlanDeletion(ctx context.Context, turn reconcile.Turn, in *input) (_ *reconcile.Plan, err error) {
	planned := k.planInput(in, turn.Access.SubscriptionID)
	if planned.ClusterInput, err = in.home.Seen(ctx, k.Facts, turn.Access.Client, planned.ClusterInput); err != nil {
		return nil, reconcile.Unread(err)
	}
	graph, err := pool.DeletePlan(planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	warning, err := volumes.Deletion{
		Facts: k.Facts, Failures: &k.untagged, Turn: turn, Cluster: in.cluster, ClusterGone: in.clusterGone, AzureCluster: in.home.AzureCluster, Since: in.azurePool.DeletionTimestamp,
		Resource: pool.ScaleSetID(planned), Flexible: planned.AzureMachinePool.Spec.OrchestrationMode == infrav1.FlexibleOrchestration,
	}.Tag(ctx)
	if err != nil {
		return nil, err
	}
	out := &reconcile.Plan{Graph: graph, Warning: warning, Gone: func() {
		k.requests.forget(turn.Name)
		k.untagged.Forget(turn.Name)
	}}
	if !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() && plan.GoesWithGroup(planned.ClusterInput, graph) {
		out.GoesWith = plan.ResourceGroupID(planned.ClusterInput)
	}
	return out, nil
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	deletion.Forget(in.azurePool, infrav1.ReadyCondition, infrav1.ScaleSetRunningCondition)
	status.Set(in.azurePool, nil, status.Groups(outcome, []string{infrav1.ScaleSetRunningCondition, infrav1.RoleAssignmentReadyCondition}, group))
	in.azurePool.Status.Resources = status.ResourceStatuses(outcome)
	reconcile.Summarize(in.azurePool, summed)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, _ string) deletion.Held {
	return deletion.Held{
		Identity: deletion.Identity(in.home.IdentityRef(), in.azurePool.Namespace), User: in.home.String(), Azure: inAzure(in),
		Names: []string{pool.ScaleSetName(pool.Input{AzureMachinePool: in.azurePool})},
	}
}

// inAzure names the scale set.
func inAzure(in *input) string {
	if in.azurePool.Spec.ProviderID != "" {
		return strings.TrimPrefix(in.azurePool.Spec.ProviderID, "azure://") + " with its VMs"
	}
	return "a scale set " + pool.ScaleSetName(pool.Input{AzureMachinePool: in.azurePool}) + " with its VMs"
}
