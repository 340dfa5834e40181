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

// Tracker is the memory of one controller.
type Tracker struct {
	resync time.Duration
	now    func() time.Time

	mu       sync.Mutex
	entries  map[client.ObjectKey]stableEntry
	attempts map[client.ObjectKey]attempt
}

// attempt is since when an object has been brought to what is wanted.
type attempt struct {
	fingerprint Fingerprint
	since       time.Time
}

type stableEntry struct {
	fingerprint Fingerprint
	dueAt       time.Time
}

// NewTracker returns an empty memory. An object stays settled for resync at most: until the last moment within it at which all objects are
// looked at again. What one of them reads of Azure then serves the others, for a tenth of resync. Clusters come one after the other
// within half of that.
func NewTracker(resync time.Duration, now func() time.Time) *Tracker {
	return &Tracker{resync: resync, now: now, entries: map[client.ObjectKey]stableEntry{}, attempts: map[client.ObjectKey]attempt{}}
}

// Fingerprint is the fingerprint of everything a pass is computed from.
type Fingerprint [sha256.Size]byte

// ComputeFingerprint hashes values, which must marshal to JSON.
func ComputeFingerprint(values ...any) (Fingerprint, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("fingerprint: %w", err)
	}
	return sha256.Sum256(raw), nil
}

// Object is of a kind that says whether it is ready.
type Object interface {
	client.Object
	conditions.Getter
}

// TimeUntilDue is how long obj stays settled with this input; 0 when a full pass is due. One that is stored as not ready, as a
// machine that somebody stopped, or as ready when last seen gets a full pass whenever it is looked at: it may have come right.
func (m *Tracker) TimeUntilDue(obj Object, fingerprint Fingerprint) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[client.ObjectKeyFromObject(obj)]
	if !ok || entry.fingerprint != fingerprint || !IsConfirmedReady(obj) {
		return 0
	}
	return max(0, entry.dueAt.Sub(m.now()))
}

// IsConfirmedReady tells whether obj is stored as ready, and not only as ready when last seen.
func IsConfirmedReady(obj Object) bool {
	return conditions.IsTrue(obj, infrav1.ReadyCondition) && conditions.GetReason(obj, infrav1.ReadyCondition) != infrav1.LastSeenReason
}

// InputChanged tells whether another input than this one was settled last. One that was never settled is no news: a process that starts comes
// to everything as to a resync.
func (m *Tracker) InputChanged(key client.ObjectKey, fingerprint Fingerprint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[key]
	return ok && entry.fingerprint != fingerprint
}

// maxReuseAge is how long what was seen of an object that is being brought to what is wanted may serve.
const maxReuseAge = 5 * time.Minute

// ConvergingSince is when the object began to be brought to this input, which it has not come to since, and no more than five minutes ago.
func (m *Tracker) ConvergingSince(key client.ObjectKey, fingerprint Fingerprint) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, b := m.now(), m.attempts[key]
	if b.fingerprint != fingerprint {
		b = attempt{fingerprint: fingerprint, since: now}
		m.attempts[key] = b
	}
	if oldest := now.Add(-maxReuseAge); b.since.Before(oldest) {
		return oldest
	}
	return b.since
}

// ReplaceFingerprint records that the input is another one only by what the pass over the object wrote into it.
func (m *Tracker) ReplaceFingerprint(key client.ObjectKey, from, to Fingerprint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.attempts[key]; ok && b.fingerprint == from {
		b.fingerprint = to
		m.attempts[key] = b
	}
}

// MarkStable records that a full pass found an object of a cluster in order, and returns when the next one is due: after most at the
// latest, as for one with a credential that expires.
func (m *Tracker) MarkStable(key, cluster client.ObjectKey, fingerprint Fingerprint, maxAge time.Duration) time.Duration {
	now := m.now()
	due := m.resync - time.Duration((now.UnixNano()+m.clusterOffset(cluster))%max(1, int64(m.resync)))
	if maxAge < m.resync {
		due = max(0, min(due, maxAge))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = stableEntry{fingerprint: fingerprint, dueAt: now.Add(due)}
	delete(m.attempts, key)
	return due
}

// clusterOffset is how long before the common moment the objects of a cluster are looked at.
func (m *Tracker) clusterOffset(cluster client.ObjectKey) int64 {
	hash := fnv.New32a()
	hash.Write([]byte(cluster.String()))
	return int64(hash.Sum32()) * int64(time.Microsecond) % max(1, int64(m.resync)/20)
}

// Forget drops the object: the next pass is a full one.
func (m *Tracker) Forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
	delete(m.attempts, key)
}
