package azuremanagedmachinepool

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
)

// BeforeDelete implements reconcile.Kind. It also ends the deletion of pools of a cluster that was never created.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.azurePool.Status.Ready = false
	if in.controlPlane == nil {
		// A control plane that is deleted waits for the objects of its pools, so it did not delete the cluster in AKS.
		if !plan.WasPlanned(in.azurePool) {
			return reconcile.FinishDeletion()
		}
		return reconcile.AbandonResources("the AzureManagedControlPlane with the identity for Azure is gone", describePool(in, ""))
	}
	owners := aks.PoolOwners{Cluster: in.cluster, ClusterGone: in.clusterGone, ControlPlane: in.controlPlane,
		NothingCreated: plan.NothingCreated(in.controlPlane), Initialized: in.isInitialized()}
	if owners.MayCreatePool() {
		settled, err := lastwrites.IsSettled(ctx, k.Client, aks.ControlPlaneKind, in.controlPlane)
		switch {
		case err != nil:
			return err
		case !settled:
			return waitForCreation(in)
		}
	}
	switch goes, err := k.isDeletedWithCluster(ctx, owners, in); {
	case err != nil:
		return err
	case goes:
		return reconcile.FinishDeletion()
	}
	return k.keepSharedPool(ctx, in)
}

// keepSharedPool ends the deletion of a pool whose agent pool another AzureManagedMachinePool has, too: users delete the object that was
// refused for its name, and the nodes are those of the other one.
func (k *Kind) keepSharedPool(ctx context.Context, in *input) error {
	pools, err := aks.ListPools(ctx, k.Client, in.cluster)
	if err != nil {
		return err
	}
	pool := aks.NewPool(in.azurePool, in.machinePool)
	if sharing := plan.ListSharingPools(pools, pool); len(sharing) > 0 {
		return reconcile.KeepResources(fmt.Sprintf("The agent pool %s stays in Azure, because %s %s also manages it",
			plan.PoolName(pool), aks.MachinePoolKind, sharing[0].Name))
	}
	return nil
}

// isDeletedWithCluster reports whether the pool needs no deletion of its own.
func (k *Kind) isDeletedWithCluster(ctx context.Context, owners aks.PoolOwners, in *input) (bool, error) {
	return owners.DeletePool(func() (out []metav1.Object, err error) {
		pools, err := aks.ListPools(ctx, k.Client, in.cluster)
		for _, pool := range pools {
			out = append(out, pool.AzurePool)
		}
		return out, err
	})
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	if k.Engine.IsCreating(plan.ClusterID(in.planned)) {
		return nil, waitForCreation(in)
	}
	deletion.KeepConditions(in.azurePool, infrav1.ReadyCondition, infrav1.AgentPoolsReadyCondition)
	graph, err := plan.BuildPoolDeletePlan(in.planned, in.pool)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	return &reconcile.Plan{Graph: graph}, nil
}

// waitForCreation reports that the deletion of the pool waits for the creation of the AKS cluster, and asks for a retry.
func waitForCreation(in *input) error {
	deletion.KeepConditions(in.azurePool, infrav1.ReadyCondition, infrav1.AgentPoolsReadyCondition)
	conditions.Set(in.azurePool, aks.CreatingCondition(infrav1.AgentPoolsReadyCondition))
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
	return reconcile.StopFor(aks.CreatingRetry)
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	reportConverged(in, outcome)
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	return deletion.Resources{
		Identity: deletion.DescribeIdentity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace),
		User:     aks.ControlPlaneKind + " " + in.controlPlane.Name,
		// An agent pool has no ownership tag, but its cluster has.
		AzureResources: describePool(in, subscription), ResourceNames: []string{plan.ClusterID(planned).Name()},
		ChildPath: "agentPools/" + plan.PoolName(aks.NewPool(in.azurePool, in.machinePool)),
	}
}

// describePool describes the agent pool in Azure.
func describePool(in *input, subscription string) string {
	name := plan.PoolName(aks.NewPool(in.azurePool, in.machinePool))
	if in.controlPlane == nil {
		return fmt.Sprintf("the agent pool %s of the AKS cluster of Cluster %s", name, in.cluster.Name)
	}
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	return fmt.Sprintf("the agent pool %s of %s", name, plan.ClusterID(planned))
}
