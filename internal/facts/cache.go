package facts

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// maxEntries bounds a cache. A catalog takes one to two megabytes.
const maxEntries = 64

// answerCache keeps answers for a limited time, and errors until the next try is due. Concurrent callers share one request.
type answerCache[V any] struct {
	*expiring.Cache[V]
	failures *failures
}

func newAnswerCache[V any](ttl time.Duration, now func() time.Time) *answerCache[V] {
	return &answerCache[V]{Cache: expiring.New[V](ttl, maxEntries, now), failures: newFailures(now)}
}

// getOrAsk returns the answer for key. It asks for it if there is none or it is too old.
func (c *answerCache[V]) getOrAsk(ctx context.Context, asker Asker, key string, ask func(context.Context) (V, error)) (V, error) {
	return c.Fetch(ctx, key, func(ctx context.Context) (V, error) { return askUnlessFailed(ctx, c.failures, asker, key, ask) })
}

// startAsking returns the answer for key if it is cached, or the error of the last request. Otherwise it returns false, asks in the
// background and then calls arrived, with an answer or an error. With wait it asks before it returns, and does not call arrived.
func (c *answerCache[V]) startAsking(ctx context.Context, asker Asker, key string, ask func(context.Context) (V, error), wait bool,
	arrived func()) (V, bool, error) {
	value, ok := c.Get(key)
	if ok {
		return value, true, nil
	}
	if err := c.failures.pendingError(asker, key); err != nil {
		return value, false, err
	}
	if wait {
		value, err := c.getOrAsk(ctx, asker, key, ask)
		return value, err == nil, err
	}
	go func() {
		// The next caller gets the error.
		_, _ = c.getOrAsk(context.WithoutCancel(ctx), asker, key, ask)
		arrived()
	}()
	return value, false, nil
}
