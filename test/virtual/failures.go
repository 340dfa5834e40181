package virtual

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Failure is a reconciliation that ended with an error.
type Failure struct {
	// Controller is the name of the controller, Kind the kind of its objects.
	Controller, Kind string
	Object           client.ObjectKey
	Err              error
}

// Event is what a manager recorded about an object.
type Event struct {
	Kind, Name         string
	Type, Reason, Note string
}

func (s *Scenario) refuseCall(verb string, object runtime.Object) error {
	if s.Refuse == nil {
		return nil
	}
	return s.Refuse(verb, object)
}

// failures is a log that reads the errors of reconciliations out of what controller-runtime logs, and drops everything else.
type failures struct {
	world  *Scenario
	values map[string]any
}

// Init implements logr.LogSink, as do the following.
func (f *failures) Init(logr.RuntimeInfo)        {}
func (f *failures) Enabled(int) bool             { return false }
func (f *failures) Info(int, string, ...any)     {}
func (f *failures) WithName(string) logr.LogSink { return f }

func (f *failures) WithValues(pairs ...any) logr.LogSink {
	out := &failures{world: f.world, values: map[string]any{}}
	for key, value := range f.values {
		out.values[key] = value
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.values[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out
}

func (f *failures) Error(err error, message string, _ ...any) {
	if message != "Reconciler error" || f.world.Failed == nil {
		return
	}
	text := func(key string) string {
		value, _ := f.values[key].(string)
		return value
	}
	f.world.Failed(Failure{
		Controller: text("controller"), Kind: text("controllerKind"),
		Object: client.ObjectKey{Namespace: text("namespace"), Name: text("name")}, Err: err,
	})
}

// told tells the world of events.
type told struct{ world *Scenario }

// Eventf implements events.EventRecorder.
func (r told) Eventf(regarding, _ runtime.Object, eventType, reason, _, note string, args ...any) {
	if r.world.Told == nil {
		return
	}
	event := Event{Type: eventType, Reason: reason, Note: fmt.Sprintf(note, args...)}
	if object, ok := regarding.(client.Object); ok {
		event.Name = object.GetName()
		if kind, err := r.world.Kubernetes.GroupVersionKindFor(object); err == nil {
			event.Kind = kind.Kind
		}
	}
	r.world.Told(event)
}
