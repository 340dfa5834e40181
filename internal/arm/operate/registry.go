package operate

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// registry knows the writes and operations that are under way, one per resource, and who holds which serial key.
type registry struct {
	mu         sync.Mutex
	operations map[string]*Operation // by key
	serial     map[string]*Operation // by serial key
	waiting    map[string]*wakes     // those who wait for a serial key
}

func newRegistry() *registry {
	return &registry{operations: map[string]*Operation{}, serial: map[string]*Operation{}, waiting: map[string]*wakes{}}
}

// Find is the operation under way with a key, or nil.
func (r *registry) Find(key string) *Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.operations[key]
}

// all are the operations under way.
func (r *registry) all() []*Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.operations))
}

// below are the operations under way on what is within id, and the actions on id itself.
func (r *registry) below(id arm.ID) []*Operation {
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

// Alongside is how many operations are under way on resources of the collection of id.
func (r *registry) Alongside(id arm.ID) int {
	path := types.ListPath(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, op := range r.operations {
		if strings.EqualFold(types.ListPath(op.ID), path) {
			count++
		}
	}
	return count
}

// begin enters an operation. When the resource or its serial key is taken, it returns the operation that has it instead.
// A deletion replaces another operation on the same resource when replace is set.
func (r *registry) begin(op *Operation, replace bool) (holder *Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.operations[op.Key]
	if old != nil && !replace {
		return old
	}
	if op.Serial != "" {
		if holder := r.serial[op.Serial.Key()]; holder != nil && holder != old {
			return holder
		}
		r.serial[op.Serial.Key()] = op
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
	r.operations[op.Key] = op
	return nil
}

// AwaitSerial registers wake for when a serial key is free.
func (r *registry) AwaitSerial(serial arm.ID, object string, wake func()) {
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
func (r *registry) end(op *Operation) {
	r.mu.Lock()
	if r.operations[op.Key] == op {
		delete(r.operations, op.Key)
	}
	var serial *wakes
	if r.serial[op.Serial.Key()] == op {
		delete(r.serial, op.Serial.Key())
		serial = r.waiting[op.Serial.Key()]
		delete(r.waiting, op.Serial.Key())
	}
	r.mu.Unlock()
	op.waiters.call()
	if serial != nil {
		serial.call()
	}
}

// Sizes are how many entries the registry holds, by what they are.
func (r *registry) Sizes() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return map[string]int{"operations": len(r.operations), "serial": len(r.serial), "waiting": len(r.waiting)}
}
