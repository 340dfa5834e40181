// Package expiring keeps values in memory for a limited time.
//
// A Cache never returns a value that is as old as its lifetime or older. The age counts from the store of the value, or, in a cache of
// NewIdle, from its last use. Expired values leave memory with calls after an eighth of a lifetime. When there are too many values, a
// bounded cache drops the one whose last use is the longest ago. Concurrent callers of Fetch share one request, which no caller's context
// ends, and those of GetOrMake share one call. Callers with other keys do not wait for it. Errors are not kept.
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
	// idle means that each use renews a value.
	idle   bool
	flight singleflight.Group

	mu        sync.Mutex
	entries   map[string]entry[V]
	count     uint64 // orders entries
	lastSweep time.Time
}

// entry is a value with the time of its store, or of its last use in an idle cache, and the count of its last use.
type entry[V any] struct {
	value V
	at    time.Time
	count uint64
}

// New returns an empty cache. It keeps at most maxEntries values; 0 means any number.
func New[V any](lifetime time.Duration, maxEntries int, now func() time.Time) *Cache[V] {
	return &Cache[V]{lifetime: lifetime, maxEntries: maxEntries, now: now, entries: map[string]entry[V]{}}
}

// NewIdle is New for values that expire when they were not used for their lifetime.
func NewIdle[V any](lifetime time.Duration, maxEntries int, now func() time.Time) *Cache[V] {
	out := New[V](lifetime, maxEntries, now)
	out.idle = true
	return out
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
	c.store(key, change(former))
}

// GetOrMake returns the value of a key, or else the result of make, which it stores. make must not ask for the same key.
func (c *Cache[V]) GetOrMake(key string, make func() (V, error)) (V, error) {
	if value, ok := c.Get(key); ok {
		return value, nil
	}
	made, err, _ := c.flight.Do(key, func() (any, error) {
		// Another flight may have ended since the look-up above.
		if value, ok := c.Get(key); ok {
			return value, nil
		}
		value, err := make()
		if err == nil {
			c.Set(key, value)
		}
		return value, err
	})
	value, _ := made.(V)
	return value, err
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
	c.dropExpired()
	found, ok := c.entries[key]
	if !ok || c.isExpired(found) {
		return value, false
	}
	if c.idle {
		found.at = c.now()
	}
	c.count++
	found.count = c.count
	c.entries[key] = found
	return found.value, true
}

func (c *Cache[V]) store(key string, value V) {
	c.count++
	c.entries[key] = entry[V]{value, c.now(), c.count}
	if c.maxEntries > 0 && len(c.entries) > c.maxEntries {
		c.dropLeastRecentlyUsed()
	}
}

func (c *Cache[V]) isExpired(e entry[V]) bool { return c.now().Sub(e.at) >= c.lifetime }

// dropExpired drops expired values, at most once per eighth of a lifetime.
func (c *Cache[V]) dropExpired() {
	now := c.now()
	if now.Sub(c.lastSweep) < c.lifetime/8 {
		return
	}
	c.lastSweep = now
	maps.DeleteFunc(c.entries, func(_ string, e entry[V]) bool { return c.isExpired(e) })
}

// dropLeastRecentlyUsed drops the value whose store or last use is the longest ago.
func (c *Cache[V]) dropLeastRecentlyUsed() {
	oldest, least := "", c.count
	for key, e := range c.entries {
		if e.count <= least {
			oldest, least = key, e.count
		}
	}
	delete(c.entries, oldest)
}
