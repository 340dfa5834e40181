package eventlog_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
)

// sink stores events as the API server does.
type sink struct {
	mu    sync.Mutex
	notes []string
}

func (s *sink) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, event.Reason+" "+event.Note)
	return event, nil
}

func (s *sink) Update(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return event, nil
}

func (s *sink) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	return event, nil
}

// TestWarningsOfOneReconciliation emits several Warnings with the same reason through client-go, which counts them as one event with the
// first note. Each text has to be in a note.
func TestWarningsOfOneReconciliation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		stored, scheme := &sink{}, runtime.NewScheme()
		if err := infrav1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		broadcaster := events.NewBroadcaster(stored)
		if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
			t.Fatal(err)
		}
		recorder := eventlog.NewRecorder(broadcaster.NewRecorder(scheme, "test"))
		machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "m", UID: "1", ResourceVersion: "7"}}
		long := strings.Repeat("x", 2000)
		recording := recorder.StartRecording(ctx, machine)
		texts := []string{"the annotation a has no effect", "the annotation b has no effect", "c " + long}
		for _, text := range texts {
			recording.AddIgnored(text)
		}
		recording.AddLeftBehind("disks d")
		recording.AddLeftBehind("disks e")
		machine.Status.Conditions = []metav1.Condition{
			{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: infrav1.InvalidConfigurationReason, Message: "field f"},
			{Type: infrav1.DisksReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.InvalidConfigurationReason, Message: "field g"},
		}
		recording.EmitEvents()
		synctest.Wait()
		stored.mu.Lock()
		defer stored.mu.Unlock()
		for _, want := range []string{texts[0], texts[1], "c xxx", "disks d", "disks e", "field f", "field g"} {
			if !slices.ContainsFunc(stored.notes, func(note string) bool { return strings.Contains(note, want) }) {
				t.Errorf("no event has %q: %q", want, stored.notes)
			}
		}
		if len(stored.notes) != 3 {
			t.Errorf("events: %q", stored.notes)
		}
		broadcaster.Shutdown()
		cancel()
	})
}
