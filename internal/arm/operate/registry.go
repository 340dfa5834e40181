package operate

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// registry holds the running operations, one per resource, and the holders of serial keys.
type registry struct {
	mu            sync.Mutex
	operations    map[string]*Operation // by key
	inCollection  map[string]int        // number of operations, by the path of the collection in lower case
	serialHolders map[string]*Operation // by serial key
	serialWaiters map[string]*waiterSet // waiting objects, by serial key
}

func newRegistry() *registry {
	return &registry{operations: map[string]*Operation{}, inCollection: map[string]int{}, serialHolders: map[string]*Operation{}, serialWaiters: map[string]*waiterSet{}}
}

// FindOperation returns the running operation with a key, or nil.
func (r *registry) FindOperation(key string) *Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.operations[key]
}

// allOperations returns the running operations.
func (r *registry) allOperations() []*Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.operations))
}

// operationsBelow returns the running operations on resources below id, and the actions on id itself.
func (r *registry) operationsBelow(id arm.ID) []*Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*Operation
	for _, op := range r.operations {
		if op.ID.IsWithin(id) && op.Key != id.Key() {
			out = append(out, op)
		}
	}
	return out
}

// CountInCollection returns the number of running operations on resources of the collection of id.
func (r *registry) CountInCollection(id arm.ID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inCollection[collectionKey(id)]
}

func collectionKey(id arm.ID) string { return strings.ToLower(types.ListPath(id)) }

// register adds an operation. If its resource or its serial key is held, it returns the operation that holds it. A deletion replaces
// another operation on the same resource if replace is set.
func (r *registry) register(op *Operation, replace bool) (holder *Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.operations[op.Key]
	if old != nil && !replace {
		return old
	}
	if op.SerialKey != "" {
		if holder := r.serialHolders[op.SerialKey.Key()]; holder != nil && holder != old {
			return holder
		}
		r.serialHolders[op.SerialKey.Key()] = op
	}
	if old == nil {
		r.inCollection[collectionKey(op.ID)]++
	} else {
		// No waiter is added after this, so all of them are copied.
		old.markEnded()
		old.waiters.mu.Lock()
		for object, wake := range old.waiters.byObject {
			op.waiters.addWaiter(object, wake)
		}
		old.waiters.mu.Unlock()
	}
	r.operations[op.Key] = op
	return nil
}

// AwaitSerial calls wake when a serial key is free.
func (r *registry) AwaitSerial(serial arm.ID, object string, wake func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.serialHolders[serial.Key()] == nil {
		if wake != nil {
			go wake()
		}
		return
	}
	if r.serialWaiters[serial.Key()] == nil {
		r.serialWaiters[serial.Key()] = &waiterSet{}
	}
	r.serialWaiters[serial.Key()].addWaiter(object, wake)
}

// unregister removes an operation and wakes the objects that wait for it or for its serial key.
func (r *registry) unregister(op *Operation) {
	r.mu.Lock()
	if r.operations[op.Key] == op {
		delete(r.operations, op.Key)
		r.dropFromCollection(op.ID)
	}
	var serial *waiterSet
	if r.serialHolders[op.SerialKey.Key()] == op {
		delete(r.serialHolders, op.SerialKey.Key())
		serial = r.serialWaiters[op.SerialKey.Key()]
		delete(r.serialWaiters, op.SerialKey.Key())
	}
	r.mu.Unlock()
	op.waiters.wakeAll()
	if serial != nil {
		serial.wakeAll()
	}
}

func (r *registry) dropFromCollection(id arm.ID) {
	key := collectionKey(id)
	if r.inCollection[key]--; r.inCollection[key] == 0 {
		delete(r.inCollection, key)
	}
}

// EntryCounts returns the number of entries, by kind.
func (r *registry) EntryCounts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return map[string]int{"operations": len(r.operations), "serial": len(r.serialHolders), "waiting": len(r.serialWaiters)}
}
