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

// BeforeDelete implements reconcile.Kind. The network is deleted after its machines and pools, whose deletion wakes the object.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.azureCluster.Status.Ready = false
	machines, err := k.listMachines(ctx, in)
	if err != nil {
		return err
	}
	pools, err := clusterinfra.ListMachinePools(ctx, k.Client, in.azureCluster.Namespace, in.cluster.Name)
	if err != nil {
		return err
	}
	first := deletion.Prerequisites{Kind: "AzureMachine", OwnerKind: "Machine", Objects: machines, Cluster: in.cluster,
		ClusterGone: in.clusterGone}
	if len(machines) == 0 {
		first.Kind, first.OwnerKind, first.Objects = "AzureMachinePool", "MachinePool", pools
	}
	if len(first.Objects) == 0 {
		return nil
	}
	return reconcile.WaitFor(first.WaitCondition(infrav1.WaitingForMachinesReason))
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	in.planned = k.newPlanInput(in, session.Access.SubscriptionID)
	graph, err := cluster.BuildDeletePlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	found, refused, err := k.findLeftovers(ctx, session, in, graph)
	if err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	in.leftoversToDelete, in.leftoversKept = leftovers.AddToDeletion(in.azureCluster, graph, found)
	in.refusedLists = refused
	out := &reconcile.Plan{Graph: graph, LastApplied: cluster.LastApplied(in.planned), DeleteWholeGroups: true,
		OwnedUntagged: in.leftoversToDelete}
	if len(in.leftoversKept)+len(in.refusedLists) > 0 {
		out.FinalWarning = leftoversEvent(plan.ResourceGroupID(in.planned), in.leftoversKept, in.refusedLists)
	}
	return out, nil
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	reportGroups(in, outcome)
	reportLeftovers(in)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	spec := in.azureCluster.Spec
	key, value := plan.OwnerTag(k.newPlanInput(in, subscription))
	return deletion.Resources{
		NothingCreated: cluster.NothingCreated(in.azureCluster),
		Identity:       deletion.DescribeIdentity(spec.IdentityRef, in.azureCluster.Namespace), User: "AzureCluster " + in.azureCluster.Name,
		AzureResources: fmt.Sprintf("all resources with the tag %s=%s", key, value), OwnsAllTagged: true,
	}
}
