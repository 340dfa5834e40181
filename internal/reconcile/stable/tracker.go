// Package stable remembers which objects a full reconciliation found in order, so that reconciling them again asks Azure nothing until
// their input changes or a sync is due.
//
// The memory only saves requests. It is lost with the process, and then every object gets one full reconciliation.
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Tracker remembers the stable objects of one controller.
type Tracker struct {
	resync time.Duration
	now    func() time.Time

	mu       sync.Mutex
	entries  map[client.ObjectKey]stableEntry
	attempts map[client.ObjectKey]attempt
}

// attempt is the time at which converging to a fingerprint began.
type attempt struct {
	fingerprint Fingerprint
	since       time.Time
}

type stableEntry struct {
	fingerprint Fingerprint
	dueAt       time.Time
	// asPlanned means that the last full reconciliation found nothing to write to Azure.
	asPlanned bool
}

// NewTracker returns an empty tracker. An object stays stable for resync at most. Syncs of all objects fall on common moments, so that
// the reads of one serve the others for a tenth of resync. The syncs of Clusters are spread over half of that tenth.
func NewTracker(resync time.Duration, now func() time.Time) *Tracker {
	return &Tracker{resync: resync, now: now, entries: map[client.ObjectKey]stableEntry{}, attempts: map[client.ObjectKey]attempt{}}
}

// Fingerprint is the hash of all input of a plan except facts.
type Fingerprint [sha256.Size]byte

// ComputeFingerprint hashes values, which must marshal to JSON.
func ComputeFingerprint(values ...any) (Fingerprint, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return Fingerprint{}, fmt.Errorf("fingerprint: %w", err)
	}
	return sha256.Sum256(raw), nil
}

// Object has the Ready condition.
type Object interface {
	client.Object
	conditions.Getter
}

// TimeUntilDue returns how long obj stays stable with this fingerprint; 0 if a full reconciliation is due. It is always due for an
// object that is stored as not ready, such as a stopped machine, or as ready when last seen: it may have recovered. An object in which
// nothing but the connection of private endpoints is missing is synced like one in order.
func (m *Tracker) TimeUntilDue(obj Object, fingerprint Fingerprint) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[client.ObjectKeyFromObject(obj)]
	if !ok || entry.fingerprint != fingerprint || !entry.isInOrder(obj) {
		return 0
	}
	return max(0, entry.dueAt.Sub(m.now()))
}

// WasInOrder reports whether the last full reconciliation of obj with this fingerprint found it in order.
func (m *Tracker) WasInOrder(obj Object, fingerprint Fingerprint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.entries[client.ObjectKeyFromObject(obj)]
	entry.asPlanned = entry.asPlanned && entry.fingerprint == fingerprint
	return entry.isInOrder(obj)
}

// MarkUnfinished records that a full reconciliation found work to do, or could not read Azure.
func (m *Tracker) MarkUnfinished(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry, ok := m.entries[key]; ok {
		entry.asPlanned = false
		m.entries[key] = entry
	}
}

// isInOrder reports whether obj is stored as ready, or the last full reconciliation found nothing to do but private endpoints that the owners of
// their services have to connect.
func (e stableEntry) isInOrder(obj Object) bool {
	return isConfirmedReady(obj) || e.asPlanned && status.AwaitsOnlyServiceOwner(obj)
}

// isConfirmedReady reports whether obj is stored as ready, and not only as ready when last seen.
func isConfirmedReady(obj Object) bool {
	return conditions.IsTrue(obj, infrav1.ReadyCondition) && conditions.GetReason(obj, infrav1.ReadyCondition) != infrav1.LastSeenReason
}

// InputChanged reports whether the last stable state had another fingerprint. An object that was never stable counts as unchanged: a
// new process treats every object like a sync.
func (m *Tracker) InputChanged(key client.ObjectKey, fingerprint Fingerprint) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[key]
	return ok && entry.fingerprint != fingerprint
}

// maxReuseAge is how long reads may be reused while an object converges.
const maxReuseAge = 5 * time.Minute

// ConvergingSince returns when converging to this fingerprint began, at most five minutes ago.
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

// ReplaceFingerprint records that the fingerprint changed only by the reconciliation's own writes.
func (m *Tracker) ReplaceFingerprint(key client.ObjectKey, from, to Fingerprint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b, ok := m.attempts[key]; ok && b.fingerprint == from {
		b.fingerprint = to
		m.attempts[key] = b
	}
}

// MarkStable records that a full reconciliation found an object of a cluster in order, and returns the time until the next one, at most
// maxAge. A credential that expires needs a short maxAge.
func (m *Tracker) MarkStable(key, cluster client.ObjectKey, fingerprint Fingerprint, maxAge time.Duration) time.Duration {
	now := m.now()
	due := m.resync - time.Duration((now.UnixNano()+m.clusterOffset(cluster))%max(1, int64(m.resync)))
	if maxAge < m.resync {
		due = max(0, min(due, maxAge))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = stableEntry{fingerprint: fingerprint, dueAt: now.Add(due), asPlanned: true}
	delete(m.attempts, key)
	return due
}

// clusterOffset returns how long before the common moment the syncs of a cluster's objects fall.
func (m *Tracker) clusterOffset(cluster client.ObjectKey) int64 {
	hash := fnv.New32a()
	hash.Write([]byte(cluster.String()))
	return int64(hash.Sum32()) * int64(time.Microsecond) % max(1, int64(m.resync)/20)
}

// Forget drops the object. Its next reconciliation is a full one.
func (m *Tracker) Forget(key client.ObjectKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
	delete(m.attempts, key)
}
