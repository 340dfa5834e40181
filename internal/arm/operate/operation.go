package operate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Operation is a write or action from its request until Azure has finished it. The exported fields are set before Begin and not changed
// after.
type Operation struct {
	// Key identifies the operation, of which there is one at a time: the ID's key for writes, with a suffix for actions.
	Key string
	ID  arm.ID
	// SerialKey is the resource whose document is written; "" for none.
	SerialKey arm.ID
	Client    *client.Client
	// State is the change of the resource: Creating, Updating or Deleting.
	State arm.State
	// Method is the HTTP method, "" for an operation of another party.
	Method string
	// Object is the Kubernetes object of the operation, for the log.
	Object string
	// Action is set for imperative requests: the resource does not show their progress.
	Action bool
	// Context is the context of its requests.
	Context context.Context
	// OnAnswer is called with the body of Azure's answer to an accepted PUT, even if its operation continues; nil disables it.
	OnAnswer func(body json.RawMessage)
	// OnEnd is called once when Azure has finished the operation, with its error, before waiting objects are woken. It is not called if
	// the operation is abandoned or replaced by a deletion. Nil disables it.
	OnEnd func(took time.Duration, err error)
	// LogValues are further keys and values of the log line about the end. OnEnd may set them.
	LogValues []any

	started time.Time
	waiters waiterSet
	// replacement is used instead of Client, whose credential is no longer valid; nil if there is none.
	replacement atomic.Pointer[client.Client]

	mu sync.Mutex
	// url returns the status. statusInBody means that the status is in the body, otherwise it is the HTTP status.
	url          string
	statusInBody bool
	// notBefore is when Azure accepts the next poll. exactDelay means that the answer had milliseconds.
	notBefore  time.Time
	exactDelay bool
	// idleUntil is the time until which a late poll delays no other operation. minRemaining is a lower bound of the remaining duration.
	idleUntil    time.Time
	minRemaining time.Duration
	// statusless is the number of consecutive answers at the URL without a status.
	statusless int
	// notShown means that the resource was absent at the last check.
	notShown bool
	// statusErr is the error of the last check, statusErrSince the time of the first of the consecutive failures.
	statusErr      error
	statusErrSince time.Time
	// requestID and correlationID are those of the answer that accepted the operation; "" if another party began it.
	requestID, correlationID string
	// loggedLong means that the log has the line about the age of the operation.
	loggedLong bool
	// unneeded means that the last waiting object is gone.
	unneeded bool
	// ended means that the operation has ended, was abandoned, or was replaced by a deletion.
	ended bool
	stop  func() bool
}

// currentClient returns the client that follows the operation.
func (op *Operation) currentClient() *client.Client {
	if c := op.replacement.Load(); c != nil {
		return c
	}
	return op.Client
}

// AddWaiter registers wake for the end of the operation. It returns false if the operation has ended already or was replaced by a deletion:
// wake is not called then. Each object has one wake; nil only registers the object.
func (op *Operation) AddWaiter(object string, wake func()) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended {
		return false
	}
	op.waiters.addWaiter(object, wake)
	op.unneeded = false
	return true
}

// dropWaiter removes an object that is gone.
func (op *Operation) dropWaiter(object string) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.waiters.removeWaiter(object) {
		op.unneeded = true
	}
}

// markEnded marks the end; false means that it has ended already.
func (op *Operation) markEnded() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended {
		return false
	}
	op.ended = true
	if op.stop != nil {
		op.stop()
	}
	return true
}

// WaitingObjects returns the objects that wait for the end.
func (op *Operation) WaitingObjects() []string { return op.waiters.objectNames() }

// StartTime is when the operation was begun.
func (op *Operation) StartTime() time.Time { return op.started }

// waiterSet holds the callbacks of waiting objects, one per object.
type waiterSet struct {
	mu       sync.Mutex
	byObject map[string]func()
}

func (w *waiterSet) addWaiter(object string, wake func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byObject == nil {
		w.byObject = map[string]func(){}
	}
	w.byObject[object] = wake
}

// removeWaiter removes an object, and reports whether it was the last one.
func (w *waiterSet) removeWaiter(object string) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.byObject[object]
	delete(w.byObject, object)
	return known && len(w.byObject) == 0
}

// wakeAll calls all callbacks and removes them.
func (w *waiterSet) wakeAll() {
	w.mu.Lock()
	callbacks := w.byObject
	w.byObject = nil
	w.mu.Unlock()
	for _, wake := range callbacks {
		if wake != nil {
			wake()
		}
	}
}

// objectNames returns the waiting objects, also those without a callback.
func (w *waiterSet) objectNames() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byObject))
}
