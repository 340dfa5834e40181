package azuremachine

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Act implements reconcile.Kind. It stops or starts an existing VM, and adds missing user-assigned identities to it.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	in.power = session.Power
	if err := k.changePower(ctx, session, in, outcome); err != nil {
		return err
	}
	in.missingIdentities, err = addIdentities(ctx, session, in, outcome)
	return err
}

// addIdentities adds the identities that were added to the spec, and those that were removed outside. While one is missing it returns
// the condition VMIdentitiesReady and the stopReason with the time of the next check.
func addIdentities(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (*metav1.Condition, error) {
	vm, _ := outcome.Result(plan.VMID(in.planned))
	if !vm.IsDone() {
		return nil, nil
	}
	body := machine.BuildIdentityPatch(in.planned, vm.Observed)
	if body == nil {
		return nil, nil
	}
	done := session.RunAction(ctx, engine.Action{Method: "PATCH", ID: vm.ID, Body: body})
	if done.Err != nil {
		condition, after := status.ProblemCondition(infrav1.VMIdentitiesReadyCondition, done.Err)
		return &condition, reconcile.RecheckIn(after, done.Err)
	}
	after, progress := reconcile.UntilResync, "it is being assigned"
	if done.IntendedMethod != "" {
		progress = "it is not assigned while the object is observed"
	}
	if done.State == arm.Ready {
		// The VM is read again to check the result.
		after = time.Second
	}
	return &metav1.Condition{
		Type: infrav1.VMIdentitiesReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.UserAssignedIdentityMissingReason,
		Message: "the VM does not have " + strings.Join(machine.MissingIdentities(in.planned, vm.Observed), ", ") + ": " + progress,
	}, reconcile.RecheckIn(after, nil)
}
