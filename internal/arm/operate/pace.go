package operate

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// pace decides how often to look at an operation, and learns how long operations take.
type pace struct {
	mu     sync.Mutex
	recent map[string][]time.Duration
}

func newPace() *pace { return &pace{recent: map[string][]time.Duration{}} }

func paceKey(op *Operation) string { return strings.ToLower(op.ID.Type()) + " " + string(op.State) }

// next is the time until the next look at an operation that has taken elapsed so far. It grows with the operation, so
// that the time lost is about a thirtieth of it. Once it is known how long such operations take, it skips the time in
// which none of the last ones ended and looks more closely after that.
func (p *pace) next(key string, elapsed time.Duration, spare float64) time.Duration {
	p.mu.Lock()
	recent := p.recent[key]
	p.mu.Unlock()
	part, skip := time.Duration(16), time.Duration(0)
	if len(recent) >= 3 {
		part, skip = 32, slices.Min(recent)*8/10-elapsed
	}
	delay := min(max(elapsed/part, 100*time.Millisecond), max(4*time.Second, elapsed/120))
	if spare < 0.5 {
		delay *= 3
	}
	return max(delay, skip)
}

// record notes how long an operation took.
func (p *pace) record(key string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := append(slices.Clone(p.recent[key]), took)
	p.recent[key] = recent[max(0, len(recent)-8):]
}
