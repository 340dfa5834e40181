package virtual

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Failure is a reconciliation that ended with an error.
type Failure struct {
	// Controller is the name of the controller, Kind the kind of its objects.
	Controller, Kind string
	Object           client.ObjectKey
	Err              error
}

// Event is an event that a manager recorded about an object.
type Event = harness.Event

func (s *Scenario) refuseCall(verb string, object runtime.Object) error {
	if s.Refuse == nil {
		return nil
	}
	return s.Refuse(verb, object)
}

// failures is a log that reads the errors of reconciliations out of what controller-runtime logs. Everything is passed on to next; nil drops it.
type failures struct {
	scenario *Scenario
	values   map[string]any
	next     logr.LogSink
}

// newLogger returns the logger of a manager.
func (s *Scenario) newLogger() logr.Logger {
	out := &failures{scenario: s}
	if s.complete {
		out.next = s.Environment.Logs.NewLogger().GetSink()
	}
	if s.Log != nil {
		out.next = s.Log
	}
	return logr.New(out)
}

// Init implements logr.LogSink, as do the following.
func (f *failures) Init(logr.RuntimeInfo) {}

func (f *failures) Enabled(level int) bool { return f.next != nil && f.next.Enabled(level) }

func (f *failures) Info(level int, message string, pairs ...any) {
	f.next.Info(level, message, pairs...)
}

func (f *failures) WithName(name string) logr.LogSink {
	if f.next == nil {
		return f
	}
	return &failures{scenario: f.scenario, values: f.values, next: f.next.WithName(name)}
}

func (f *failures) WithValues(pairs ...any) logr.LogSink {
	out := &failures{scenario: f.scenario, values: map[string]any{}}
	if f.next != nil {
		out.next = f.next.WithValues(pairs...)
	}
	for key, value := range f.values {
		out.values[key] = value
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.values[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

func (f *failures) Error(err error, message string, pairs ...any) {
	if f.next != nil {
		f.next.Error(err, message, pairs...)
	}
	if message != "Reconciler error" || f.scenario.Failed == nil {
		return
	}
	text := func(key string) string {
		value, _ := f.values[key].(string)
		return value
	}
	f.scenario.Failed(Failure{
		Controller: text("controller"), Kind: text("controllerKind"),
		Object: client.ObjectKey{Namespace: text("namespace"), Name: text("name")}, Err: err,
	})
}

// recorder passes the events of a manager on to its scenario.
type recorder struct{ scenario *Scenario }

// Eventf implements events.EventRecorder.
func (r recorder) Eventf(regarding, _ runtime.Object, eventType, reason, _, note string, args ...any) {
	s := r.scenario
	// The page docs/book/reference/events.md lists these reasons.
	if eventType == corev1.EventTypeWarning && !status.HasWarnings(reason) {
		s.T.Errorf("internal/status does not have the reason of a Warning as one: %s: %s", reason, fmt.Sprintf(note, args...))
	}
	if s.EventRecorded == nil && !s.complete {
		return
	}
	event := Event{Type: eventType, Reason: reason, Note: fmt.Sprintf(note, args...)}
	if object, ok := regarding.(client.Object); ok {
		event.Name = object.GetName()
		if kind, err := s.Kubernetes.GroupVersionKindFor(object); err == nil {
			event.Kind = kind.Kind
		}
	}
	if s.complete {
		s.RecordEvent(event)
	}
	if s.EventRecorded != nil {
		s.EventRecorded(event)
	}
}
