package preview

import (
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// clock is the time of a plan. It stands still until it is moved, and then calls the functions that became due, one after the other. It
// implements engine.Clock.
type clock struct {
	*store.Virtual

	mu     sync.Mutex
	timers []*timer
	// called is how many functions were called.
	called int
}

type timer struct {
	due  time.Time
	call func()
}

func newClock(now time.Time) *clock { return &clock{Virtual: store.NewVirtual(now)} }

// AfterFunc implements engine.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{due: c.Now().Add(d), call: f}
	c.timers = append(c.timers, t)
	return func() bool { return c.remove(t) }
}

// remove removes a timer and reports whether it was still set.
func (c *clock) remove(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.Index(c.timers, t)
	if at < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, at, at+1)
	return true
}

// advance moves the clock and calls the functions that become due meanwhile.
func (c *clock) advance(d time.Duration) {
	until := c.Now().Add(d)
	for {
		next := c.next()
		if next == nil || next.due.After(until) {
			c.Set(until)
			return
		}
		c.Set(next.due)
		if c.remove(next) {
			c.called++
			next.call()
		}
	}
}

// next returns the timer that is due first, or nil.
func (c *clock) next() *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return nil
	}
	return slices.MinFunc(c.timers, func(a, b *timer) int { return a.due.Compare(b.due) })
}
