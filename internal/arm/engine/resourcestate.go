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

// stateStore holds the state of resources between reconciliations. Its loss costs a few requests and no correctness. The state of a
// resource is dropped when the resource is gone. State that no convergence has used for a day is dropped, too, as for resources that no
// object plans any more.
type stateStore struct {
	clock  Clock
	jitter func() float64

	mu         sync.Mutex
	states     map[string]*resourceState // by ID key, with a suffix for state besides the resource's own
	lastSweep  time.Time
	compressor compressed.Compressor
}

// resourceState is the state under one key.
type resourceState struct {
	failure       *failure
	normalization *normalization
	// agreement is set for resources that are not changed in place.
	agreement *agreement
	// alignedHash is the hash of the desired state that the resource was last seen in. drifted means that it differed from it
	// afterwards.
	alignedHash string
	drifted     bool
	// createdHere means that a PUT of this process created the resource.
	createdHere bool
	// inPlace means that the last convergence had nothing to do for the resource, absent that the resource did not exist then.
	inPlace, absent bool
	// quotaHolder is the resource whose write quota has to come first before this one, which is absent, can be created.
	quotaHolder arm.ID
	// actionResults holds the result of an action for each object that waits for it.
	actionResults map[string]error
	// write is what is known of the last write, writeBefore of the one before it.
	write, writeBefore writeResult
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

// failure is the last error of a write of the resource.
type failure struct {
	hash     string
	err      error
	attempts int
	next     time.Time
	// repeated means that a retry of the same desired state is running.
	repeated bool
}

// normalizationWindow is how long after a PUT a difference that its answer did not show counts as Azure's normalisation. A difference
// seen first after that may be a change from outside.
const normalizationWindow = 30 * time.Second

// normalization holds the differences that remain after a PUT of a desired state because Azure normalised it. Another PUT would not
// change them. The answer to the PUT shows them. A difference that only a later read shows may be a change from outside: it is sent
// once more, and counts as normalisation if it is back at once.
type normalization struct {
	hash string
	// inAnswer lists the differences in the answer. cause lists those that a repeated PUT was sent for.
	inAnswer, cause []string
	// at is the time when the PUT ended. judged means that a later read has been compared.
	at     time.Time
	judged bool
	// reported lists the differences that were logged before.
	reported []string
}

func newStateStore(clock Clock, jitter func() float64) *stateStore {
	return &stateStore{clock: clock, jitter: jitter, states: map[string]*resourceState{}}
}

// findState returns the state under a key, or nil.
func (s *stateStore) findState(key string) *resourceState {
	state := s.states[key]
	if state != nil {
		state.lastUsed = s.clock.Now()
	}
	return state
}

// stateFor returns the state under a key, and creates it if there is none.
func (s *stateStore) stateFor(key string) *resourceState {
	s.dropUnused()
	if s.states[key] == nil {
		s.states[key] = &resourceState{}
	}
	return s.findState(key)
}

// dropIfEmpty removes a state that has no content left.
func (s *stateStore) dropIfEmpty(key string) {
	if state := s.states[key]; state != nil && state.failure == nil && state.normalization == nil && state.agreement == nil &&
		state.alignedHash == "" && !state.drifted && !state.createdHere && !state.absent && state.write == "" && len(state.actionResults) == 0 {
		delete(s.states, key)
	}
}

// dropUnused removes unused states from time to time.
func (s *stateStore) dropUnused() {
	now := s.clock.Now()
	if now.Sub(s.lastSweep) < retention/24 {
		return
	}
	s.lastSweep = now
	maps.DeleteFunc(s.states, func(_ string, r *resourceState) bool { return now.Sub(r.lastUsed) > retention })
}

// recordFailure records an error of a desired state and returns the time until the next try.
func (s *stateStore) recordFailure(key, hash string, err error) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	old := state.failure
	if old == nil || old.hash != hash || arm.Classify(old.err) != arm.Classify(err) {
		old = &failure{hash: hash}
		state.failure = old
	}
	old.attempts++
	old.err = err
	wait = retryDelay(err, old.attempts, s.jitter())
	old.next = s.clock.Now().Add(wait)
	return wait
}

// retryDelay returns the time until the next try after the attempt-th failure in a row.
func retryDelay(err error, attempt int, jitter float64) time.Duration {
	if httpStatus(err) == http.StatusPreconditionFailed && attempt < 5 {
		// Another writer was faster. Its result is read and merged at once.
		return 100 * time.Millisecond
	}
	return arm.RetryDelay(err, attempt, jitter)
}

// failureOf returns the error of a desired state, nil if there is none, and the time until the next try; 0 means that it is due.
func (s *stateStore) failureOf(key, hash string) (wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	if state == nil || state.failure == nil || state.failure.hash != hash {
		return 0, nil
	}
	return max(0, state.failure.next.Sub(s.clock.Now())), state.failure.err
}

// makeRetryDue makes a failure due now and resets its back-off.
func (s *stateStore) makeRetryDue(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.failure != nil {
		state.failure.attempts, state.failure.next = 0, s.clock.Now()
	}
}

// recordAttempt records that a desired state is being sent.
func (s *stateStore) recordAttempt(key, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.failure != nil {
		state.failure.repeated = state.failure.hash == hash
	}
}

// lastAttemptError returns the error of the previous try of the running write, nil for the first try.
func (s *stateStore) lastAttemptError(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.failure != nil && state.failure.repeated {
		return state.failure.err
	}
	return nil
}

// lastError returns the last error of a resource, for any desired state.
func (s *stateStore) lastError(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.failure != nil {
		return state.failure.err
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

// clearFailure removes the failure of a resource.
func (s *stateStore) clearFailure(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		state.failure = nil
		s.dropIfEmpty(key)
	}
}

// recordPut records a successful PUT of a desired state, the differences in its answer, and those that it was sent for.
func (s *stateStore) recordPut(key, hash string, inAnswer, cause []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	now := &normalization{hash: hash, at: s.clock.Now(), inAnswer: inAnswer}
	if state.alignedHash == hash {
		now.cause = cause
	}
	state.failure, state.normalization, state.alignedHash = nil, now, hash
}

// recordCreation records that a PUT created the resource.
func (s *stateStore) recordCreation(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateFor(key).createdHere = true
}

// wasCreatedHere reports whether a PUT of this process created the existing resource.
func (s *stateStore) wasCreatedHere(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	return state != nil && state.createdHere
}

// recordAligned records that a resource was seen in its desired state. The normalisation of an earlier desired state is dropped: such a
// difference may be a change from outside later, as the size of a scale set whose VMs were deleted.
func (s *stateStore) recordAligned(key, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	state.alignedHash, state.write = hash, ""
	if state.normalization != nil && state.normalization.hash != hash {
		state.normalization = nil
	}
}

// recordDrift records that a resource no longer is in its desired state. first is true if that was not known before.
func (s *stateStore) recordDrift(key string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	first = !state.drifted
	state.drifted = true
	return first
}

// clearDrift records that a resource is in its desired state. drifted is true if it was not before.
func (s *stateStore) clearDrift(key string) (drifted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		drifted, state.drifted = state.drifted, false
		s.dropIfEmpty(key)
	}
	return drifted
}

// wasAligned reports whether the resource was last seen in this desired state.
func (s *stateStore) wasAligned(key, hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	return state != nil && state.alignedHash == hash
}

// setInPlace records whether the current convergence has nothing to do for the resource.
func (s *stateStore) setInPlace(key string, placed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		state.inPlace = placed
	}
}

// wasInPlace reports whether the last convergence had nothing to do for the resource.
func (s *stateStore) wasInPlace(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	return state != nil && state.alignedHash != "" && state.inPlace
}

// setAbsent records whether the current convergence found the resource absent.
func (s *stateStore) setAbsent(key string, absent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if absent {
		s.stateFor(key).absent = true
	} else if state := s.findState(key); state != nil {
		state.absent, state.quotaHolder = false, ""
		s.dropIfEmpty(key)
	}
}

// wasAbsent reports whether the last convergence found the resource absent.
func (s *stateStore) wasAbsent(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	return state != nil && state.absent
}

// setQuotaHolder records which resource needs write quota before an absent one can be created, "" for none.
func (s *stateStore) setQuotaHolder(key string, first arm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		state.quotaHolder = first
	}
}

// quotaHolder returns the resource that needs write quota first, "" for none.
func (s *stateStore) quotaHolder(key string) arm.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.absent {
		return state.quotaHolder
	}
	return ""
}

// quotaDelay reports whether the last write of a resource was not sent for lack of quota, and returns the time until the next try.
func (s *stateStore) quotaDelay(key string) (wait time.Duration, delayed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	if state == nil || state.failure == nil || !arm.IsBudgetEmpty(state.failure.err) {
		return 0, false
	}
	return max(0, state.failure.next.Sub(s.clock.Now())), true
}

// postponeRetry records that a write still has no quota.
func (s *stateStore) postponeRetry(key string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.failure != nil {
		state.failure.err, state.failure.next = err, s.clock.Now().Add(retryDelay(err, state.failure.attempts, s.jitter()))
	}
}

// forgetResource removes all state of a deleted resource and of its children.
func (s *stateStore) forgetResource(id arm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.states, func(key string, _ *resourceState) bool {
		rest, ok := strings.CutPrefix(key, id.Key())
		return ok && (rest == "" || rest[0] == '/' || rest[0] == '|')
	})
}

// retrySiblings makes failures of resources of the same type and parent due now: the deleted resource may be the one that they
// conflicted with, as a security rule with its priority.
func (s *stateStore) retrySiblings(gone arm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := gone.Key()[:strings.LastIndexByte(gone.Key(), '/')+1]
	for key, record := range s.states {
		name, beside := strings.CutPrefix(key, list)
		if beside && !strings.ContainsAny(name, "/|") && record.failure != nil && !arm.IsBudgetEmpty(record.failure.err) {
			record.failure.attempts, record.failure.next = 0, s.clock.Now()
		}
	}
}

// resetMissing records that a planned resource does not exist. State of the former resource is dropped; failures of the creation stay.
func (s *stateStore) resetMissing(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		state.normalization, state.agreement, state.alignedHash, state.createdHere = nil, nil, "", false
		s.dropIfEmpty(key)
	}
}

// isNormalization reports whether the differences are those that a PUT of the same desired state leaves. first is true if that was not
// known before. fromWrite is set if the differences are those of the answer to the PUT.
func (s *stateStore) isNormalization(key, hash string, differences []compare.Difference, fromWrite bool) (remains, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	if state == nil || state.normalization == nil || state.normalization.hash != hash {
		return false, false
	}
	found, lines := state.normalization, formatDifferences(differences)
	atOnce := !found.judged && s.clock.Now().Sub(found.at) <= normalizationWindow
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

func allKnown(differences, known []string) bool {
	return !slices.ContainsFunc(differences, func(line string) bool { return !slices.Contains(known, line) })
}

// recordMatch records that a read after the PUT showed no difference.
func (s *stateStore) recordMatch(key, hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil && state.normalization != nil && state.normalization.hash == hash {
		state.normalization.judged = true
	}
}

// desiredHash identifies a desired state. It covers write-only values and is kept in memory only.
func desiredHash(want compare.Desired) string {
	raw, err := json.Marshal([]any{want.Body, want.OwnedPaths, want.DropTags})
	if err != nil {
		// Decoded JSON always marshals.
		return "unmarshallable"
	}
	return hashOf(raw)
}

// bodyHash identifies the body of an action. It is kept in memory only.
func bodyHash(body any) string {
	raw, err := json.Marshal(body)
	if err != nil {
		return "unmarshallable" // The client returns this error when it sends the action.
	}
	return hashOf(raw)
}

func hashOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// recordActionEnd records the failure of an action and the time of its next try, or that it has succeeded. The delay is the one that
// conditions about requests outside of convergences name.
func (s *stateStore) recordActionEnd(key, hash string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if state := s.findState(key); state != nil {
			state.failure = nil
			s.dropIfEmpty(key)
		}
		return
	}
	s.stateFor(key).failure = &failure{hash: hash, err: err, next: s.clock.Now().Add(arm.ReadRetryDelay(err))}
}

// pendingActionFailure returns the error of an action whose retry is not due yet, nil if it can be sent.
func (s *stateStore) pendingActionFailure(key, hash string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.findState(key)
	if state == nil || state.failure == nil || state.failure.hash != hash || !s.clock.Now().Before(state.failure.next) {
		return nil
	}
	return state.failure.err
}

// storeActionResult stores the result of an action until the waiting objects take it.
func (s *stateStore) storeActionResult(key string, objects []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.stateFor(key)
	state.actionResults = map[string]error{}
	for _, object := range objects {
		state.actionResults[object] = err
	}
	s.dropIfEmpty(key)
}

// takeActionResult returns and removes the result of an action; ok is false if there is none for the object.
func (s *stateStore) takeActionResult(key, object string) (err error, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state := s.findState(key); state != nil {
		err, ok = state.actionResults[object]
		delete(state.actionResults, object)
		s.dropIfEmpty(key)
	}
	return err, ok
}
