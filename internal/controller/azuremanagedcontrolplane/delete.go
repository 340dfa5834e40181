package azuremanagedcontrolplane

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// legacyFinalizer is what old releases of the established provider put on control planes; it is removed where it is found.
const legacyFinalizer = infrav1.ClusterFinalizer

// delete takes everything that is the cluster's out of Azure, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.controlPlane, infrav1.ManagedControlPlaneFinalizer) {
		controllerutil.RemoveFinalizer(in.controlPlane, legacyFinalizer)
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	var err error
	if in.planned, err = managed.Input(ctx, r.Client, in.cluster, in.controlPlane, in.access.SubscriptionID); err != nil {
		return ctrl.Result{}, err
	}
	graph, err := plan.DeletePlan(in.planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, graph)
	request.WholeGroups = true
	request.Prune = plan.Prune(in.planned, graph)
	outcome, err := r.Engine.Delete(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	inventory.Set(in.controlPlane, outcome.Inventory)
	reportGroups(in, outcome)
	reportSummary(in)
	if !outcome.Deleted() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	if err := r.Access.Release(ctx, in.access, infrav1.ManagedControlPlaneFinalizer, in.controlPlane); err != nil {
		return ctrl.Result{}, fmt.Errorf("release the identity: %w", err)
	}
	release(in)
	return ctrl.Result{}, nil
}

// release lets the object go.
func release(in *input) {
	controllerutil.RemoveFinalizer(in.controlPlane, infrav1.ManagedControlPlaneFinalizer)
	controllerutil.RemoveFinalizer(in.controlPlane, legacyFinalizer)
}
