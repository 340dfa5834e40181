package engine

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// wholeGroupCache remembers for a moment which resource groups go as a whole, which each of a cluster's machines wants to know.
type wholeGroupCache struct {
	clock  Clock
	valid  time.Duration
	flight singleflight.Group

	mu      sync.Mutex
	byGroup map[string]wholeGroupAnswer
}

// wholeGroupAnswer is about one group.
type wholeGroupAnswer struct {
	deleted bool
	at      time.Time
}

func newWholeGroupCache(clock Clock, valid time.Duration) *wholeGroupCache {
	return &wholeGroupCache{clock: clock, valid: valid, byGroup: map[string]wholeGroupAnswer{}}
}

// findOrAsk is what is known under key, or what find finds for all who ask meanwhile. An error is nothing to remember.
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
