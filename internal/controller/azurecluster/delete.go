package azurecluster

import (
	"context"
	"fmt"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// Deleting implements reconcile.Kind: the network goes after the machines and pools in it, whose deletion wakes it.
func (k *Kind) Deleting(ctx context.Context, in *input) error {
	in.azureCluster.Status.Ready = false
	machines, err := k.machines(ctx, in)
	if err != nil {
		return err
	}
	pools, err := clusterinfra.Pools(ctx, k.Client, in.azureCluster.Namespace, in.cluster.Name)
	if err != nil {
		return err
	}
	first := deletion.First{Kind: "AzureMachine", Owner: "Machine", Objects: machines, Cluster: in.cluster, ClusterGone: in.clusterGone}
	if len(machines) == 0 {
		first.Kind, first.Owner, first.Objects = "AzureMachinePool", "MachinePool", pools
	}
	if len(first.Objects) == 0 {
		return nil
	}
	return reconcile.WaitFor(first.Condition(infrav1.WaitingForMachinesReason))
}

// Untouched implements reconcile.Kind.
func (k *Kind) Untouched(in *input) bool { return cluster.Untouched(in.azureCluster) }

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	in.planned = k.planInput(in, turn.Access.SubscriptionID)
	graph, err := cluster.DeletePlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	found, err := k.findLeftovers(ctx, turn, in, graph)
	if err != nil {
		return nil, reconcile.Unread(err)
	}
	in.goes, in.left = leftovers.Collect(in.azureCluster, graph, found)
	out := &reconcile.Plan{Graph: graph, Sent: cluster.Memory(in.planned), WholeGroups: true, Unlabelled: in.goes}
	if len(in.left) > 0 {
		out.LeftBehind = leftEvent(plan.ResourceGroupID(in.planned), in.left)
	}
	return out, nil
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	reportGroups(in, outcome)
	reportLeftovers(in)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	spec := in.azureCluster.Spec
	key, value := plan.OwnerTag(k.planInput(in, subscription))
	return deletion.Held{
		Identity: deletion.Identity(spec.IdentityRef, in.azureCluster.Namespace), User: "AzureCluster " + in.azureCluster.Name,
		Azure: fmt.Sprintf("all that carries the tag %s=%s", key, value), Groups: true,
	}
}
