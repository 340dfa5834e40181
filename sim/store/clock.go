package store

import (
	"context"
	"sync"
	"time"
)

// Clock is the simulator's time. Operations end, latencies pass and token buckets refill by it.
type Clock interface {
	Now() time.Time
	// Sleep returns when d has passed or ctx is done. On a Virtual clock it returns at once: virtual time only moves
	// by explicit calls.
	Sleep(ctx context.Context, d time.Duration)
}

// Real is the wall clock.
type Real struct{}

// Now implements Clock.
func (Real) Now() time.Time { return time.Now().UTC() }

// Sleep implements Clock.
func (Real) Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Virtual stands still until it is moved.
type Virtual struct {
	mu  sync.Mutex
	now time.Time
}

// NewVirtual returns a clock that shows start.
func NewVirtual(start time.Time) *Virtual { return &Virtual{now: start.UTC()} }

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Sleep implements Clock; it returns at once.
func (v *Virtual) Sleep(context.Context, time.Duration) {}

// Set moves the clock to t. It never goes back.
func (v *Virtual) Set(t time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.After(v.now) {
		v.now = t.UTC()
	}
}

// Reset moves the clock to t, back as well: for a state that is of another time.
func (v *Virtual) Reset(t time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = t.UTC()
}
