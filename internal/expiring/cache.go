// Package expiring keeps values in memory for a limited time.
//
// A Cache never returns a value that is as old as its lifetime or older. Expired values leave memory with later stores, and a bounded
// cache drops its oldest values when there are too many. Concurrent callers of Fetch share one request, which no caller's context ends.
// Errors are not kept.
//
// k8s.io/apimachinery has a similar cache. It needs a clock with timers, has no types and no bound, and does not share requests.
package expiring

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// fetchTimeout bounds a request that several callers share. No deadline of one caller can bound it.
const fetchTimeout = 2 * time.Minute

// Cache keeps values by key. It is safe for concurrent use.
type Cache[V any] struct {
	lifetime   time.Duration
	maxEntries int
	now        func() time.Time
	flight     singleflight.Group

	mu        sync.Mutex
	entries   map[string]entry[V]
	lastSweep time.Time
}

type entry[V any] struct {
	value V
	at    time.Time
}

// New returns an empty cache. It keeps at most maxEntries values; 0 means any number.
func New[V any](lifetime time.Duration, maxEntries int, now func() time.Time) *Cache[V] {
	return &Cache[V]{lifetime: lifetime, maxEntries: maxEntries, now: now, entries: map[string]entry[V]{}}
}

// Get returns the value of a key; ok is false if there is none.
func (c *Cache[V]) Get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(key)
}

// Set stores the value of a key.
func (c *Cache[V]) Set(key string, value V) {
	c.Update(key, func(V) V { return value })
}

// Update stores the result of change, which gets the former value, the zero value if there is none. The value is as new as this call.
func (c *Cache[V]) Update(key string, change func(V) V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	former, _ := c.get(key)
	c.entries[key] = entry[V]{change(former), c.now()}
	c.dropExpired()
	if c.maxEntries > 0 && len(c.entries) > c.maxEntries {
		c.dropOldest(key)
	}
}

// Take returns and deletes the value of a key; ok is false if there is none.
func (c *Cache[V]) Take(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.get(key)
	delete(c.entries, key)
	return value, ok
}

// Fetch returns the value of a key, or else the result of fetch, which it stores. If a caller's context ends, the request goes on for
// the other callers.
func (c *Cache[V]) Fetch(ctx context.Context, key string, fetch func(context.Context) (V, error)) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	result := c.flight.DoChan(key, func() (any, error) {
		// Another flight may have ended since the look-up above.
		if value, ok := c.Get(key); ok {
			return value, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		value, err := fetch(ctx)
		if err == nil {
			c.Set(key, value)
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

// Len returns the number of values in memory.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

func (c *Cache[V]) get(key string) (value V, ok bool) {
	found, ok := c.entries[key]
	if !ok || c.isExpired(found) {
		return value, false
	}
	return found.value, true
}

func (c *Cache[V]) isExpired(e entry[V]) bool { return c.now().Sub(e.at) >= c.lifetime }

// dropExpired drops expired values, at most twice per lifetime.
func (c *Cache[V]) dropExpired() {
	now := c.now()
	if now.Sub(c.lastSweep) < c.lifetime/2 {
		return
	}
	c.lastSweep = now
	maps.DeleteFunc(c.entries, func(_ string, e entry[V]) bool { return c.isExpired(e) })
}

// dropOldest drops the oldest value, but not the one of key, which was just stored.
func (c *Cache[V]) dropOldest(key string) {
	oldest := key
	for other, e := range c.entries {
		if other != key && (oldest == key || e.at.Before(c.entries[oldest].at)) {
			oldest = other
		}
	}
	delete(c.entries, oldest)
}
