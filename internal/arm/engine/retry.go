package engine

import (
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// retryState is the last failure of a write, read or action, and when it is tried again. The zero value means no failure.
type retryState struct {
	// hash is the desired state that failed.
	hash     string
	err      error
	attempts int
	// since is when the first of the attempts failed.
	since time.Time
	next  time.Time
	// repeated means that a retry of the same desired state is running.
	repeated bool
}

// record records an error of a desired state and returns the time until the next try.
func (r *retryState) record(hash string, err error, now time.Time, jitter float64) (wait time.Duration) {
	if r.err == nil || r.hash != hash || arm.Classify(r.err) != arm.Classify(err) {
		*r = retryState{hash: hash, since: now}
	}
	r.attempts++
	r.err = err
	wait = retryDelay(err, r.attempts, jitter)
	r.next = now.Add(wait)
	return wait
}

// recordFailure records a failure under a key and returns the time until the next try.
func (e *Engine) recordFailure(key, hash string, err error) (wait time.Duration) {
	e.states.update(key, func(state *resourceState) {
		wait = state.retry.record(hash, err, e.clock.Now(), e.options.Jitter())
	})
	return wait
}

// clearFailure removes the failure under a key.
func (e *Engine) clearFailure(key string) {
	e.states.update(key, func(state *resourceState) { state.retry = retryState{} })
}

// recordAction records the result of an action. The delay of the next try is the one that conditions about requests outside of
// convergences name.
func (r *retryState) recordAction(hash string, err error, now time.Time) {
	since := now
	if err != nil && r.err != nil && r.hash == hash && arm.Classify(r.err) == arm.Classify(err) {
		since = r.since
	}
	*r = retryState{}
	if err != nil {
		*r = retryState{hash: hash, err: err, since: since, next: now.Add(arm.ReadRetryDelay(err))}
	}
}

// failingFor returns for how long the attempts have failed, 0 if the last one did not.
func (r retryState) failingFor(now time.Time) time.Duration {
	if r.err == nil {
		return 0
	}
	return now.Sub(r.since)
}

// retryDelay returns the time until the next try after the attempt-th failure in a row.
func retryDelay(err error, attempt int, jitter float64) time.Duration {
	if httpStatus(err) == http.StatusPreconditionFailed && attempt < 5 {
		// Another writer was faster. Its result is read and merged at once.
		return 100 * time.Millisecond
	}
	return arm.RetryDelay(err, attempt, jitter)
}

func httpStatus(err error) int {
	var e *arm.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// failureOf returns the error of a desired state, nil if there is none, and the time until the next try; 0 means that it is due.
func (r retryState) failureOf(hash string, now time.Time) (wait time.Duration, err error) {
	if r.err == nil || r.hash != hash {
		return 0, nil
	}
	return max(0, r.next.Sub(now)), r.err
}

// makeDue makes the failure due now and resets its back-off.
func (r *retryState) makeDue(now time.Time) {
	if r.err != nil {
		r.attempts, r.next = 0, now
	}
}

// recordAttempt records that a desired state is being sent.
func (r *retryState) recordAttempt(hash string) {
	r.repeated = r.err != nil && r.hash == hash
}

// lastAttemptError returns the error of the previous try of the running write, nil for the first try.
func (r retryState) lastAttemptError() error {
	if !r.repeated {
		return nil
	}
	return r.err
}

// quotaDelay reports whether the last write was not sent for lack of quota, and returns the time until the next try.
func (r retryState) quotaDelay(now time.Time) (wait time.Duration, delayed bool) {
	if !arm.IsBudgetEmpty(r.err) {
		return 0, false
	}
	return max(0, r.next.Sub(now)), true
}

// postpone records that a write still has no quota.
func (r *retryState) postpone(err error, now time.Time, jitter float64) {
	if r.err != nil {
		r.err, r.next = err, now.Add(retryDelay(err, r.attempts, jitter))
	}
}
