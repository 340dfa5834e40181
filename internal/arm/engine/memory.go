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

// memory is what the engine remembers of resources between passes. Losing it costs a few requests and no correctness. What is
// known of a resource goes when the resource is known to be gone; what no pass has asked for in a day goes, too, as with a
// resource that no object plans any more.
type memory struct {
	clock  Clock
	jitter func() float64

	mu      sync.Mutex
	records map[string]*record // by ID key, with a suffix for what is remembered beside the resource's state
	swept   time.Time
	packer  compressed.Compressor
}

// record is what is remembered under one key.
type record struct {
	failure  *failure
	residual *residual
	// agreement is for resources that are not changed in place.
	agreement *agreement
	// line is the desired state that the resource was seen in, and drifted that it was not in that any more afterwards.
	line    string
	drifted bool
	// made means that a PUT of this process has made the resource.
	made bool
	// placed means that the last pass which looked at the resource had nothing to do to it, absent that it was not there.
	placed, absent bool
	// waitsFor is the resource whose turn at a budget has to come before this one, which is absent, can be made.
	waitsFor arm.ID
	// ended is how an action ended, by the object that waits for it.
	ended map[string]error
	// used is when a pass asked for it last.
	used time.Time
}

// unusedFor is how long what nobody asks for is remembered: far longer than objects that are in order are left alone.
const unusedFor = 24 * time.Hour

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

// judgeWithin is how long after a PUT differences are taken for what Azure made of it that the answer to it did not say. What is
// seen first later than that may as well be somebody's change.
const judgeWithin = 30 * time.Second

// residual are the differences that a PUT of a desired state leaves: Azure's normalisation, which another PUT would not change.
// They are what the answer to it says. What only a later read shows may be somebody's change: it is sent once more, and is
// Azure's when it is back at once.
type residual struct {
	hash string
	// said are the differences in the answer, cause those that the PUT was sent for although it had been sent before.
	said, cause []string
	// at is when the PUT had ended, judged means that a read has been compared since.
	at     time.Time
	judged bool
	// told are those that were found to remain before.
	told []string
}

func newMemory(clock Clock, jitter func() float64) *memory {
	return &memory{clock: clock, jitter: jitter, records: map[string]*record{}}
}

// find is what is remembered under a key, or nil.
func (m *memory) find(key string) *record {
	found := m.records[key]
	if found != nil {
		found.used = m.clock.Now()
	}
	return found
}

// of is find for what is about to be remembered.
func (m *memory) of(key string) *record {
	m.sweep()
	if m.records[key] == nil {
		m.records[key] = &record{}
	}
	return m.find(key)
}

// drop ends a change that may have left nothing to remember.
func (m *memory) drop(key string) {
	if r := m.records[key]; r != nil && r.failure == nil && r.residual == nil && r.agreement == nil && r.line == "" && !r.drifted && !r.made && !r.absent && len(r.ended) == 0 {
		delete(m.records, key)
	}
}

// sweep drops, now and then, what nobody has asked for.
func (m *memory) sweep() {
	now := m.clock.Now()
	if now.Sub(m.swept) < unusedFor/24 {
		return
	}
	m.swept = now
	maps.DeleteFunc(m.records, func(_ string, r *record) bool { return now.Sub(r.used) > unusedFor })
}

// fail remembers an error of a desired state and says when to try again.
func (m *memory) fail(key, hash string, err error) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(key)
	old := r.failure
	if old == nil || old.hash != hash || arm.Classify(old.err) != arm.Classify(err) {
		old = &failure{hash: hash}
		r.failure = old
	}
	old.attempts++
	old.err = err
	wait = nextTry(err, old.attempts, m.jitter())
	old.next = m.clock.Now().Add(wait)
	return wait
}

// nextTry is when to try again after the attempt-th failure in a row.
func nextTry(err error, attempt int, jitter float64) time.Duration {
	if statusOf(err) == http.StatusPreconditionFailed && attempt < 5 {
		// Somebody was faster: what is there now is read and merged at once.
		return 100 * time.Millisecond
	}
	return arm.RetryDelay(err, attempt, jitter)
}

// failed is the failure of a desired state, nil when there is none, and how long to wait until the next try; 0 means that
// it is due.
func (m *memory) failed(key, hash string) (wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	if found == nil || found.failure == nil || found.failure.hash != hash {
		return 0, nil
	}
	return max(0, found.failure.next.Sub(m.clock.Now())), found.failure.err
}

// hasten makes a failure due now, as if it were the first.
func (m *memory) hasten(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.failure != nil {
		found.failure.attempts, found.failure.next = 0, m.clock.Now()
	}
}

// trying notes that a desired state is sent.
func (m *memory) trying(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.failure != nil {
		found.failure.repeated = found.failure.hash == hash
	}
}

// again is how what is under way failed the last time, nil for the first try.
func (m *memory) again(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.failure != nil && found.failure.repeated {
		return found.failure.err
	}
	return nil
}

// last is the last failure of a resource, whatever was desired then.
func (m *memory) last(key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.failure != nil {
		return found.failure.err
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
	if found := m.find(key); found != nil {
		found.failure = nil
		m.drop(key)
	}
}

// put notes that a PUT of a desired state succeeded, what differs from that in the answer to it, and what it was sent for.
func (m *memory) put(key, hash string, said, sentFor []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(key)
	now := &residual{hash: hash, at: m.clock.Now(), said: said}
	if r.line == hash {
		now.cause = sentFor
	}
	r.failure, r.residual, r.line = nil, now, hash
}

// make notes that a PUT has made a resource that was not there.
func (m *memory) make(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).made = true
}

// made tells whether a PUT of this process has made the resource that is there.
func (m *memory) made(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	return found != nil && found.made
}

// aligned notes that a resource was seen in its desired state. What remained after a PUT of another one says nothing any more:
// a difference from that may be somebody's change since, as of the size of a scale set whose VMs were deleted.
func (m *memory) aligned(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(key)
	r.line = hash
	if r.residual != nil && r.residual.hash != hash {
		r.residual = nil
	}
}

// drift notes that a resource which was seen in its desired state is not any more, and tells whether that is news.
func (m *memory) drift(key string) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(key)
	first = !r.drifted
	r.drifted = true
	return first
}

// mended notes that a resource is in its desired state, and tells whether it had drifted from it.
func (m *memory) mended(key string) (drifted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil {
		drifted, found.drifted = found.drifted, false
		m.drop(key)
	}
	return drifted
}

// inLine tells whether a resource was seen in this desired state.
func (m *memory) inLine(key, hash string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	return found != nil && found.line == hash
}

// place notes whether the pass that looks at a resource has nothing to do to it.
func (m *memory) place(key string, placed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil {
		found.placed = placed
	}
}

// inPlace tells whether the last pass that looked at a resource had nothing to do to it.
func (m *memory) inPlace(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	return found != nil && found.line != "" && found.placed
}

// absence notes whether the pass that looks at a resource found that it is not there.
func (m *memory) absence(key string, absent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if absent {
		m.of(key).absent = true
	} else if found := m.find(key); found != nil {
		found.absent, found.waitsFor = false, ""
		m.drop(key)
	}
}

// absent tells whether the last pass that looked at a resource found that it is not there.
func (m *memory) absent(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	return found != nil && found.absent
}

// waitFor notes whose turn has to come before an absent resource can be made, "" for nobody's.
func (m *memory) waitFor(key string, first arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil {
		found.waitsFor = first
	}
}

// waitsFor is the resource whose turn has to come, "" for none.
func (m *memory) waitsFor(key string) arm.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.absent {
		return found.waitsFor
	}
	return ""
}

// heldBack tells whether the last write of a resource was not sent because there were too many requests, and how long to wait until the
// next try.
func (m *memory) heldBack(key string) (wait time.Duration, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.find(key)
	if found == nil || found.failure == nil || !arm.IsBudgetEmpty(found.failure.err) {
		return 0, false
	}
	return max(0, found.failure.next.Sub(m.clock.Now())), true
}

// postpone notes that it is still not the turn of what heldBack told of.
func (m *memory) postpone(key string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.failure != nil {
		found.failure.err, found.failure.next = err, m.clock.Now().Add(nextTry(err, found.failure.attempts, m.jitter()))
	}
}

// forget drops everything about a resource that is gone, and about what went with it.
func (m *memory) forget(id arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.records, func(key string, _ *record) bool {
		rest, ok := strings.CutPrefix(key, id.Key())
		return ok && (rest == "" || rest[0] == '/' || rest[0] == '|')
	})
}

// retryBeside makes the failures of resources of the same type and parent due now: a resource that is gone may be what they conflicted
// with, as a security rule with its priority.
func (m *memory) retryBeside(gone arm.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := gone.Key()[:strings.LastIndexByte(gone.Key(), '/')+1]
	for key, record := range m.records {
		name, beside := strings.CutPrefix(key, list)
		if beside && !strings.ContainsAny(name, "/|") && record.failure != nil && !arm.IsBudgetEmpty(record.failure.err) {
			record.failure.attempts, record.failure.next = 0, m.clock.Now()
		}
	}
}

// missing notes that a resource that is wanted is not there: what was known of it was of the one before. Why it cannot be
// made stays.
func (m *memory) missing(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil {
		found.residual, found.agreement, found.line, found.made = nil, nil, "", false
		m.drop(key)
	}
}

// remains tells whether differences are what a PUT of the same desired state leaves, and first whether that was not known
// before. fromWrite is set when they are those of the answer to the PUT.
func (m *memory) remains(key, hash string, differences []compare.Difference, fromWrite bool) (remains, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.find(key)
	if r == nil || r.residual == nil || r.residual.hash != hash {
		return false, false
	}
	found, lines := r.residual, prints(differences)
	atOnce := !found.judged && m.clock.Now().Sub(found.at) <= judgeWithin
	found.judged = found.judged || !fromWrite
	if !within(lines, found.said) {
		if !atOnce || !within(lines, slices.Concat(found.said, found.cause)) {
			return false, false
		}
		found.said = slices.Concat(found.said, lines)
	}
	first = !within(lines, found.told)
	found.told = lines
	return true, first
}

func within(lines, known []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(known, line) })
}

// judge notes that a read after the PUT showed no difference.
func (m *memory) judge(key, hash string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil && found.residual != nil && found.residual.hash == hash {
		found.residual.judged = true
	}
}

// hashOf names a desired state. It covers write-only values, and is kept in memory only.
func hashOf(want compare.Desired) string {
	raw, err := json.Marshal([]any{want.Body, want.OwnedPaths, want.DropTags})
	if err != nil {
		// Decoded JSON always marshals.
		return "unmarshallable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// keep stores how an action ended until those who wait for it take it.
func (m *memory) keep(key string, objects []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(key)
	r.ended = map[string]error{}
	for _, object := range objects {
		r.ended[object] = err
	}
	m.drop(key)
}

// take is how an action ended; ok is false when none did that the object waits for.
func (m *memory) take(key, object string) (err error, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.find(key); found != nil {
		err, ok = found.ended[object]
		delete(found.ended, object)
		m.drop(key)
	}
	return err, ok
}
