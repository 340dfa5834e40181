package harness

import (
	"sync/atomic"
	"time"
)

// clock is the system's clock with an offset that tests move. Timers that run already do not notice.
type clock struct{ offset atomic.Int64 }

// Now implements engine.Clock.
func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// AfterFunc implements engine.Clock.
func (c *clock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// AdvanceClock moves the clock of the stage's managers: their cached reads from Azure are no longer fresh, and a retry that they put
// off is due when the object is next reconciled. In virtual time the test sleeps, which takes no real time and lets the time of the bubble
// pass in steps.
func (s *Stage) AdvanceClock(d time.Duration) {
	if s.virtual {
		for end := time.Now().Add(d); time.Now().Before(end); {
			time.Sleep(min(30*time.Second, time.Until(end)))
			s.actMeanwhile()
		}
		return
	}
	s.clock.offset.Add(int64(d))
}
