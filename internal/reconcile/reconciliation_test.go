package reconcile

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// testKind is a kind whose load and report the test defines, without resources in Azure.
type testKind struct {
	declared Declaration
	load     error
	subject  Target
	show     func(*infrav1.AzureMachine) error
	// change has the work change an annotation of the object.
	change bool
}

func (k *testKind) Declare() Declaration { return k.declared }

func (k *testKind) Load(_ context.Context, object *infrav1.AzureMachine) (*infrav1.AzureMachine, Target, error) {
	return object, k.subject, k.load
}

func (k *testKind) LoadStatusInput(context.Context, *infrav1.AzureMachine) error { return nil }

func (k *testKind) Report(object *infrav1.AzureMachine) error { return k.show(object) }

// runReconciliations reconciles an object until a reconciliation reports the kind, and returns the stored object, the result of that
// reconciliation, and the events.
func runReconciliations(t *testing.T, kind *testKind, object *infrav1.AzureMachine) (stored *infrav1.AzureMachine, result ctrl.Result,
	emitted []string,
	err error) {
	t.Helper()
	recorder := events.NewFakeRecorder(10)
	store := storetest.NewClient(t, object)
	runner := NewLocalRunner(Services{Client: store, Recorder: func(string) events.EventRecorder { return recorder }, Now: time.Now,
		Resync: time.Hour}, kind)
	key := client.ObjectKeyFromObject(object)
	// The reconciliation that writes the Paused condition ends with it.
	for range 2 {
		result, err = runner.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	}
	stored = &infrav1.AzureMachine{}
	if failure := store.Get(t.Context(), key, stored); client.IgnoreNotFound(failure) != nil {
		t.Fatal(failure)
	}
	for range len(recorder.Events) {
		emitted = append(emitted, <-recorder.Events)
	}
	return stored, result, emitted, err
}

// TestResultsAreShown ends a reconciliation with each result: the object shows it, and the next reconciliation is when it has
// to be.
func TestResultsAreShown(t *testing.T) {
	const foremost = infrav1.VMRunningCondition
	invalid := field.ErrorList{field.Invalid(field.NewPath("spec", "vmSize"), "x", "no such size")}
	cause := errors.New("no route to host")
	broken := errors.New("the manager's own trouble")
	waiting := metav1.Condition{Status: metav1.ConditionFalse, Reason: "WaitingForX", Message: "waits for x"}
	tests := map[string]struct {
		reason string
		err    error
		summed []string
		want   string
		// ready is the content of Ready, the same as want when "".
		ready   string
		after   time.Duration
		wantErr error
		event   string
	}{
		"done": {reason: "no condition is needed"},
		"refused": {reason: "the message names the field", err: RefuseSpec(invalid), want: "InvalidConfiguration spec.vmSize",
			after: status.RefusalRetryInterval},
		"refused, summed": {reason: "Ready names the condition that it sums up", err: RefuseSpec(invalid), summed: []string{foremost},
			want: "InvalidConfiguration spec.vmSize", ready: "InvalidConfiguration VMRunning: spec.vmSize", after: status.RefusalRetryInterval},
		"unread": {reason: "the cause is in an event, too", err: ReadFailed(cause), want: "InternalError no route to host",
			after: arm.ReadRetryDelay(cause), event: "no route to host"},
		"stopped":      {reason: "the kind has set its conditions itself", err: StopFor(time.Minute), after: time.Minute},
		"until resync": {reason: "the same for every kind", err: StopFor(UntilResync), after: time.Hour},
		"again, seldom": {reason: "an object that is not in order is reconciled at least as often as one in order",
			err:   RecheckIn(2*time.Hour, nil),
			after: time.Hour},
		"again": {reason: "a cause may be in a condition of the kind's own", err: RecheckIn(time.Second, cause), after: time.Second,
			event: "no route to host"},
		"waiting": {reason: "the awaited object wakes it", err: WaitFor(waiting), want: "WaitingForX waits for x"},
		"error": {reason: "the object shows an error that is retried with back-off", err: broken, want: "InternalError the manager's own trouble",
			wantErr: broken, event: "Warning InternalError the manager's own trouble"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind := &testKind{
				declared: Declaration{Name: "AzureMachine", PrimaryCondition: foremost, SummarizedConditions: test.summed},
				show:     func(*infrav1.AzureMachine) error { return test.err },
			}
			stored, result, events, err := runReconciliations(t, kind, &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")})
			if !errors.Is(err, test.wantErr) {
				t.Fatalf("%s: got error %v, want %v", test.reason, err, test.wantErr)
			}
			if result.RequeueAfter != test.after {
				t.Errorf("%s: again in %s, want %s", test.reason, result.RequeueAfter, test.after)
			}
			for conditionType, want := range map[string]string{foremost: test.want, infrav1.ReadyCondition: stdcmp.Or(test.ready, test.want)} {
				got := ""
				if condition := conditions.Get(stored, conditionType); condition != nil {
					got = condition.Reason + " " + condition.Message
				}
				if !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("%s: %s is %q, want %q", test.reason, conditionType, got, want)
				}
			}
			if all := strings.Join(events, "\n"); !strings.Contains(all, test.event) || test.want == "" && test.event == "" && all != "" {
				t.Errorf("%s: events %q, want %q", test.reason, all, test.event)
			}
		})
	}
}

// TestLeftAlone reconciles objects for which the runner calls nothing of the kind.
func TestLeftAlone(t *testing.T) {
	paused := &clusterv1.Cluster{ObjectMeta: storetest.NewMeta("c"), Spec: clusterv1.ClusterSpec{Paused: new(true)}}
	external := storetest.NewMeta("m")
	external.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "others"}
	created := storetest.NewMeta("m")
	created.CreationTimestamp = metav1.Now()
	tests := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		kind   testKind
		event  string
		again  bool
	}{
		"paused": {reason: "its Cluster is", meta: storetest.NewMeta("m"), kind: testKind{subject: Target{Cluster: paused}}},
		"managed by others": {reason: "the annotation names another manager", meta: external,
			kind: testKind{declared: Declaration{ExternallyManageable: true}}},
		"new and without owner": {reason: "Cluster API sets the owner of a new object soon", meta: created,
			kind: testKind{load: WaitForOwner("OwnerRefNotSet", "no owner")}, again: true},
		"without owner": {reason: "an event gives the reason why nothing happens", meta: storetest.NewMeta("m"),
			kind: testKind{load: WaitForOwner("OwnerRefNotSet", "no owner")}, event: "Normal OwnerRefNotSet no owner"},
		"nothing to do": {reason: "and no condition is needed", meta: storetest.NewMeta("m"), kind: testKind{load: NothingToDo()}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.kind.declared.Name = "AzureMachine"
			test.kind.show = func(*infrav1.AzureMachine) error {
				t.Errorf("%s: the kind was asked", test.reason)
				return nil
			}
			stored, result, events, err := runReconciliations(t, &test.kind, &infrav1.AzureMachine{ObjectMeta: test.meta})
			if err != nil || (result.RequeueAfter != 0) != test.again || result.RequeueAfter > 5*time.Second {
				t.Errorf("%s: %v, again in %s", test.reason, err, result.RequeueAfter)
			}
			if got := conditions.GetReason(stored, infrav1.ReadyCondition) == infrav1.OwnerRefNotSetReason; got != (test.event != "") {
				t.Errorf("%s: Ready has the reason of a missing owner: %t", test.reason, got)
			}
			want := []string(nil)
			if test.event != "" {
				want = []string{test.event, test.event}
			}
			if diff := cmp.Diff(want, events); diff != "" {
				t.Errorf("%s: events (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestObsoleteConditionIsRemoved removes a condition that the kind no longer sets, also from an object that is in order.
func TestObsoleteConditionIsRemoved(t *testing.T) {
	object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
	conditions.Set(object, metav1.Condition{Type: infrav1.AzureResourceAvailableCondition, Status: metav1.ConditionTrue, Reason: "Ready"})
	kind := &testKind{
		declared: Declaration{Name: "AzureMachine", PrimaryCondition: infrav1.VMRunningCondition,
			ObsoleteConditions: []string{infrav1.AzureResourceAvailableCondition}},
		show: func(*infrav1.AzureMachine) error { return nil },
	}
	stored, _, _, err := runReconciliations(t, kind, object)
	if err != nil || conditions.Has(stored, infrav1.AzureResourceAvailableCondition) {
		t.Errorf("got %v, %v", stored.Status.Conditions, err)
	}
}

// TestInterruptedReconciliationReportsNothing ends the manager in the middle of a reconciliation: the interrupted read is shown neither in
// conditions nor in events.
func TestInterruptedReconciliationReportsNothing(t *testing.T) {
	object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
	recorder, store := events.NewFakeRecorder(10), storetest.NewClient(t, object)
	ctx, end := context.WithCancel(t.Context())
	kind := &testKind{declared: Declaration{Name: "AzureMachine", PrimaryCondition: infrav1.VMRunningCondition},
		show: func(*infrav1.AzureMachine) error {
			end()
			return ReadFailed(fmt.Errorf("get Secret ns/s: %w", ctx.Err()))
		}}
	runner := NewLocalRunner(Services{Client: store, Recorder: func(string) events.EventRecorder { return recorder }, Now: time.Now,
		Resync: time.Hour}, kind)
	var err error
	for range 2 {
		_, err = runner.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	stored := &infrav1.AzureMachine{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
		t.Fatal(err)
	}
	if conditions.Has(stored, infrav1.ReadyCondition) || len(recorder.Events) > 0 {
		t.Errorf("conditions %v, %d events", stored.Status.Conditions, len(recorder.Events))
	}
}

// TestObservedGeneration ends reconciliations of a changed spec. The generation is recorded unless the reconciliation waited for facts.
func TestObservedGeneration(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want int64
	}{
		"waits for facts":         {WaitForFacts(), 1},
		"stops for a minute":      {StopFor(time.Minute), 2},
		"is complete":             {nil, 2},
		"waits for another":       {WaitFor(metav1.Condition{Reason: "WaitingForX", Status: metav1.ConditionFalse}), 2},
		"is refused by the rules": {RefuseSpec(field.ErrorList{field.Required(field.NewPath("spec", "vmSize"), "")}), 2},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
			object.Generation = 2
			object.Annotations = map[string]string{infrav1.ReconcileRequestedAnnotation: "now"}
			object.Status.ObservedGeneration = 1
			kind := &testKind{
				declared: Declaration{Name: "AzureMachine", PrimaryCondition: infrav1.VMRunningCondition},
				show:     func(*infrav1.AzureMachine) error { return test.err },
			}
			stored, _, _, err := runReconciliations(t, kind, object)
			if err != nil {
				t.Fatal(err)
			}
			if got := stored.Status.ObservedGeneration; got != test.want {
				t.Errorf("the observed generation is %d, want %d", got, test.want)
			}
			if got, want := stored.Status.LastHandledReconcileAt == "now", test.want == 2; got != want {
				t.Errorf("the requested reconciliation counts as handled: %t, want %t", got, want)
			}
		})
	}
}

// TestKubernetesErrorKeepsReady lets a read of the API server fail for an object that is Ready; it expects that it stays Ready, because a
// machine must not be replaced for that.
func TestKubernetesErrorKeepsReady(t *testing.T) {
	for name, err := range map[string]error{"ends the reconciliation": errors.New("forbidden"), "ends a read": ReadFailed(errors.New("forbidden"))} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
			for _, conditionType := range []string{infrav1.VMRunningCondition, infrav1.ReadyCondition} {
				conditions.Set(object, metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
			}
			kind := &testKind{
				declared: Declaration{Name: "AzureMachine", PrimaryCondition: infrav1.VMRunningCondition},
				show:     func(*infrav1.AzureMachine) error { return err },
			}
			stored, _, _, _ := runReconciliations(t, kind, object)
			for _, conditionType := range []string{infrav1.VMRunningCondition, infrav1.ReadyCondition} {
				got := conditions.Get(stored, conditionType)
				if got.Status != metav1.ConditionTrue || got.Reason != infrav1.LastSeenReason ||
					!strings.Contains(got.Message, "the last reconciliation failed: forbidden") {
					t.Errorf("%s is %s %s %q", conditionType, got.Status, got.Reason, got.Message)
				}
			}
		})
	}
}
