package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// leaving is a kind that only decides how the deletion of an object continues. It has no Azure client.
type leaving struct {
	testKind testKind
	Kind[*infrav1.AzureMachine, leavingInput]
	stop error
}

type leavingInput struct{}

func (*leavingInput) FingerprintInputs() []any { return nil }

func (k *leaving) Declare() Declaration { return k.testKind.Declare() }

func (k *leaving) Load(ctx context.Context, object *infrav1.AzureMachine) (*leavingInput, Target, error) {
	_, target, err := k.testKind.Load(ctx, object)
	return &leavingInput{}, target, err
}
func (k *leaving) BeforeDelete(context.Context, *leavingInput) error { return k.stop }

// TestBeforeDelete lets a kind decide what happens before anything is deleted in Azure.
func TestBeforeDelete(t *testing.T) {
	const finalizer, former, others = "own.example.com/f", "own.example.com/former", "example.com/keeps"
	broken := errors.New("broken")
	tests := map[string]struct {
		reason string
		stop   error
		// without leaves our finalizer off.
		without bool
		// stays is set if the finalizer of the provider stays.
		stays bool
		want  string
		event string
		err   error
	}{
		"released": {reason: "something else takes it out of Azure", stop: FinishDeletion()},
		"abandoned": {reason: "users have to know which resources may be left", stop: AbandonResources("no credential", "the VM m"),
			event: "Check Azure for the VM m"},
		"kept": {reason: "users have to know that the resource stays", stop: KeepResources("The VM m stays in Azure"),
			event: "Warning LeftBehindInAzure The VM m stays in Azure"},
		"waits": {reason: "other objects go first, and the condition names them",
			stop: WaitFor(metav1.Condition{Status: metav1.ConditionFalse, Reason: "WaitingForX", Message: "x"}), stays: true,
			want: "WaitingForX"},
		"moved": {reason: "another management cluster has it", stop: NothingToDo(), stays: true},
		"error": {reason: "it is tried again", stop: broken, stays: true, want: "InternalError", event: "Warning InternalError broken",
			err: broken},
		"without a finalizer": {reason: "the object is released already, with the former finalizers, too", without: true, stop: broken},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := storetest.MarkDeleting(&infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")})
			object.Finalizers = append(object.Finalizers, former)
			if !test.without {
				object.Finalizers = append(object.Finalizers, finalizer)
			}
			recorder := events.NewFakeRecorder(10)
			store := storetest.NewClient(t, object)
			kind := &leaving{stop: test.stop, testKind: testKind{
				subject: Target{Cluster: &clusterv1.Cluster{ObjectMeta: storetest.NewMeta("c")}},
				declared: Declaration{Name: "AzureMachine", Finalizer: finalizer, FormerFinalizers: []string{former},
					PrimaryCondition: infrav1.VMRunningCondition},
			}}
			runner := NewAzureRunner(Services{Client: store, Recorder: func(string) events.EventRecorder { return recorder }, Now: time.Now,
				Resync: time.Hour},
				Kind[*infrav1.AzureMachine, leavingInput](kind))
			var err error
			for range 2 {
				_, err = runner.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
			}
			if !errors.Is(err, test.err) {
				t.Fatalf("%s: %v", test.reason, err)
			}
			stored := &infrav1.AzureMachine{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), stored); err != nil {
				t.Fatal(err)
			}
			if controllerutil.ContainsFinalizer(stored, finalizer) != test.stays || !controllerutil.ContainsFinalizer(stored, others) {
				t.Errorf("%s: finalizers %v", test.reason, stored.Finalizers)
			}
			if controllerutil.ContainsFinalizer(stored, former) != test.stays {
				t.Errorf("%s: a former finalizer is removed with ours: %v", test.reason, stored.Finalizers)
			}
			if got := conditions.GetReason(stored, infrav1.ReadyCondition); test.want != "" && got != test.want {
				t.Errorf("%s: Ready is for %s, want %s", test.reason, got, test.want)
			}
			var emitted []string
			for range len(recorder.Events) {
				emitted = append(emitted, <-recorder.Events)
			}
			if !strings.Contains(strings.Join(emitted, "\n"), test.event) {
				t.Errorf("%s: events %v, want %q", test.reason, emitted, test.event)
			}
		})
	}
}
