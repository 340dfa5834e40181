package azureasomanagedmachinepool

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// creatingRetry is how soon the deletion of a pool is retried while its cluster is being created.
const creatingRetry = 5 * time.Second

// BeforeDelete implements reconcile.Kind.
func (k *Kind) BeforeDelete(_ context.Context, in *input) error {
	in.object.Status.Ready = false
	if in.members.Infrastructure == nil && in.clusterGone {
		return reconcile.AbandonResources("the AzureASOManagedCluster that owns the resources is gone", "the resources of its spec.resources")
	}
	return nil
}

// isDeletedWithCluster reports whether the agent pool needs no deletion of its own: AKS deletes the pools with their cluster, and
// refuses to delete the last system pool before it. A control plane that is deleted without its Cluster waits for its pools, so the
// cluster is deleted only if all pools are being deleted.
func (in *input) isDeletedWithCluster() bool {
	controlPlane := in.members.ControlPlane
	switch {
	case controlPlane == nil || plan.NothingCreated(controlPlane) || !in.clusterGone && !in.members.Cluster.DeletionTimestamp.IsZero():
		return true
	case controlPlane.DeletionTimestamp.IsZero():
		return false
	}
	return !slices.ContainsFunc(in.members.Pools, func(pool asoresources.Pool) bool { return pool.Pool.DeletionTimestamp.IsZero() })
}

// NothingCreated implements reconcile.Kind.
func (k *Kind) NothingCreated(in *input) bool {
	return plan.NothingCreated(in.object) && len(in.object.Spec.ProviderIDList) == 0
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	goes := in.isDeletedWithCluster()
	if d, ok := in.planned.AgentPool(); ok && !goes {
		if id, err := in.planned.ResourceID(d); err == nil && k.Engine.IsCreating(id.Parent()) {
			// The cluster may be created with the pool, which Azure shows only later.
			deletion.KeepConditions(in.object, infrav1.ReadyCondition, infrav1.ResourcesReadyCondition)
			conditions.Set(in.object, metav1.Condition{
				Type: infrav1.ResourcesReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForControlPlaneReason,
				Message: "the AKS cluster is being created, maybe with the pool; the pool is deleted after that",
			})
			reconcile.SummarizeReady(in.object, summarizedConditions)
			return nil, reconcile.StopFor(creatingRetry)
		}
	}
	return asoresources.PlanDeletion(ctx, k.Facts, session, in.planned, goes, false)
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	deletion.KeepConditions(in.object, infrav1.ReadyCondition, infrav1.ResourcesReadyCondition)
	in.object.Status.Resources, _ = asoresources.ReportResources(in.object, in.planned, outcome, nil)
	reconcile.SummarizeReady(in.object, summarizedConditions)
}

// DeletionBlocker implements reconcile.Kind.
func (k *Kind) DeletionBlocker(in *input, subscription string) deletion.Blocker {
	return in.members.DeletionBlocker(asoresources.MachinePoolKind, in.object, subscription)
}
