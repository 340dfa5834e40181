package azurecluster

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// delete takes everything that is the cluster's out of Azure, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.azureCluster, infrav1.ClusterFinalizer) {
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	planned := r.planInput(in)
	graph, err := cluster.DeletePlan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, planned, graph)
	request.WholeGroups = true
	outcome, err := r.Engine.Delete(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	inventory.Set(in.azureCluster, outcome.Inventory)
	reportDeleting(in, outcome)
	if !outcome.Deleted() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	if err := r.Access.Release(ctx, in.access, infrav1.ClusterFinalizer, in.azureCluster); err != nil {
		return ctrl.Result{}, fmt.Errorf("release the identity: %w", err)
	}
	controllerutil.RemoveFinalizer(in.azureCluster, infrav1.ClusterFinalizer)
	return ctrl.Result{}, nil
}
