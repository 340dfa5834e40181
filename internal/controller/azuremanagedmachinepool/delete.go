package azuremanagedmachinepool

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// creatingRetry is how soon the deletion of a pool is tried again whose cluster is being created.
const creatingRetry = 5 * time.Second

// goesWithCluster tells whether the pool needs no deletion of its own: AKS deletes the pools with their cluster, and would
// refuse to delete the last system pool before. There is none of a cluster that was never begun.
func (r *Reconciler) goesWithCluster(in *input) bool {
	return in.controlPlane == nil || managed.Untouched(in.controlPlane) || !in.cluster.DeletionTimestamp.IsZero() || !in.controlPlane.DeletionTimestamp.IsZero()
}

// release lets the object go.
func (r *Reconciler) release(in *input) (ctrl.Result, error) {
	r.settled.Forget(in.key)
	controllerutil.RemoveFinalizer(in.azurePool, infrav1.ManagedMachinePoolFinalizer)
	return ctrl.Result{}, nil
}

// delete deletes the agent pool, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	r.settled.Forget(in.key)
	if err := r.prepare(ctx, in); err != nil {
		return ctrl.Result{}, err
	}
	if r.Engine.Creating(plan.ClusterID(in.planned)) {
		// The cluster may be made with the pool, which Azure does not show before it has taken that.
		reportWaiting(in, infrav1.WaitingForControlPlaneReason, "the AKS cluster is being created, maybe with the pool; the pool is deleted after that")
		return ctrl.Result{RequeueAfter: creatingRetry}, nil
	}
	graph, err := plan.PoolDeletePlan(in.planned, in.pool)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	outcome, err := r.Engine.Delete(ctx, r.request(in, graph))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	inventory.Set(in.azurePool, outcome.Inventory)
	reportConverged(in, outcome, plan.Extras{})
	reportSummary(in)
	if !outcome.Deleted() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	return r.release(in)
}
