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

// creatingRetry is how soon the deletion of a pool is retried while its cluster is being created.
const creatingRetry = 5 * time.Second

// BeforeDelete implements reconcile.Kind.
func (k *Kind) BeforeDelete(ctx context.Context, in *input) error {
	in.azurePool.Status.Ready = false
	if in.controlPlane == nil && in.clusterGone {
		return reconcile.AbandonResources("the AzureManagedControlPlane with the identity for Azure is gone", describePool(in, ""))
	}
	goes, err := k.isDeletedWithCluster(ctx, in)
	if err == nil && goes {
		return reconcile.FinishDeletion()
	}
	return err
}

// isDeletedWithCluster reports whether the pool needs no deletion of its own: AKS deletes the pools with their cluster, and refuses to
// delete the last system pool before it. A cluster that was never created has no pools. A control plane that is deleted without its
// Cluster waits for its pools, so the cluster is deleted only if all pools are being deleted.
func (k *Kind) isDeletedWithCluster(ctx context.Context, in *input) (bool, error) {
	if in.controlPlane == nil || plan.NothingCreated(in.controlPlane) || !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if in.controlPlane.DeletionTimestamp.IsZero() {
		return false, nil
	}
	pools, err := aks.ListPools(ctx, k.Client, in.cluster)
	return !slices.ContainsFunc(pools, func(pool plan.Pool) bool { return pool.AzurePool.DeletionTimestamp.IsZero() }), err
}

// NothingCreated implements reconcile.Kind. BeforeDelete handles pools of a cluster that was never created.
func (k *Kind) NothingCreated(*input) bool { return false }

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	deletion.KeepConditions(in.azurePool, infrav1.ReadyCondition, infrav1.AgentPoolsReadyCondition)
	if k.Engine.IsCreating(plan.ClusterID(in.planned)) {
		// The cluster may be created with the pool, which Azure shows only later.
		conditions.Set(in.azurePool, metav1.Condition{
			Type: infrav1.AgentPoolsReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
			Message: "the AKS cluster is being created, maybe with the pool; the pool is deleted after that",
		})
		reconcile.SummarizeReady(in.azurePool, summarizedConditions)
		return nil, reconcile.StopFor(creatingRetry)
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
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
}

// DeletionBlocker implements reconcile.Kind.
func (k *Kind) DeletionBlocker(in *input, subscription string) deletion.Blocker {
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: subscription}
	return deletion.Blocker{
		Identity: deletion.DescribeIdentity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace), User: aks.ControlPlaneKind + " " + in.controlPlane.Name,
		// An agent pool has no ownership tag, but its cluster has.
		AzureResources: describePool(in, subscription), ResourceNames: []string{plan.ClusterID(planned).Name()}, ChildPath: "agentPools/" + plan.PoolName(aks.NewPool(in.azurePool, in.machinePool)),
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
