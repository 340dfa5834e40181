package engine

import (
	"maps"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// stateStore holds one record per resource between reconciliations. Its loss costs a few requests and no correctness. The record of a
// resource is dropped when the resource is gone. A record that no convergence has used for a day is dropped, too, as for resources that
// no object plans any more.
type stateStore struct {
	clock Clock

	mu sync.Mutex
	// states has the records by the part of their key up to the resource group, "" outside of groups, and then by key: the ID key, with a
	// suffix for state besides the resource's own. Each deletion asks for the records of a group, with which other clusters have none.
	states    map[string]map[string]*resourceState
	scratch   resourceState // the record under change, until it has content
	lastSweep time.Time
	// compressor is used by agreements, within update.
	compressor observe.Compressor
}

// resourceState is the record under one key. Each part has methods of its own. The methods of the record change several parts together.
type resourceState struct {
	retry     retryState
	alignment alignment
	presence  presence
	write     lastWrite
	// normalization is nil if no PUT has ended since the last reset.
	normalization *normalization
	// agreement is set for resources that are not changed in place.
	agreement *agreement
	actions   actionResults
	// lastUsed is the time of the last access.
	lastUsed time.Time
}

// retention is how long unused state is kept: far longer than stable objects are left alone.
const retention = 24 * time.Hour

// Suffixes of keys.
const (
	readSuffix   = "|read"
	actionSuffix = "|do|"
)

func newStateStore(clock Clock) *stateStore {
	return &stateStore{clock: clock, states: map[string]map[string]*resourceState{}}
}

// get returns a copy of the record under a key, an empty one if there is none. Parts that are pointers or maps are used in update only.
func (s *stateStore) get(key string) resourceState {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.states[groupOf(key)][key]
	if state == nil {
		return resourceState{}
	}
	state.lastUsed = s.clock.Now()
	return *state
}

// update calls change with the record under a key, an empty one if there is none. It stores the record if that has content then, and
// drops it otherwise. change must be quick and must not use the store.
func (s *stateStore) update(key string, change func(*resourceState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropUnused()
	group := groupOf(key)
	state, stored := s.states[group][key]
	if !stored {
		s.scratch = resourceState{}
		state = &s.scratch
	}
	change(state)
	state.lastUsed = s.clock.Now()
	switch {
	case state.isEmpty():
		if delete(s.states[group], key); len(s.states[group]) == 0 {
			delete(s.states, group)
		}
	case !stored:
		if s.states[group] == nil {
			s.states[group] = map[string]*resourceState{}
		}
		s.states[group][key] = new(s.scratch)
	}
}

// groupOf returns the part of a key up to the resource group, or "".
func groupOf(key string) string {
	const before = "/resourcegroups/"
	at := strings.Index(key, before)
	if at < 0 {
		return ""
	}
	if end := strings.IndexAny(key[at+len(before):], "/|"); end >= 0 {
		return key[:at+len(before)+end]
	}
	return key
}

// isEmpty reports whether the record has nothing that later decisions need.
func (r *resourceState) isEmpty() bool {
	return r.retry.err == nil && r.normalization == nil && r.agreement == nil &&
		r.alignment.hash == "" && !r.alignment.drifted && r.alignment.repairedAt == 0 &&
		!r.presence.createdHere && r.presence.createdAt.IsZero() && !r.presence.absent && r.write.result == "" && len(r.actions) == 0
}

// dropUnused removes unused records from time to time. s.mu is held.
func (s *stateStore) dropUnused() {
	now := s.clock.Now()
	if now.Sub(s.lastSweep) < retention/24 {
		return
	}
	s.lastSweep = now
	for group := range s.states {
		s.deleteFunc(group, func(_ string, r *resourceState) bool { return now.Sub(r.lastUsed) > retention })
	}
}

// deleteFunc deletes the records of a group for which drop returns true. s.mu is held.
func (s *stateStore) deleteFunc(group string, drop func(key string, state *resourceState) bool) {
	if maps.DeleteFunc(s.states[group], drop); len(s.states[group]) == 0 {
		delete(s.states, group)
	}
}

// forgetResource removes the records of a deleted resource and of its children.
func (s *stateStore) forgetResource(id arm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := id.Key()
	s.deleteFunc(groupOf(gone), func(key string, _ *resourceState) bool {
		rest, ok := strings.CutPrefix(key, gone)
		return ok && (rest == "" || rest[0] == '/' || rest[0] == '|')
	})
}

// retrySiblings makes failures of resources of the same type and parent due now: the deleted resource may be the one that they
// conflicted with, as a security rule with its priority.
func (s *stateStore) retrySiblings(gone arm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := gone.Key()
	list := id[:strings.LastIndexByte(id, '/')+1]
	for key, state := range s.states[groupOf(id)] {
		if name, beside := strings.CutPrefix(key, list); beside && !strings.ContainsAny(name, "/|") && !arm.IsBudgetEmpty(state.retry.err) {
			state.retry.makeDue(s.clock.Now())
		}
	}
}

// recordPut records a successful PUT of a desired state, the differences in its answer, and those that it was sent for.
func (r *resourceState) recordPut(hash string, inAnswer, cause []string, now time.Time) {
	put := &normalization{hash: hash, at: now, inAnswer: inAnswer}
	if r.alignment.hash == hash {
		put.cause = cause
	}
	r.retry, r.normalization, r.alignment.hash = retryState{}, put, hash
}

// recordAligned records that the resource was seen in its desired state. The normalisation of an earlier desired state is dropped: such a
// difference may be a change from outside later, as the size of a scale set whose VMs were deleted.
func (r *resourceState) recordAligned(hash string) {
	r.retry, r.alignment.hash, r.write.result = retryState{}, hash, ""
	if r.normalization != nil && r.normalization.hash != hash {
		r.normalization = nil
	}
}

// resetMissing records that the planned resource does not exist. State of the former resource is dropped; failures of the creation stay.
func (r *resourceState) resetMissing() {
	r.normalization, r.agreement, r.alignment.hash, r.presence.createdHere = nil, nil, "", false
}
