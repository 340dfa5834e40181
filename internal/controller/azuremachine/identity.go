package azuremachine

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// addIdentities gives a VM that is in place the user-assigned identities that it lacks: added to the spec, or taken away
// outside. It returns the condition VMIdentitiesReady as long as one is missing, and when to come back; nil when none is.
func (r *Reconciler) addIdentities(ctx context.Context, in *input, planned plan.MachineInput, outcome arm.Outcome) (*metav1.Condition, time.Duration) {
	vm, _ := outcome.Result(plan.VMID(planned))
	if !vm.Done() {
		return nil, 0
	}
	body := machine.AddIdentities(planned, vm.Observed)
	if body == nil {
		return nil, 0
	}
	done := r.Engine.Do(ctx, in.access.Client, engine.Action{Object: "AzureMachine/" + in.key.String(), Method: "PATCH", ID: vm.ID, Body: body}, r.wake.Func(in.key))
	if done.Err != nil {
		in.story.Failed(done.Err)
		condition, after := report.Problem(infrav1.VMIdentitiesReadyCondition, done.Err)
		return &condition, after
	}
	after := r.Resync
	if done.State == arm.Ready {
		// It is read again to see whether it is so.
		after = time.Second
	}
	return &metav1.Condition{
		Type: infrav1.VMIdentitiesReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.UserAssignedIdentityMissingReason,
		Message: "the VM does not have " + strings.Join(machine.MissingIdentities(planned, vm.Observed), ", ") + ": it is being assigned",
	}, after
}
