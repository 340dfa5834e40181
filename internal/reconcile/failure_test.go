package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestErrorsAreShown ends a reconciliation with an error at each place of the runner that is the same for all kinds. TestFailuresAreShown
// of test/reliability does this for the code of the kinds.
func TestErrorsAreShown(t *testing.T) {
	machines := schema.GroupResource{Resource: "azuremachines"}
	conflict := apierrors.NewConflict(machines, "m", errors.New("written by others"))
	broken := errors.New("broken")
	tests := map[string]struct {
		reason string
		kind   testKind
		// patch and status are the errors that the API server returns for writes of the object. early leaves off the
		// Paused condition, so that it is written first.
		patch, status error
		early         bool
		// was is the status of Ready before, "" for no such condition.
		was metav1.ConditionStatus
		// want begins Ready's message, "" for no such condition or the one before. shown is its status.
		want  string
		shown metav1.ConditionStatus
		// warned is how many Warnings tell the error, lost how many statuses are counted.
		warned int
		lost   float64
	}{
		"load": {reason: "the Cluster cannot be read", kind: testKind{load: broken}, want: "AzureMachine ns/m: broken", shown: "False",
			warned: 1},
		"load, was True": {reason: "the error does not change the state of Azure", kind: testKind{load: broken}, was: "True",
			want: "as last seen; the last reconciliation failed: AzureMachine ns/m: broken", shown: "True", warned: 1},
		"load conflicts":   {reason: "it is read again", kind: testKind{load: conflict}},
		"Paused condition": {reason: "the first write of all fails", status: broken, early: true, lost: 1},
		"work": {reason: "the kind fails", kind: testKind{show: func(*infrav1.AzureMachine) error { return broken }}, want: "broken",
			shown: "False", warned: 1},
		"work, was True": {reason: "the error does not change the state of Azure",
			kind: testKind{show: func(*infrav1.AzureMachine) error { return broken }},
			was:  "True", want: "as last seen; the last reconciliation failed: broken", shown: "True", warned: 1},
		"work conflicts":    {reason: "it is read again", kind: testKind{show: func(*infrav1.AzureMachine) error { return conflict }}},
		"work is cancelled": {reason: "the manager ends", kind: testKind{show: func(*infrav1.AzureMachine) error { return context.Canceled }}},
		"last write": {reason: "the API server refuses the object", kind: testKind{change: true}, patch: broken, want: "patch ns/m: broken",
			shown: "False", warned: 1},
		"last write, work": {reason: "the first error is the cause",
			kind: testKind{change: true, show: func(*infrav1.AzureMachine) error { return errors.New("cause") }}, patch: broken, want: "cause",
			shown: "False", warned: 1},
		"last write of both": {reason: "nothing can be shown", kind: testKind{change: true}, patch: broken, status: broken, warned: 1, lost: 1},
		"status": {reason: "the status cannot show it",
			kind: testKind{show: func(m *infrav1.AzureMachine) error { m.Status.Ready = true; return nil }}, status: broken, lost: 1},
		"status conflicts": {reason: "it is written again",
			kind: testKind{show: func(m *infrav1.AzureMachine) error { m.Status.Ready = true; return nil }}, status: conflict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
			if !test.early {
				conditions.Set(object, metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse,
					Reason: clusterv1.NotPausedReason})
			}
			if test.was != "" {
				for _, conditionType := range []string{infrav1.VMRunningCondition, infrav1.ReadyCondition} {
					conditions.Set(object, metav1.Condition{Type: conditionType, Status: test.was, Reason: "Before"})
				}
			}
			before := conditions.Get(object, infrav1.ReadyCondition)
			store := interceptor.NewClient(storetest.NewClient(t, object), interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
					if test.patch != nil {
						return test.patch
					}
					return c.Patch(ctx, o, p, options...)
				},
				SubResourcePatch: func(ctx context.Context, c client.Client, _ string, o client.Object, p client.Patch,
					options ...client.SubResourcePatchOption) error {
					if test.status != nil {
						return test.status
					}
					return c.Status().Patch(ctx, o, p, options...)
				},
			})
			kind := test.kind
			kind.declared = Declaration{Name: "AzureMachine", PrimaryCondition: infrav1.VMRunningCondition}
			show := kind.show
			kind.show = func(m *infrav1.AzureMachine) error {
				if kind.change {
					metav1.SetMetaDataAnnotation(&m.ObjectMeta, "changed", "true")
				}
				if show == nil {
					return nil
				}
				return show(m)
			}
			recorder, lost := events.NewFakeRecorder(20), lostStatuses(t)
			runner := NewLocalRunner(Services{Client: store, Recorder: func(string) events.EventRecorder { return recorder }, Now: time.Now,
				Resync: time.Hour},
				&kind)
			// The second reconciliation ends in the same way, and tells nothing new.
			for range 2 {
				if _, err := runner.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err == nil {
					t.Fatalf("%s: the reconciliation ended without an error", test.reason)
				}
			}
			stored := &infrav1.AzureMachine{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
				t.Fatal(err)
			}
			ready := conditions.Get(stored, infrav1.ReadyCondition)
			switch {
			case test.want == "" && (ready != nil) != (before != nil):
				t.Errorf("%s: Ready is %v", test.reason, ready)
			case test.want != "" && (ready == nil || !strings.HasPrefix(ready.Message, test.want) || ready.Status != test.shown):
				t.Errorf("%s: Ready is %v, want %s for %q", test.reason, ready, test.shown, test.want)
			}
			warned := 0
			for range len(recorder.Events) {
				if event := <-recorder.Events; strings.HasPrefix(event, "Warning") {
					warned++
				}
			}
			if warned != test.warned {
				t.Errorf("%s: %d Warnings, want %d", test.reason, warned, test.warned)
			}
			// Both reconciliations lose the status.
			if got := lostStatuses(t) - lost; got != 2*test.lost {
				t.Errorf("%s: %v statuses are counted as lost in two reconciliations, want %v each", test.reason, got, test.lost)
			}
		})
	}
}

// lostStatuses returns the value of the metric of lost statuses for AzureMachines.
func lostStatuses(t *testing.T) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.(prometheus.Gatherer).Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "capz_status_writes_failed_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if metric.GetLabel()[0].GetValue() == "AzureMachine" {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}
