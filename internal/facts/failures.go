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

	mu sync.Mutex
	of map[string]failure
}

// failure is the last error of one question.
type failure struct {
	err   error
	until time.Time
	// told are those who know the error, each by what it asked from.
	told map[string]any
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, of: map[string]failure{}}
}

// asking is the key of the asker in a context.
type asking struct{}

type asker struct {
	name  string
	input any
}

// Asking is a context for the questions that follow from input, which is comparable, of somebody with this name. Who was told
// an error and comes with another input has been corrected, so its questions are put at once.
func Asking(ctx context.Context, name string, input any) context.Context {
	return context.WithValue(ctx, asking{}, asker{name, input})
}

// standing is the error of a question whose next try is not due.
func (f *failures) standing(ctx context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.of[key]
	if !ok {
		return nil
	}
	who, _ := ctx.Value(asking{}).(asker)
	before, told := found.told[who.name]
	if told && before != who.input {
		found.until = f.now()
		f.of[key] = found
	}
	if !f.now().Before(found.until) {
		return nil
	}
	if who.name != "" {
		found.told[who.name] = who.input
	}
	return found.err
}

// last is the error that a question was last answered with, nil when that was none. Its next try may be under way.
func (f *failures) last(key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of[key].err
}

// note remembers how a question was answered. What Azure did not say is no answer.
func (f *failures) note(ctx context.Context, key string, err error) {
	var azure *arm.Error
	refused := errors.As(err, &azure) && azure.Code != client.CodeCanceled
	f.mu.Lock()
	defer f.mu.Unlock()
	if !refused {
		if err == nil {
			delete(f.of, key)
		}
		return
	}
	if len(f.of) >= maxFailures {
		for other, found := range f.of {
			if !f.now().Before(found.until) {
				delete(f.of, other)
			}
		}
	}
	told := map[string]any{}
	if who, _ := ctx.Value(asking{}).(asker); who.name != "" {
		told[who.name] = who.input
	}
	f.of[key] = failure{err: err, until: f.now().Add(arm.ReadRetryDelay(err)), told: told}
}

// ask puts a question unless it was answered with an error and its next try is not due.
func ask[V any](ctx context.Context, f *failures, key string, question func(context.Context) (V, error)) (V, error) {
	if err := f.standing(ctx, key); err != nil {
		var none V
		return none, err
	}
	value, err := question(ctx)
	f.note(ctx, key, err)
	return value, err
}
