package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// registry knows the writes and operations that are under way, one per resource, and who holds which serial key.
type registry struct {
	mu         sync.Mutex
	operations map[string]*operation // by key
	serial     map[string]*operation // by serial key
	waiting    map[string]*wakes     // those who wait for a serial key
}

// operation is a write or action from the moment it is sent until Azure has done it.
type operation struct {
	key    string
	id     arm.ID
	serial arm.ID
	client *client.Client
	// state is what the resource is doing: Creating, Updating or Deleting.
	state arm.State
	// verb is the HTTP method, "" for an operation that somebody else started.
	verb string
	// hash names the desired state that the write brings about.
	hash string
	// want is what is remembered of the desired state once the write succeeded; nil for what is kept in line.
	want json.RawMessage
	// object is for whom, for the log.
	object string
	// differs are the paths that the write changes, and repairs tells that the resource had been as desired.
	differs []string
	repairs bool
	// action is set for imperative work, whose result is kept for the caller.
	action bool

	started time.Time
	ctx     context.Context
	waiters wakes

	mu sync.Mutex
	// url tells how it is going; async means that its body has the status, else the HTTP status has it.
	url   string
	async bool
	// notBefore is when Azure wants to be asked again at url.
	notBefore time.Time
	requestID string
	ended     bool
	replaced  bool
	stop      func() bool
}

func newRegistry() *registry {
	return &registry{operations: map[string]*operation{}, serial: map[string]*operation{}, waiting: map[string]*wakes{}}
}

// find is the operation under way with a key, or nil.
func (r *registry) find(key string) *operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.operations[key]
}

// below are the operations under way on what is within id, and the actions on id itself.
func (r *registry) below(id arm.ID) []*operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*operation
	for _, op := range r.operations {
		if op.id.Within(id) && op.key != id.Key() {
			out = append(out, op)
		}
	}
	return out
}

// alongside is how many operations are under way on resources of the collection of id.
func (r *registry) alongside(id arm.ID) int {
	path := types.ListPath(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, op := range r.operations {
		if strings.EqualFold(types.ListPath(op.id), path) {
			count++
		}
	}
	return count
}

// begin enters an operation. When the resource or its serial key is taken, it returns the operation that has it instead.
// A deletion replaces another operation on the same resource when replace is set.
func (r *registry) begin(op *operation, replace bool) (holder *operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.operations[op.key]
	if old != nil && !replace {
		return old
	}
	if op.serial != "" {
		if holder := r.serial[op.serial.Key()]; holder != nil && holder != old {
			return holder
		}
		r.serial[op.serial.Key()] = op
	}
	if old != nil {
		old.mu.Lock()
		old.ended, old.replaced = true, true
		old.mu.Unlock()
		old.waiters.mu.Lock()
		for object, wake := range old.waiters.of {
			op.waiters.add(object, wake)
		}
		old.waiters.mu.Unlock()
	}
	r.operations[op.key] = op
	return nil
}

// await registers wake for when a serial key is free.
func (r *registry) await(serial arm.ID, object string, wake func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.serial[serial.Key()] == nil {
		if wake != nil {
			go wake()
		}
		return
	}
	if r.waiting[serial.Key()] == nil {
		r.waiting[serial.Key()] = &wakes{}
	}
	r.waiting[serial.Key()].add(object, wake)
}

// end removes an operation and wakes those who wait for it or for its serial key.
func (r *registry) end(op *operation) {
	r.mu.Lock()
	if r.operations[op.key] == op {
		delete(r.operations, op.key)
	}
	var serial *wakes
	if r.serial[op.serial.Key()] == op {
		delete(r.serial, op.serial.Key())
		serial = r.waiting[op.serial.Key()]
		delete(r.waiting, op.serial.Key())
	}
	r.mu.Unlock()
	op.waiters.call()
	if serial != nil {
		serial.call()
	}
}

// await registers wake for the end of the operation; false means that it has ended already.
func (op *operation) await(object string, wake func()) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.ended && !op.replaced {
		return false
	}
	op.waiters.add(object, wake)
	return true
}
