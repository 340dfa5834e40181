package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compressed"
)

// stateStore is what the engine remembers of resources between passes. Losing it costs a few requests and no correctness. What is
// known of a resource goes when the resource is known to be gone; what no pass has asked for in a day goes, too, as with a
// resource that no object plans any more.
type stateStore struct {
	clock  Clock
	jitter func() float64

	mu         sync.Mutex
	states     map[string]*resourceState // by ID key, with a suffix for what is remembered beside the resource's state
	lastSweep  time.Time
	compressor compressed.Compressor
}

// resourceState is what is remembered under one key.
type resourceState struct {
	failure       *failure
	normalization *normalization
	// agreement is for resources that are not changed in place.
	agreement *agreement
	// alignedHash is the desired state that the resource was seen in, and drifted that it was not in that any more afterwards.
	alignedHash string
	drifted     bool
	// createdHere means that a PUT of this process has made the resource.
	createdHere bool
	// wasInPlace means that the last pass which looked at the resource had nothing to do to it, absent that it was not there.
	inPlace, absent bool
	// quotaHolder is the resource whose turn at a budget has to come before this one, which is absent, can be made.
	quotaHolder arm.ID
	// actionResults is how an action ended, by the object that waits for it.
	actionResults map[string]error
	// lastUsed is when a pass asked for it last.
	lastUsed time.Time
}

// retention is how long what nobody asks for is remembered: far longer than objects that are in order are left alone.
const retention = 24 * time.Hour

// Suffixes of keys.
const (
	readSuffix   = "|read"
	actionSuffix = "|do|"
)

// failure is the last error of writing a resource.
type failure struct {
	hash     string
	err      error
	attempts int
	next     time.Time
	// repeated means that the same is tried again.
	repeated bool
}

// normalizationWindow is how long after a PUT differences are taken for what Azure made of it that the answer to it did not say. What is
// seen first later than that may as well be somebody's change.
const normalizationWindow = 30 * time.Second

// normalization are the differences that a PUT of a desired state leaves: Azure's normalisation, which another PUT would not change.
// They are what the answer to it says. What only a later read shows may be somebody's change: it is sent once more, and is
// Azure's when it is back at once.
type normalization struct {
	hash string
	// inAnswer are the differences in the answer, cause those that the PUT was sent for although it had been sent before.
	inAnswer, cause []string
	// at is when the PUT had ended, judged means that a read has been compared since.
	at     time.Time
	judged bool
	// reported are those that were found to remain before.
	reported []string
}

func newStateStore(clock Clock, jitter func() float64) *stateStore {
	return &stateStore{clock: clock, jitter: jitter, states: map[string]*resourceState{}}
}

// findState is what is remembered under a key, or nil.
func (m *stateStore) findState(key string) *resourceState {
	found := m.states[key]
	if found != nil {
		found.lastUsed = m.clock.Now()
	}
	return found
}

// stateFor is find for what is about to be remembered.
func (m *stateStore) stateFor(key string) *resourceState {
	m.dropUnused()
	if m.states[key] == nil {
		m.states[key] = &resourceState{}
	}
	return m.findState(key)
}

// dropIfEmpty ends a change that may have left nothing to remember.
func (m *stateStore) dropIfEmpty(key string) {
	if r := m.states[key]; r != nil && r.failure == nil && r.normalization == nil && r.agreement == nil && r.alignedHash == "" && !r.drifted && !r.createdHere && !r.absent && len(r.actionResults) == 0 {
		delete(m.states, key)
	}
}

// dropUnused drops, now and then, what nobody has asked for.
func (m *stateStore) dropUnused() {
	now := m.clock.Now()
	if now.Sub(m.lastSweep) < retention/24 {
		return
	}
	m.lastSweep = now
	maps.DeleteFunc(m.states, func(_ string, r *resourceState) bool { return now.Sub(r.lastUsed) > retention })
}

// recordFailure remembers an error of a desired state and says when to try again.
func (m *stateStore) recordFailure(key, hash string, err error) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.stateFor(key)
	old := r.failure
	if old == nil || old.hash != hash || arm.Classify(old.err) != arm.Classify(err) {
		old = &failure{hash: hash}
		r.failure = old
	}
	old.attempts++
	old.err = err
	wait = retryDelay(err, old.attempts, m.jitter())
	old.next = m.clock.Now().Add(wait)
	return wait
}

// retryDelay is when to try again after the attempt-th failure in a row.
func retryDelay(err error, attempt int, jitter float64) time.Duration {
	if httpStatus(err) == http.StatusPreconditionFailed && attempt < 5 {
		// Somebody was faster: what is there now is read and merged at once.
		return 100 * time.Millisecond
	}
	return arm.RetryDelay(err, attempt, jitter)
}

// failureOf is the failure of a desired state, nil when there is none, and how long to wait until the next try; 0 means that
// it is due.
func (m *stateStore) failureOf(key, hash string) (wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	if found == nil || found.failure == nil || found.failure.hash != hash {
		return 0, nil
	}
	return max(0, found.failure.next.Sub(m.clock.Now())), found.failure.err
}

// makeRetryDue makes a failure due now, as if it were the first.
func (m *stateStore) makeRetryDue(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.failure != nil {
		found.failure.attempts, found.failure.next = 0, m.clock.Now()
	}
}

// recordAttempt notes that a desired state is sent.
func (m *stateStore) recordAttempt(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.failure != nil {
		found.failure.repeated = found.failure.hash == hash
	}
}

// lastAttemptError is how what is under way failed the last time, nil for the first try.
func (m *stateStore) lastAttemptError(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.failure != nil && found.failure.repeated {
		return found.failure.err
	}
	return nil
}

// lastError is the last failure of a resource, whatever was desired then.
func (m *stateStore) lastError(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.failure != nil {
		return found.failure.err
	}
	return nil
}

func httpStatus(err error) int {
	var e *arm.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// clearFailure forgets the failure of a resource.
func (m *stateStore) clearFailure(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		found.failure = nil
		m.dropIfEmpty(key)
	}
}

// recordPut notes that a PUT of a desired state succeeded, what differs from that in the answer to it, and what it was sent for.
func (m *stateStore) recordPut(key, hash string, said, sentFor []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.stateFor(key)
	now := &normalization{hash: hash, at: m.clock.Now(), inAnswer: said}
	if r.alignedHash == hash {
		now.cause = sentFor
	}
	r.failure, r.normalization, r.alignedHash = nil, now, hash
}

// recordCreation notes that a PUT has made a resource that was not there.
func (m *stateStore) recordCreation(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stateFor(key).createdHere = true
}

// wasCreatedHere tells whether a PUT of this process has made the resource that is there.
func (m *stateStore) wasCreatedHere(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	return found != nil && found.createdHere
}

// recordAligned notes that a resource was seen in its desired state. What remained after a PUT of another one says nothing any more:
// a difference from that may be somebody's change since, as of the size of a scale set whose VMs were deleted.
func (m *stateStore) recordAligned(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.stateFor(key)
	r.alignedHash = hash
	if r.normalization != nil && r.normalization.hash != hash {
		r.normalization = nil
	}
}

// recordDrift notes that a resource which was seen in its desired state is not any more, and tells whether that is news.
func (m *stateStore) recordDrift(key string) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.stateFor(key)
	first = !r.drifted
	r.drifted = true
	return first
}

// clearDrift notes that a resource is in its desired state, and tells whether it had drifted from it.
func (m *stateStore) clearDrift(key string) (drifted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		drifted, found.drifted = found.drifted, false
		m.dropIfEmpty(key)
	}
	return drifted
}

// wasAligned tells whether a resource was seen in this desired state.
func (m *stateStore) wasAligned(key, hash string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	return found != nil && found.alignedHash == hash
}

// setInPlace notes whether the pass that looks at a resource has nothing to do to it.
func (m *stateStore) setInPlace(key string, placed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		found.inPlace = placed
	}
}

// wasInPlace tells whether the last pass that looked at a resource had nothing to do to it.
func (m *stateStore) wasInPlace(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	return found != nil && found.alignedHash != "" && found.inPlace
}

// setAbsent notes whether the pass that looks at a resource found that it is not there.
func (m *stateStore) setAbsent(key string, absent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if absent {
		m.stateFor(key).absent = true
	} else if found := m.findState(key); found != nil {
		found.absent, found.quotaHolder = false, ""
		m.dropIfEmpty(key)
	}
}

// wasAbsent tells whether the last pass that looked at a resource found that it is not there.
func (m *stateStore) wasAbsent(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	return found != nil && found.absent
}

// setQuotaHolder notes whose turn has to come before an absent resource can be made, "" for nobody's.
func (m *stateStore) setQuotaHolder(key string, first arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		found.quotaHolder = first
	}
}

// quotaHolder is the resource whose turn has to come, "" for none.
func (m *stateStore) quotaHolder(key string) arm.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.absent {
		return found.quotaHolder
	}
	return ""
}

// quotaDelay tells whether the last write of a resource was not sent because there were too many requests, and how long to wait until the
// next try.
func (m *stateStore) quotaDelay(key string) (wait time.Duration, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.findState(key)
	if found == nil || found.failure == nil || !arm.IsBudgetEmpty(found.failure.err) {
		return 0, false
	}
	return max(0, found.failure.next.Sub(m.clock.Now())), true
}

// postponeRetry notes that it is still not the turn of what nodesAwaitingQuota told of.
func (m *stateStore) postponeRetry(key string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.failure != nil {
		found.failure.err, found.failure.next = err, m.clock.Now().Add(retryDelay(err, found.failure.attempts, m.jitter()))
	}
}

// forgetResource drops everything about a resource that is gone, and about what went with it.
func (m *stateStore) forgetResource(id arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.states, func(key string, _ *resourceState) bool {
		rest, ok := strings.CutPrefix(key, id.Key())
		return ok && (rest == "" || rest[0] == '/' || rest[0] == '|')
	})
}

// retrySiblings makes the failures of resources of the same type and parent due now: a resource that is gone may be what they conflicted
// with, as a security rule with its priority.
func (m *stateStore) retrySiblings(gone arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := gone.Key()[:strings.LastIndexByte(gone.Key(), '/')+1]
	for key, record := range m.states {
		name, beside := strings.CutPrefix(key, list)
		if beside && !strings.ContainsAny(name, "/|") && record.failure != nil && !arm.IsBudgetEmpty(record.failure.err) {
			record.failure.attempts, record.failure.next = 0, m.clock.Now()
		}
	}
}

// resetMissing notes that a resource that is wanted is not there: what was known of it was of the one before. Why it cannot be
// made stays.
func (m *stateStore) resetMissing(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		found.normalization, found.agreement, found.alignedHash, found.createdHere = nil, nil, "", false
		m.dropIfEmpty(key)
	}
}

// isNormalization tells whether differences are what a PUT of the same desired state leaves, and first whether that was not known
// before. fromWrite is set when they are those of the answer to the PUT.
func (m *stateStore) isNormalization(key, hash string, differences []compare.Difference, fromWrite bool) (remains, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.findState(key)
	if r == nil || r.normalization == nil || r.normalization.hash != hash {
		return false, false
	}
	found, lines := r.normalization, formatDifferences(differences)
	atOnce := !found.judged && m.clock.Now().Sub(found.at) <= normalizationWindow
	found.judged = found.judged || !fromWrite
	if !allKnown(lines, found.inAnswer) {
		if !atOnce || !allKnown(lines, slices.Concat(found.inAnswer, found.cause)) {
			return false, false
		}
		found.inAnswer = slices.Concat(found.inAnswer, lines)
	}
	first = !allKnown(lines, found.reported)
	found.reported = lines
	return true, first
}

func allKnown(lines, known []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(known, line) })
}

// recordMatch notes that a read after the PUT showed no difference.
func (m *stateStore) recordMatch(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil && found.normalization != nil && found.normalization.hash == hash {
		found.normalization.judged = true
	}
}

// desiredHash names a desired state. It covers write-only values, and is kept in memory only.
func desiredHash(want compare.Desired) string {
	raw, err := json.Marshal([]any{want.Body, want.OwnedPaths, want.DropTags})
	if err != nil {
		// Decoded JSON always marshals.
		return "unmarshallable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// storeActionResult stores how an action ended until those who wait for it take it.
func (m *stateStore) storeActionResult(key string, objects []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.stateFor(key)
	r.actionResults = map[string]error{}
	for _, object := range objects {
		r.actionResults[object] = err
	}
	m.dropIfEmpty(key)
}

// takeActionResult is how an action ended; ok is false when none did that the object waits for.
func (m *stateStore) takeActionResult(key, object string) (err error, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.findState(key); found != nil {
		err, ok = found.actionResults[object]
		delete(found.actionResults, object)
		m.dropIfEmpty(key)
	}
	return err, ok
}
