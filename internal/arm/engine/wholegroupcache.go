package engine

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// wholeGroupCache caches for a short time which resource groups are deleted as a whole, because each machine of a cluster needs the
// answer.
type wholeGroupCache struct {
	clock  Clock
	valid  time.Duration
	flight singleflight.Group

	mu      sync.Mutex
	byGroup map[string]wholeGroupAnswer
}

// wholeGroupAnswer is the answer for one group.
type wholeGroupAnswer struct {
	deleted bool
	at      time.Time
}

func newWholeGroupCache(clock Clock, valid time.Duration) *wholeGroupCache {
	return &wholeGroupCache{clock: clock, valid: valid, byGroup: map[string]wholeGroupAnswer{}}
}

// findOrAsk returns the cached answer for key, or the result of find. Concurrent calls share one find. Errors are not cached.
func (c *wholeGroupCache) findOrAsk(key string, find func() (bool, error)) (bool, error) {
	if known, ok := c.cachedAnswer(key); ok {
		return known, nil
	}
	found, err, _ := c.flight.Do(key, func() (any, error) {
		if known, ok := c.cachedAnswer(key); ok {
			return known, nil
		}
		deleted, err := find()
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.byGroup[key] = wholeGroupAnswer{deleted: deleted, at: c.clock.Now()}
		}
		return deleted, err
	})
	return found.(bool), err
}

func (c *wholeGroupCache) cachedAnswer(key string) (deleted, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	maps.DeleteFunc(c.byGroup, func(_ string, old wholeGroupAnswer) bool { return now.Sub(old.at) > c.valid })
	found, ok := c.byGroup[key]
	return found.deleted, ok
}
