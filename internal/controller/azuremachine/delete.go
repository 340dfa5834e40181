package azuremachine

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// delete takes the machine's resources out of Azure, and then lets the object go. When the whole cluster goes and its
// resource group with it, the group's deletion takes them, and asking for each one would only be slower.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.azureMachine, infrav1.MachineFinalizer) {
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	planned := r.planInput(in)
	var err error
	if planned.MachineFacts, err = r.Facts.DeletingMachine(ctx, in.access.Client, planned); err != nil {
		return reportProblem(in, err), nil
	}
	graph, err := machine.DeletePlan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, planned, graph)
	// Azure makes the disks, and may leave them without tags.
	request.Inventory = append(request.Inventory, machine.Disks(planned)...)

	goesWithGroup := false
	group := plan.ResourceGroupID(planned.ClusterInput)
	if !in.cluster.DeletionTimestamp.IsZero() && machine.GoesWithGroup(planned, graph) {
		goesWithGroup, err = r.Engine.DeletableWhole(ctx, request, group)
		if err != nil {
			return reportProblem(in, err), nil
		}
	}
	if !goesWithGroup {
		outcome, err := r.Engine.Delete(ctx, request)
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("delete: %w", err)
		}
		reportDeleting(in, outcome)
		if !outcome.Deleted() {
			return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
		}
	}
	r.Facts.ReleaseMachine(planned)
	controllerutil.RemoveFinalizer(in.azureMachine, infrav1.MachineFinalizer)
	return ctrl.Result{}, nil
}
