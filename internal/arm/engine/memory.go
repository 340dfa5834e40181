package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
)

// memory is what the engine remembers of resources between passes. Losing it costs a few requests and no correctness.
type memory struct {
	clock  Clock
	jitter func() float64

	mu        sync.Mutex
	failures  map[string]*failure
	residuals map[string]*residual
	ended     map[string]error // actions, by operation key
	// agreements are for resources that are not changed in place.
	agreements map[string]*agreement
}

// failure is the last error of writing a resource.
type failure struct {
	hash     string
	err      error
	attempts int
	next     time.Time
}

// judgeWithin is how long after a PUT differences are taken for what Azure made of it. What is seen first later than that may
// as well be somebody's change: it is sent once more, and what remains then is judged at once.
const judgeWithin = 30 * time.Second

// residual are the differences that remained after a PUT of a desired state: Azure's normalisation, which another PUT
// would not change.
type residual struct {
	hash string
	// at is when the PUT had ended.
	at time.Time
	// judged means that a read has been compared after the PUT.
	judged bool
	prints []string
}

func newMemory(clock Clock, jitter func() float64) *memory {
	return &memory{clock: clock, jitter: jitter, failures: map[string]*failure{}, residuals: map[string]*residual{}, ended: map[string]error{}, agreements: map[string]*agreement{}}
}

// fail remembers an error of a desired state and says when to try again.
func (m *memory) fail(key, hash string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.failures[key]
	if old == nil || old.hash != hash || arm.Classify(old.err) != arm.Classify(err) {
		old = &failure{hash: hash}
		m.failures[key] = old
	}
	old.attempts++
	old.err = err
	delay := arm.NextTry(err, old.attempts, m.jitter())
	if status := statusOf(err); status == http.StatusPreconditionFailed && old.attempts < 5 {
		// Somebody was faster: what is there now is read and merged at once.
		delay = 100 * time.Millisecond
	}
	old.next = m.clock.Now().Add(delay)
}

// failed is the failure of a desired state, nil when there is none, and how long to wait until the next try; 0 means that
// it is due.
func (m *memory) failed(key, hash string) (wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.failures[key]
	if found == nil || found.hash != hash {
		return 0, nil
	}
	return max(0, found.next.Sub(m.clock.Now())), found.err
}

// last is the last failure of a resource, whatever was desired then.
func (m *memory) last(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.failures[key]; found != nil {
		return found.err
	}
	return nil
}

func statusOf(err error) int {
	var e *arm.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// clear forgets the failure of a resource.
func (m *memory) clear(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures, key)
}

// put notes that a PUT of a desired state succeeded.
func (m *memory) put(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures, key)
	m.residuals[key] = &residual{hash: hash, at: m.clock.Now()}
}

// forget drops everything about a resource that is gone.
func (m *memory) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures, key)
	delete(m.residuals, key)
	delete(m.agreements, key)
}

// remains tells whether differences are what remained after our own PUT of the same desired state. The first ones seen
// after it are. fresh is set when they come from a read and not from the answer to the PUT itself; first when they were
// not known before.
func (m *memory) remains(key, hash string, differences []compare.Difference, fromWrite bool) (remains, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.residuals[key]
	if found == nil || found.hash != hash {
		return false, false
	}
	mark := fingerprint(differences)
	if slices.Contains(found.prints, mark) {
		found.judged = found.judged || !fromWrite
		return true, false
	}
	if found.judged || !fromWrite && m.clock.Now().Sub(found.at) > judgeWithin {
		found.judged = true
		return false, false
	}
	found.prints = append(found.prints, mark)
	found.judged = !fromWrite
	return true, true
}

// judge notes that a read after the PUT showed no difference.
func (m *memory) judge(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.residuals[key]; found != nil && found.hash == hash {
		found.judged = true
	}
}

func fingerprint(differences []compare.Difference) string {
	var b strings.Builder
	for _, difference := range differences {
		b.WriteString(difference.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// hashOf names a desired state. It covers write-only values, and is kept in memory only.
func hashOf(want compare.Want) string {
	raw, err := json.Marshal([]any{want.Body, want.Owned, want.DropTags})
	if err != nil {
		// Decoded JSON always marshals.
		return "unmarshallable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// keep stores how an action ended until the caller takes it.
func (m *memory) keep(key string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[key] = err
}

// take is how an action ended; ok is false when none did.
func (m *memory) take(key string) (err error, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err, ok = m.ended[key]
	delete(m.ended, key)
	return err, ok
}
