package operate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Operation is a write or action from the moment it is sent until Azure has done it. The exported fields are set before it
// is begun and not changed after.
type Operation struct {
	// Key is what there is one operation of at a time: the ID's key for writes, with more to it for actions.
	Key string
	ID  arm.ID
	// SerialKey is the resource whose document is written; "" is none.
	SerialKey arm.ID
	Client    *client.Client
	// State is what the resource is doing: Creating, Updating or Deleting.
	State arm.State
	// Method is the HTTP method, "" for an operation that somebody else started.
	Method string
	// Object is for whom, for the log.
	Object string
	// Action is set for imperative work, which may be anything: the resource does not tell how it goes.
	Action bool
	// Context is that of its requests.
	Context context.Context
	// OnAnswer is called with the body of the answer to a PUT that Azure has taken, also where the work goes on; nil is nobody.
	OnAnswer func(body json.RawMessage)
	// OnEnd is called once when Azure has done it, with its error, and before those who wait are woken; not when it is
	// abandoned, or replaced by a deletion. Nil is nobody.
	OnEnd func(took time.Duration, err error)

	started time.Time
	waiters waiterSet

	mu sync.Mutex
	// url tells how it is going; async means that its body has the status, else the HTTP status has it.
	url          string
	statusInBody bool
	// notBefore is when Azure wants to be asked again at url, swift that it named less than a second for that.
	notBefore    time.Time
	shortPolling bool
	// idleUntil is until when nobody can go on with its end, rest how long all that goes on with it takes at the least.
	idleUntil    time.Time
	minRemaining time.Duration
	// notShown tells that the resource did not show at the last look.
	notShown bool
	// statusErr is why the last look did not tell how it is going, and troubled since when none has.
	statusErr      error
	statusErrSince time.Time
	requestID      string
	ended          bool
	replaced       bool
	stop           func() bool
}

// AddWaiter registers wake for the end of the operation; false means that it has ended already. Each object has one wake; nil
// is for those who only want to be counted.
func (op *Operation) AddWaiter(object string, wake func()) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended && !op.replaced {
		return false
	}
	op.waiters.addWaiter(object, wake)
	return true
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

// WaitingObjects are the objects that wait for its end.
func (op *Operation) WaitingObjects() []string { return op.waiters.objectNames() }

// StartTime is when it was begun.
func (op *Operation) StartTime() time.Time { return op.started }

// waiterSet are the callbacks of those who wait for one thing, one per object.
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

// wakeAll wakes everybody and forgets them.
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

// objectNames are those who wait, also without a callback.
func (w *waiterSet) objectNames() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byObject))
}
