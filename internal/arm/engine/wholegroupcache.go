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
func (v *wholeGroupCache) findOrAsk(key string, find func() (bool, error)) (bool, error) {
	if known, ok := v.cachedAnswer(key); ok {
		return known, nil
	}
	found, err, _ := v.flight.Do(key, func() (any, error) {
		if known, ok := v.cachedAnswer(key); ok {
			return known, nil
		}
		goes, err := find()
		if err == nil {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.byGroup[key] = wholeGroupAnswer{deleted: goes, at: v.clock.Now()}
		}
		return goes, err
	})
	return found.(bool), err
}

func (v *wholeGroupCache) cachedAnswer(key string) (goes, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.clock.Now()
	maps.DeleteFunc(v.byGroup, func(_ string, old wholeGroupAnswer) bool { return now.Sub(old.at) > v.valid })
	found, ok := v.byGroup[key]
	return found.deleted, ok
}
