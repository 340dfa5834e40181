package harness

import (
	"sync"
	"time"
)

// clock is the system's clock with an offset that tests move. It implements engine.Clock and queue.Clock.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
	timers map[*timer]bool
}

// timer calls a function when the clock has reached a time, by itself or because a test moves it.
type timer struct {
	due  time.Time
	call func()
	real *time.Timer
}

// Now implements engine.Clock.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

// AfterFunc implements engine.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{due: time.Now().Add(c.offset + d), call: f}
	t.real = time.AfterFunc(d, func() {
		if c.remove(t) {
			f()
		}
	})
	if c.timers == nil {
		c.timers = map[*timer]bool{}
	}
	c.timers[t] = true
	return func() bool { return c.remove(t) }
}

// remove removes a timer and reports whether it was still set.
func (c *clock) remove(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := c.timers[t]
	delete(c.timers, t)
	t.real.Stop()
	return set
}

// advance moves the clock and calls the functions that are due then.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	now := time.Now().Add(c.offset)
	for t := range c.timers {
		if !t.due.After(now) {
			delete(c.timers, t)
			t.real.Stop()
			go t.call()
		}
	}
}

// AdvanceClock moves the clock of the stage's managers: their cached reads from Azure are no longer fresh, and the syncs and retries that
// were due meanwhile begin. In virtual time the test sleeps, which takes no real time and lets the time of the bubble pass in steps.
func (s *Stage) AdvanceClock(d time.Duration) {
	if s.virtual {
		for end := time.Now().Add(d); time.Now().Before(end); {
			time.Sleep(min(30*time.Second, time.Until(end)))
			s.actMeanwhile()
		}
		return
	}
	s.clock.advance(d)
}

// SyncPeriod is a ManagerOptions.SyncPeriod that is longer than most stages live: their resyncs are those that ResyncUntil makes due.
// A manager that resyncs each second uses processor time for resyncs that no test waits for, and more of it on a busy machine.
const SyncPeriod = time.Minute

// ResyncUntil makes a resync of all objects of managers with SyncPeriod due, and waits until the requests to Azure since then are as
// wanted. It returns them.
func (s *Stage) ResyncUntil(what string, wanted func(requests []string) bool) []string {
	s.T.Helper()
	if !s.virtual {
		s.waitIdle()
	}
	mark, polls := s.Azure.MarkRequests(), 0
	s.Eventually(what, func() bool {
		// An object that a worker still has while the clock moves is due at the next period. Virtual time reaches it by itself.
		if polls == 0 || !s.virtual && polls%20 == 0 {
			s.AdvanceClock(SyncPeriod)
		}
		polls++
		return wanted(s.Azure.RequestsSince(mark))
	})
	return s.Azure.RequestsSince(mark)
}

// waitIdle waits until the managers send no requests to Azure for two polls, for three seconds at most.
func (s *Stage) waitIdle() {
	s.T.Helper()
	last, idle, polls := s.Azure.MarkRequests(), -1, 0
	s.Eventually("no requests to Azure", func() bool {
		now := s.Azure.MarkRequests()
		if idle++; now != last {
			idle = 0
		}
		last = now
		polls++
		return idle == 2 || polls == 20
	})
}
