package facts

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

const (
	// maxCatalogs bounds the SKU catalogs. The first one of a region takes one to two megabytes. Others share its sizes and take about ten
	// kilobytes.
	maxCatalogs = 1024
	// maxAnswers bounds the other answers, of which the largest are some kilobytes.
	maxAnswers = 4096
	// unusedTTL is how long an answer waits for its caller. An object that was deleted does not ask again.
	unusedTTL = 10 * time.Minute
)

// answerCache keeps answers for a limited time, and errors until the next try is due. Concurrent callers share one request.
type answerCache[V any] struct {
	*expiring.Cache[V]
	failures *failures
	// unused are the answers of startAsking that no caller has used yet. It has no bound: in a cache with one, newer answers would replace
	// them before their askers return, and these would ask again for ever.
	unused *expiring.Cache[V]
}

func newAnswerCache[V any](ttl time.Duration, maxEntries int, now func() time.Time) *answerCache[V] {
	return &answerCache[V]{Cache: expiring.New[V](ttl, maxEntries, now), failures: newFailures(now),
		unused: expiring.New[V](min(ttl, unusedTTL), 0, now)}
}

// getOrAsk returns the answer for key. It asks for it if there is none or it is too old.
func (c *answerCache[V]) getOrAsk(ctx context.Context, caller Caller, key string, ask func(context.Context) (V, error)) (V, error) {
	return c.Fetch(ctx, key, func(ctx context.Context) (V, error) { return askUnlessFailed(ctx, c.failures, caller, key, ask) })
}

// startAsking returns the answer for key if it is cached, or the error of the last request. Otherwise it returns false, asks in the
// background and then calls arrived, with an answer or an error. With wait it asks before it returns, and does not call arrived.
func (c *answerCache[V]) startAsking(ctx context.Context, caller Caller, key string, ask func(context.Context) (V, error), wait bool,
	arrived func()) (V, bool, error) {
	unused, ok := c.unused.Take(key)
	if value, ok := c.Get(key); ok {
		return value, true, nil
	}
	if ok {
		return unused, true, nil
	}
	var none V
	if err := c.failures.pendingError(caller, key); err != nil {
		return none, false, err
	}
	if wait {
		value, err := c.getOrAsk(ctx, caller, key, ask)
		return value, err == nil, err
	}
	go func() {
		// The next caller gets the error.
		if value, err := c.getOrAsk(context.WithoutCancel(ctx), caller, key, ask); err == nil {
			c.unused.Set(key, value)
		}
		arrived()
	}()
	return none, false, nil
}
