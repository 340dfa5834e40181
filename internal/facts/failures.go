package facts

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

const (
	// maxFailures is the number of failures from which on expired ones are deleted at once.
	maxFailures = 256
	// keptFailure is the time after which an overdue failure is forgotten. An object that still needs the answer tries again earlier.
	keptFailure = time.Hour
)

// failures records the questions that Azure answered with an error. No caller asks such a question again until its next try is due.
type failures struct {
	now func() time.Time

	mu         sync.Mutex
	byQuestion map[string]failure
	lastSweep  time.Time
}

// failure is the last error of one question.
type failure struct {
	err     error
	retryAt time.Time
	// knownTo are the askers that got the error, with their input at the time.
	knownTo map[string]any
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, byQuestion: map[string]failure{}}
}

// pendingError returns the error of a question whose next try is not due yet, else nil.
func (f *failures) pendingError(caller Caller, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.byQuestion[key]
	if !ok {
		return nil
	}
	before, told := found.knownTo[caller.Name]
	if told && before != caller.Input {
		found.retryAt = f.now()
		f.byQuestion[key] = found
	}
	if !f.now().Before(found.retryAt) {
		return nil
	}
	if caller.Name != "" {
		found.knownTo[caller.Name] = caller.Input
	}
	return found.err
}

// lastError returns the last error of a question, nil after a success. A next try may be in progress.
func (f *failures) lastError(key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byQuestion[key].err
}

// recordAnswer records the result of a question. Only answers of Azure count, not canceled requests or network errors.
func (f *failures) recordAnswer(caller Caller, key string, err error) {
	var azure *arm.Error
	refused := errors.As(err, &azure) && azure.Code != client.CodeCanceled
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.lastSweep) >= keptFailure {
		// Questions of deleted objects, and of principals whose secret was rotated, are not asked again.
		f.lastSweep = now
		f.dropOlderThan(keptFailure)
	}
	if !refused {
		if err == nil {
			delete(f.byQuestion, key)
		}
		return
	}
	if len(f.byQuestion) >= maxFailures {
		f.dropOlderThan(0)
	}
	told := map[string]any{}
	if caller.Name != "" {
		told[caller.Name] = caller.Input
	}
	f.byQuestion[key] = failure{err: err, retryAt: f.now().Add(arm.ReadRetryDelay(err)), knownTo: told}
}

// dropOlderThan forgets the failures whose next try has been due for this long.
func (f *failures) dropOlderThan(age time.Duration) {
	now := f.now()
	maps.DeleteFunc(f.byQuestion, func(_ string, found failure) bool { return now.Sub(found.retryAt) >= age })
}

// RunUnlessFailed runs a step that sends requests for one caller, for example reads and actions that depend on them. If Azure answered the
// last run with an error, it returns that error until the next try is due. name identifies the step.
func (f *Facts) RunUnlessFailed(ctx context.Context, caller Caller, name string, step func(context.Context) error) error {
	_, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey("step|"+name), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, step(ctx)
	})
	return err
}

// askUnlessFailed asks a question, unless the last answer was an error and the next try is not due yet.
func askUnlessFailed[V any](ctx context.Context, f *failures, caller Caller, key string, question func(context.Context) (V, error)) (V,
	error) {
	if err := f.pendingError(caller, key); err != nil {
		var none V
		return none, err
	}
	value, err := question(ctx)
	f.recordAnswer(caller, key, err)
	return value, err
}
