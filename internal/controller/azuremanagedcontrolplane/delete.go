package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// Deleting implements reconcile.Kind: the cluster goes after its pools and the scale sets that joined it, whose deletion wakes it.
func (k *Kind) Deleting(ctx context.Context, in *input) error {
	in.controlPlane.Status.Ready = false
	joined, err := clusterinfra.Pools(ctx, k.Client, in.controlPlane.Namespace, in.cluster.Name)
	if err != nil {
		return err
	}
	first := deletion.First{Kind: "AzureMachinePool", Owner: "MachinePool", Objects: joined, Cluster: in.cluster, ClusterGone: in.clusterGone}
	if len(joined) == 0 {
		pools, err := aks.Pools(ctx, k.Client, in.cluster)
		if err != nil {
			return err
		}
		first.Kind = aks.MachinePoolKind
		for _, pool := range pools {
			first.Objects = append(first.Objects, pool.AzurePool)
		}
	}
	if len(first.Objects) == 0 {
		return nil
	}
	return reconcile.WaitFor(first.Condition(infrav1.WaitingForMachinePoolsReason))
}

// Untouched implements reconcile.Kind.
func (k *Kind) Untouched(in *input) bool { return plan.NothingCreated(in.controlPlane) }

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if err := k.Prepare(ctx, turn, in); err != nil {
		return nil, err
	}
	graph, err := plan.BuildDeletePlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	return &reconcile.Plan{Graph: graph, Sent: plan.LastApplied(in.planned), WholeGroups: true}, nil
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	deletion.Forget(in.controlPlane, append(slices.Clone(groups), infrav1.ReadyCondition)...)
	reportGroups(in, outcome)
	reconcile.Summarize(in.controlPlane, summed)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	key, value := plan.OwnerTag(planned)
	return deletion.Held{
		Identity: deletion.Identity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace), User: aks.ControlPlaneKind + " " + in.controlPlane.Name,
		Azure: fmt.Sprintf("the AKS cluster %s and all else that carries the tag %s=%s", plan.ClusterID(planned), key, value), Groups: true,
	}
}
