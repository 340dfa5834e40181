package facts

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// maxFailures is how many failures are kept before those that are over are looked for.
const maxFailures = 256

// failures remember which questions Azure answered with an error: until its next try a question is not put again, by whomever.
type failures struct {
	now func() time.Time

	mu         sync.Mutex
	byQuestion map[string]failure
}

// failure is the last error of one question.
type failure struct {
	err     error
	retryAt time.Time
	// knownTo are those who know the error, each by what it asked from.
	knownTo map[string]any
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, byQuestion: map[string]failure{}}
}

// askerKey is the key of the asker in a context.
type askerKey struct{}

type asker struct {
	name  string
	input any
}

// WithAsker is a context for the questions that follow from input, which is comparable, of somebody with this name. Who was told
// an error and comes with another input has been corrected, so its questions are put at once.
func WithAsker(ctx context.Context, name string, input any) context.Context {
	return context.WithValue(ctx, askerKey{}, asker{name, input})
}

// pendingError is the error of a question whose next try is not due.
func (f *failures) pendingError(ctx context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.byQuestion[key]
	if !ok {
		return nil
	}
	who, _ := ctx.Value(askerKey{}).(asker)
	before, told := found.knownTo[who.name]
	if told && before != who.input {
		found.retryAt = f.now()
		f.byQuestion[key] = found
	}
	if !f.now().Before(found.retryAt) {
		return nil
	}
	if who.name != "" {
		found.knownTo[who.name] = who.input
	}
	return found.err
}

// lastError is the error that a question was last answered with, nil when that was none. Its next try may be under way.
func (f *failures) lastError(key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byQuestion[key].err
}

// recordAnswer remembers how a question was answered. What Azure did not say is no answer.
func (f *failures) recordAnswer(ctx context.Context, key string, err error) {
	var azure *arm.Error
	refused := errors.As(err, &azure) && azure.Code != client.CodeCanceled
	f.mu.Lock()
	defer f.mu.Unlock()
	if !refused {
		if err == nil {
			delete(f.byQuestion, key)
		}
		return
	}
	if len(f.byQuestion) >= maxFailures {
		for other, found := range f.byQuestion {
			if !f.now().Before(found.retryAt) {
				delete(f.byQuestion, other)
			}
		}
	}
	told := map[string]any{}
	if who, _ := ctx.Value(askerKey{}).(asker); who.name != "" {
		told[who.name] = who.input
	}
	f.byQuestion[key] = failure{err: err, retryAt: f.now().Add(arm.ReadRetryDelay(err)), knownTo: told}
}

// askUnlessFailed puts a question unless it was answered with an error and its next try is not due.
func askUnlessFailed[V any](ctx context.Context, f *failures, key string, question func(context.Context) (V, error)) (V, error) {
	if err := f.pendingError(ctx, key); err != nil {
		var none V
		return none, err
	}
	value, err := question(ctx)
	f.recordAnswer(ctx, key, err)
	return value, err
}
