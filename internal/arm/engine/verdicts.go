package engine

import (
	"context"
	"maps"
	"sync"
	"time"
)

// verdicts remembers for a moment which resource groups go as a whole, which each of a cluster's machines wants to know.
type verdicts struct {
	clock Clock
	valid time.Duration

	mu sync.Mutex
	of map[string]*verdict
}

// verdict is about one group.
type verdict struct {
	goes bool
	at   time.Time
	// found is closed when whoever finds it out has done so; nil when nobody does.
	found chan struct{}
}

func newVerdicts(clock Clock, valid time.Duration) *verdicts {
	return &verdicts{clock: clock, valid: valid, of: map[string]*verdict{}}
}

// get is what is known under key, or what find finds. An error is nothing to remember.
func (v *verdicts) get(ctx context.Context, key string, find func() (bool, error)) (goes bool, err error) {
	for {
		known, other := v.enter(key)
		if known != nil {
			return known.goes, nil
		}
		if other == nil {
			break
		}
		select {
		case <-other:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	defer func() { v.leave(key, goes, err) }()
	return find()
}

// enter is what is known, or the end of somebody's finding out. Without either the caller has to find out.
func (v *verdicts) enter(key string) (known *verdict, other <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.clock.Now()
	maps.DeleteFunc(v.of, func(_ string, old *verdict) bool { return old.found == nil && now.Sub(old.at) > v.valid })
	switch found := v.of[key]; {
	case found == nil:
		v.of[key] = &verdict{found: make(chan struct{})}
		return nil, nil
	case found.found != nil:
		return nil, found.found
	default:
		return found, nil
	}
}

func (v *verdicts) leave(key string, goes bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.of[key].found)
	if err != nil {
		delete(v.of, key)
		return
	}
	v.of[key] = &verdict{goes: goes, at: v.clock.Now()}
}
