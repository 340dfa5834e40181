package facts

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// maxEntries bounds a cache. A catalog takes one to two megabytes.
	maxEntries = 64
	// fetchTimeout bounds a request that several callers share. No deadline of one caller can bound it.
	fetchTimeout = 2 * time.Minute
)

// cache keeps answers for a limited time, and errors until the next try is due. Concurrent callers share one request.
type cache[V any] struct {
	ttl      time.Duration
	now      func() time.Time
	flight   singleflight.Group
	failures *failures

	mu      sync.Mutex
	entries map[string]cacheEntry[V]
}

type cacheEntry[V any] struct {
	value V
	at    time.Time
}

func newCache[V any](ttl time.Duration, now func() time.Time) *cache[V] {
	return &cache[V]{ttl: ttl, now: now, entries: map[string]cacheEntry[V]{}, failures: newFailures(now)}
}

// getOrFetch returns the answer for key. It fetches the answer if there is none or it is too old. If a caller's context ends, the
// request goes on for the other callers.
func (c *cache[V]) getOrFetch(ctx context.Context, asker Asker, key string, fetch func(context.Context) (V, error)) (V, error) {
	if value, ok := c.lookupFresh(key); ok {
		return value, nil
	}
	result := c.flight.DoChan(key, func() (any, error) {
		// Another flight may have ended since the look-up above.
		if value, ok := c.lookupFresh(key); ok {
			return value, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		value, err := askUnlessFailed(ctx, c.failures, asker, key, fetch)
		if err == nil {
			c.store(key, value)
		}
		return value, err
	})
	select {
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	case answer := <-result:
		value, _ := answer.Val.(V)
		return value, answer.Err
	}
}

// startFetch returns the answer for key if it is cached, or the error of the last request. Otherwise it returns false, fetches the
// answer in the background and then calls arrived, with an answer or an error.
func (c *cache[V]) startFetch(ctx context.Context, asker Asker, key string, fetch func(context.Context) (V, error), arrived func()) (V, bool, error) {
	value, ok := c.lookupFresh(key)
	if ok {
		return value, true, nil
	}
	if err := c.failures.pendingError(asker, key); err != nil {
		return value, false, err
	}
	go func() {
		// The next caller gets the error.
		_, _ = c.getOrFetch(context.WithoutCancel(ctx), asker, key, fetch)
		arrived()
	}()
	return value, false, nil
}

func (c *cache[V]) lookupFresh(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e.value, ok && c.now().Sub(e.at) < c.ttl
}

// store keeps a value. It drops expired values, and the oldest one if there are too many.
func (c *cache[V]) store(key string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.entries[key] = cacheEntry[V]{value, now}
	maps.DeleteFunc(c.entries, func(_ string, e cacheEntry[V]) bool { return now.Sub(e.at) >= c.ttl })
	if len(c.entries) <= maxEntries {
		return
	}
	oldest := key
	for k, e := range c.entries {
		if e.at.Before(c.entries[oldest].at) {
			oldest = k
		}
	}
	delete(c.entries, oldest)
}
