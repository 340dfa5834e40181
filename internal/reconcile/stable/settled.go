// Package settled remembers which objects were found in order by a full pass, so that reconciling them again asks Azure
// nothing until their input changes or a resync is due.
//
// The memory is only an accelerator: it is lost with the process, and then every object gets one full pass.
package stable

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Memory is the memory of one controller.
type Memory struct {
	resync time.Duration
	now    func() time.Time

	mu      sync.Mutex
	entries map[client.ObjectKey]entry
	begun   map[client.ObjectKey]beginning
}

// beginning is since when an object has been brought to what is wanted.
type beginning struct {
	input Input
	at    time.Time
}

type entry struct {
	input Input
	until time.Time
}

// New returns an empty memory. An object stays settled for resync at most: until the last moment within it at which all objects are
// looked at again. What one of them reads of Azure then serves the others, for a tenth of resync. Clusters come one after the other
// within half of that.
func New(resync time.Duration, now func() time.Time) *Memory {
	return &Memory{resync: resync, now: now, entries: map[client.ObjectKey]entry{}, begun: map[client.ObjectKey]beginning{}}
}

// Input is the fingerprint of everything a pass is computed from.
type Input [sha256.Size]byte

// Fingerprint hashes values, which must marshal to JSON.
func Fingerprint(values ...any) (Input, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return Input{}, fmt.Errorf("fingerprint: %w", err)
	}
	return sha256.Sum256(raw), nil
}

// Object is of a kind that says whether it is ready.
type Object interface {
	client.Object
	conditions.Getter
}

// Remaining is how long obj stays settled with this input; 0 when a full pass is due. One that is stored as not ready, as a
// machine that somebody stopped, or as ready when last seen gets a full pass whenever it is looked at: it may have come right.
func (m *Memory) Remaining(obj Object, input Input) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[client.ObjectKeyFromObject(obj)]
	if !ok || e.input != input || !InOrder(obj) {
		return 0
	}
	return max(0, e.until.Sub(m.now()))
}

// InOrder tells whether obj is stored as ready, and not only as ready when last seen.
func InOrder(obj Object) bool {
	return conditions.IsTrue(obj, infrav1.ReadyCondition) && conditions.GetReason(obj, infrav1.ReadyCondition) != infrav1.LastSeenReason
}

// News tells whether another input than this one was settled last. One that was never settled is no news: a process that starts comes
// to everything as to a resync.
func (m *Memory) News(key client.ObjectKey, input Input) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	return ok && e.input != input
}

// longest is how long what was seen of an object that is being brought to what is wanted may serve.
const longest = 5 * time.Minute

// Since is when the object began to be brought to this input, which it has not come to since, and no more than five minutes ago.
func (m *Memory) Since(key client.ObjectKey, input Input) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, b := m.now(), m.begun[key]
	if b.input != input {
		b = beginning{input: input, at: now}
		m.begun[key] = b
	}
	if oldest := now.Add(-longest); b.at.Before(oldest) {
		return oldest
	}
	return b.at
}

// Continue records that the input is another one only by what the pass over the object wrote into it.
func (m *Memory) Continue(key client.ObjectKey, from, to Input) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.begun[key]; ok && b.input == from {
		b.input = to
		m.begun[key] = b
	}
}

// Settle records that a full pass found an object of a cluster in order, and returns when the next one is due: after most at the
// latest, as for one with a credential that expires.
func (m *Memory) Settle(key, cluster client.ObjectKey, input Input, most time.Duration) time.Duration {
	now := m.now()
	due := m.resync - time.Duration((now.UnixNano()+m.phase(cluster))%max(1, int64(m.resync)))
	if most < m.resync {
		due = max(0, min(due, most))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = entry{input: input, until: now.Add(due)}
	delete(m.begun, key)
	return due
}

// phase is how long before the common moment the objects of a cluster are looked at.
func (m *Memory) phase(cluster client.ObjectKey) int64 {
	hash := fnv.New32a()
	hash.Write([]byte(cluster.String()))
	return int64(hash.Sum32()) * int64(time.Microsecond) % max(1, int64(m.resync)/20)
}

// Forget drops the object: the next pass is a full one.
func (m *Memory) Forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
	delete(m.begun, key)
}
