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

// BeforeDelete implements reconcile.Kind. It waits for the pools and for the scale sets that joined, whose deletion wakes the object.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.controlPlane.Status.Ready = false
	joined, err := clusterinfra.ListMachinePools(ctx, k.Client, in.controlPlane.Namespace, in.cluster.Name)
	if err != nil {
		return err
	}
	first := deletion.Prerequisites{Kind: "AzureMachinePool", OwnerKind: "MachinePool", Objects: joined, Cluster: in.cluster,
		ClusterGone: in.clusterGone}
	if len(joined) == 0 {
		pools, err := aks.ListPools(ctx, k.Client, in.cluster)
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
	return reconcile.WaitFor(first.WaitCondition(infrav1.WaitingForMachinePoolsReason))
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	graph, err := plan.BuildDeletePlan(in.planned)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	return &reconcile.Plan{Graph: graph, LastApplied: plan.LastApplied(in.planned), DeleteWholeGroups: true}, nil
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	deletion.KeepConditions(in.controlPlane, append(slices.Clone(conditionGroups), infrav1.ReadyCondition)...)
	reportGroups(in, outcome)
	reconcile.SummarizeReady(in.controlPlane, summarizedConditions)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	key, value := plan.OwnerTag(planned)
	return deletion.Resources{
		NothingCreated: plan.NothingCreated(in.controlPlane),
		Identity:       deletion.DescribeIdentity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace),
		User:           aks.ControlPlaneKind + " " + in.controlPlane.Name,
		AzureResources: fmt.Sprintf("the AKS cluster %s and all other resources with the tag %s=%s", plan.ClusterID(planned), key, value),
		OwnsAllTagged:  true,
	}
}
