package azuremanagedmachinepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// creatingRetry is how soon the deletion of a pool is tried again whose cluster is being created.
const creatingRetry = 5 * time.Second

// Deleting implements reconcile.Kind.
func (k *Kind) Deleting(ctx context.Context, in *input) error {
	in.azurePool.Status.Ready = false
	if in.controlPlane == nil && in.clusterGone {
		return reconcile.Abandon("the AzureManagedControlPlane that says how to ask Azure is gone", inAzure(in, ""))
	}
	goes, err := k.goesWithCluster(ctx, in)
	if err == nil && goes {
		return reconcile.LetGo()
	}
	return err
}

// goesWithCluster tells whether the pool needs no deletion of its own: AKS deletes the pools with their cluster, and would
// refuse to delete the last system pool before. There is none of a cluster that was never begun. A control plane that is
// being deleted by itself waits for its pools, so the cluster goes only once all of them are to go.
func (k *Kind) goesWithCluster(ctx context.Context, in *input) (bool, error) {
	if in.controlPlane == nil || plan.NothingCreated(in.controlPlane) || !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if in.controlPlane.DeletionTimestamp.IsZero() {
		return false, nil
	}
	pools, err := aks.Pools(ctx, k.Client, in.cluster)
	return !slices.ContainsFunc(pools, func(pool plan.Pool) bool { return pool.AzurePool.DeletionTimestamp.IsZero() }), err
}

// Untouched implements reconcile.Kind. A pool of a cluster that was never begun goes with that.
func (k *Kind) Untouched(*input) bool { return false }

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if err := k.Prepare(ctx, turn, in); err != nil {
		return nil, err
	}
	deletion.Forget(in.azurePool, infrav1.ReadyCondition, infrav1.AgentPoolsReadyCondition)
	if k.Engine.IsCreating(plan.ClusterID(in.planned)) {
		// The cluster may be made with the pool, which Azure does not show before it has taken that.
		conditions.Set(in.azurePool, metav1.Condition{
			Type: infrav1.AgentPoolsReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
			Message: "the AKS cluster is being created, maybe with the pool; the pool is deleted after that",
		})
		reconcile.Summarize(in.azurePool, summed)
		return nil, reconcile.Stop(creatingRetry)
	}
	graph, err := plan.BuildPoolDeletePlan(in.planned, in.pool)
	if err != nil {
		return nil, fmt.Errorf("plan deletion: %w", err)
	}
	return &reconcile.Plan{Graph: graph}, nil
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	reportConverged(in, outcome)
	reconcile.Summarize(in.azurePool, summed)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	return deletion.Held{
		Identity: deletion.Identity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace), User: aks.ControlPlaneKind + " " + in.controlPlane.Name,
		// An agent pool carries no tag, its cluster does.
		Azure: inAzure(in, subscription), Names: []string{plan.ClusterID(planned).Name()}, Child: "agentPools/" + plan.PoolName(aks.Pool(in.azurePool, in.machinePool)),
	}
}

// inAzure names the agent pool.
func inAzure(in *input, subscription string) string {
	name := plan.PoolName(aks.Pool(in.azurePool, in.machinePool))
	if in.controlPlane == nil {
		return fmt.Sprintf("the agent pool %s of the AKS cluster of Cluster %s", name, in.cluster.Name)
	}
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	return fmt.Sprintf("the agent pool %s of %s", name, plan.ClusterID(planned))
}
