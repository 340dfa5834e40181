package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// Deleting implements pass.Kind: the cluster goes after its pools, whose deletion wakes it.
func (k *Kind) Deleting(ctx context.Context, in *input) error {
	in.controlPlane.Status.Ready = false
	pools, err := managed.Pools(ctx, k.Client, in.cluster)
	if err != nil || len(pools) == 0 {
		return err
	}
	first := deletion.First{Kind: managed.MachinePoolKind, Owner: "MachinePool", Cluster: in.cluster, ClusterGone: in.clusterGone}
	for _, pool := range pools {
		first.Objects = append(first.Objects, pool.AzurePool)
	}
	return pass.WaitFor(first.Condition(infrav1.WaitingForMachinePoolsReason))
}

// Untouched implements pass.Kind.
func (k *Kind) Untouched(in *input) bool { return plan.Untouched(in.controlPlane) }

// PlanDeletion implements pass.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, turn pass.Turn, in *input) (*pass.Plan, error) {
	if err := k.Prepare(ctx, turn, in); err != nil {
		return nil, err
	}
	graph, err := plan.DeletePlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	return &pass.Plan{Graph: graph, Sent: plan.Memory(in.planned), WholeGroups: true}, nil
}

// ReportDeletion implements pass.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	deletion.Forget(in.controlPlane, append(slices.Clone(groups), infrav1.ReadyCondition)...)
	reportGroups(in, outcome)
	pass.Summarize(in.controlPlane, summed)
}

// Held implements pass.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	key, value := plan.OwnerTag(planned)
	return deletion.Held{
		Identity: deletion.Identity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace), User: managed.ControlPlaneKind + " " + in.controlPlane.Name,
		Azure: fmt.Sprintf("the AKS cluster %s and what else carries the tag %s: %s", plan.ClusterID(planned), key, value),
	}
}
