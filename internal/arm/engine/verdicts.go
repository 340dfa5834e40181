package engine

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// verdicts remembers for a moment which resource groups go as a whole, which each of a cluster's machines wants to know.
type verdicts struct {
	clock  Clock
	valid  time.Duration
	flight singleflight.Group

	mu sync.Mutex
	of map[string]verdict
}

// verdict is about one group.
type verdict struct {
	goes bool
	at   time.Time
}

func newVerdicts(clock Clock, valid time.Duration) *verdicts {
	return &verdicts{clock: clock, valid: valid, of: map[string]verdict{}}
}

// get is what is known under key, or what find finds for all who ask meanwhile. An error is nothing to remember.
func (v *verdicts) get(key string, find func() (bool, error)) (bool, error) {
	if known, ok := v.known(key); ok {
		return known, nil
	}
	found, err, _ := v.flight.Do(key, func() (any, error) {
		if known, ok := v.known(key); ok {
			return known, nil
		}
		goes, err := find()
		if err == nil {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.of[key] = verdict{goes: goes, at: v.clock.Now()}
		}
		return goes, err
	})
	return found.(bool), err
}

func (v *verdicts) known(key string) (goes, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.clock.Now()
	maps.DeleteFunc(v.of, func(_ string, old verdict) bool { return now.Sub(old.at) > v.valid })
	found, ok := v.of[key]
	return found.goes, ok
}
