package reconcile

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// acting is a kind whose Act and Report return the given errors.
type acting struct {
	Kind[*infrav1.AzureMachine, infrav1.AzureMachine]
	act, report error
	reported    int
}

func (k *acting) Act(context.Context, Session, *infrav1.AzureMachine, arm.Outcome) error {
	return k.act
}

func (k *acting) Report(*infrav1.AzureMachine, arm.Outcome) (time.Duration, error) {
	k.reported++
	return time.Minute, k.report
}

func TestActAndReport(t *testing.T) {
	broken := errors.New("broken")
	soon, later := RecheckIn(time.Second, nil), RecheckIn(time.Hour, nil)
	refused := RefuseSpec(field.ErrorList{field.Required(field.NewPath("spec", "x"), "")})
	done := arm.Outcome{Results: []arm.Result{{State: arm.Ready}}}
	creating := arm.Outcome{Results: []arm.Result{{State: arm.Creating}}}
	for name, test := range map[string]struct {
		reason      string
		act, report error
		outcome     arm.Outcome
		validFor    time.Duration
		err         error
	}{
		"both succeed": {reason: "Report decides how long the status is valid", outcome: done, validFor: time.Minute},
		"Act fails": {reason: "the status shows the outcome, and the error is retried", act: broken, outcome: done,
			err: broken},
		"Act fails, Report wants a recheck": {reason: "the error of Act comes first", act: broken, report: soon, outcome: done, err: broken},
		"both want a recheck":               {reason: "Act knows more", act: later, report: soon, outcome: done, err: later},
		"Report refuses the spec":           {reason: "Report may stop, too", report: refused, outcome: done, err: refused},
		"recheck while creating": {reason: "the engine decides when to come back, as resources are not in place", act: soon,
			outcome: creating},
		"refused while creating": {reason: "a refusal stays until the spec changes", act: refused, outcome: creating, err: refused},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
			kind := &acting{act: test.act, report: test.report}
			a := &azureReconciliation[*infrav1.AzureMachine, infrav1.AzureMachine]{
				reconciliation: &reconciliation[*infrav1.AzureMachine, infrav1.AzureMachine]{object: object, in: object,
					recording: &eventlog.Recording{}}, kind: kind,
			}
			validFor, err := a.actAndReport(t.Context(), &Plan{Graph: &arm.Graph{}}, test.outcome)
			if !errors.Is(err, test.err) || validFor != test.validFor {
				t.Errorf("%s: got %s, %v, want %s, %v", test.reason, validFor, err, test.validFor, test.err)
			}
			if kind.reported != 1 {
				t.Errorf("%s: Report was called %d times", test.reason, kind.reported)
			}
		})
	}
}
