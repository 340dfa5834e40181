package azuremachinepool

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/volumes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// BeforeDelete implements reconcile.Kind. The VMs are deleted with their scale set, which the pool's own finalizer protects, so the
// finalizers of AzureMachinePoolMachines are removed.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.azurePool.Status.Ready = false
	if err := k.loadMembers(ctx, in); err != nil {
		return err
	}
	in.countReady()
	for _, m := range in.members {
		if m.readState().Paused {
			condition := deletion.PausedCondition(m.vm, machineKind, nil)
			if isMoved(m.vm) {
				condition = deletion.MovedCondition(m.vm, machineKind, infrav1.MachinePoolMachineFinalizer)
			}
			condition.Message = machineKind + " " + m.vm.Name + ": " + condition.Message
			return reconcile.WaitFor(condition)
		}
	}
	for _, m := range in.members {
		if err := k.removeFinalizer(ctx, m.vm); err != nil {
			return err
		}
	}
	switch {
	case in.infrastructure.Exists():
		return k.keepSharedScaleSet(ctx, in)
	case nothingPlanned(in):
		return reconcile.FinishDeletion()
	}
	return reconcile.AbandonResources("the AzureCluster or AzureManagedControlPlane with the identity for Azure is gone", describeScaleSet(in))
}

// keepSharedScaleSet ends the deletion of a pool whose scale set another AzureMachinePool has, too: users delete the object that was
// refused for its name, and the VMs are those of the other one.
func (k *Kind) keepSharedScaleSet(ctx context.Context, in *input) error {
	planned := pool.Input{AzureMachinePool: in.azurePool}
	var err error
	if planned.ClusterPools, err = k.listClusterPools(ctx, in); err != nil {
		return err
	}
	if sharing := pool.ListSharingPools(planned); len(sharing) > 0 {
		return reconcile.KeepResources(fmt.Sprintf("The scale set %s with its VMs stays in Azure, because AzureMachinePool %s also manages it",
			pool.ScaleSetName(planned), sharing[0].Name))
	}
	return nil
}

// nothingCreated reports whether the pool cannot have created anything in Azure: scale sets are created only in a provisioned network.
func nothingCreated(in *input) bool {
	return nothingPlanned(in) && !selfmanaged.IsProvisioned(in.cluster) && in.infrastructure.NothingCreated()
}

// nothingPlanned reports whether, by the pool's own fields, no plan of the pool was ever stored.
func nothingPlanned(in *input) bool {
	return !pool.WasPlanned(in.azurePool)
}

// PlanDeletion implements reconcile.Kind. If the Cluster and its resource group are deleted, the deletion of the group covers all
// resources.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (_ *reconcile.Plan, err error) {
	in.planned = k.newPlanInput(in, session.Access.SubscriptionID, session.Access.LentGrants != nil)
	planned := &in.planned
	if planned.ClusterInput, err = in.infrastructure.AddFacts(ctx, k.Facts, session.Caller(), planned.ClusterInput); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	graph, err := pool.BuildDeletePlan(*planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	out := &reconcile.Plan{
		Graph:           graph,
		OnDeleted:       func() { k.requests.forget(session.Name) },
		PrepareDeletion: func(ctx context.Context) (string, error) { return k.tagVolumes(ctx, session, in) },
	}
	if !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() && plan.IsDeletedWithGroup(planned.ClusterInput, graph) {
		out.DeletedWithGroup = plan.ResourceGroupID(planned.ClusterInput)
	}
	return out, nil
}

// tagVolumes tags the disks of volumes that are attached to VMs of the scale set.
func (k *Kind) tagVolumes(ctx context.Context, session reconcile.Session, in *input) (warning string, err error) {
	return volumes.Deletion{
		Facts: k.Facts, Session: session, Cluster: in.cluster, ClusterGone: in.clusterGone, AzureCluster: in.infrastructure.AzureCluster,
		Since:    in.azurePool.DeletionTimestamp,
		Resource: pool.ScaleSetID(in.planned), Flexible: isFlexible(in),
	}.TagVolumes(ctx)
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	deletion.KeepConditions(in.azurePool, infrav1.ReadyCondition, infrav1.ScaleSetRunningCondition)
	status.SetConditions(in.azurePool, nil,
		status.GroupConditions(outcome, []string{infrav1.ScaleSetRunningCondition, infrav1.RoleAssignmentReadyCondition}, conditionGroup))
	in.azurePool.Status.Resources = status.ResourceStatuses(outcome)
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, _ string) deletion.Resources {
	return deletion.Resources{
		NothingCreated: nothingCreated(in),
		Identity:       deletion.DescribeIdentity(in.infrastructure.IdentityRef(), in.azurePool.Namespace), User: in.infrastructure.String(),
		AzureResources: describeScaleSet(in),
		ResourceNames:  []string{pool.ScaleSetName(pool.Input{AzureMachinePool: in.azurePool})},
	}
}

// describeScaleSet describes the scale set in Azure.
func describeScaleSet(in *input) string {
	if in.azurePool.Spec.ProviderID != "" {
		return arm.TrimScheme(in.azurePool.Spec.ProviderID) + " with its VMs"
	}
	return "a scale set " + pool.ScaleSetName(pool.Input{AzureMachinePool: in.azurePool}) + " with its VMs"
}
