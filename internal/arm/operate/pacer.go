package operate

import (
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// pacer schedules the checks of operations and learns the durations of operations.
type pacer struct {
	mu     sync.Mutex
	recent map[string][]time.Duration
}

func newPacer() *pacer { return &pacer{recent: map[string][]time.Duration{}} }

func durationKey(op *Operation) string { return strings.ToLower(op.ID.Type()) + " " + string(op.State) }

const (
	// maxInterval bounds the time between two checks, also if a clock has jumped.
	maxInterval = time.Minute
	// minReadInterval is the minimum time between two reads of a resource, minPollInterval between two polls of a URL.
	minReadInterval, minPollInterval = 125 * time.Millisecond, 50 * time.Millisecond
	// shortOperation bounds the operations that often run in sequence: delays of their checks add up.
	shortOperation = 10 * time.Second
	// defaultPollDelay is Azure's usual polling interval, for answers without one. It is also the first check of an operation that
	// cannot be over yet, to detect an early failure.
	defaultPollDelay = 10 * time.Second
)

// progress is the state of an operation between two checks.
type progress struct {
	// key is the kind of the operation, elapsed its age.
	key     string
	elapsed time.Duration
	// hasURL means that the operation has a URL. Azure accepts the next poll in notBefore.
	hasURL    bool
	notBefore time.Duration
	// idleFor is how long the end can wait without a delay for others, minRemaining how long the remaining work takes at least.
	idleFor, minRemaining time.Duration
	// exactDelay means that the answer had the time of the next poll in milliseconds. Only a simulation does that, whose time is faster
	// than the known durations.
	exactDelay bool
	// resourceUnhelpful means that the resource does not show the progress, or that the read budget is needed for other reads.
	resourceUnhelpful bool
	// startUnknown means that another party began the operation at an unknown time. notShown means that the resource was absent at the
	// last check.
	startUnknown, notShown bool
	// readBudgetLeft is the remaining share of the read budget.
	readBudgetLeft float64
}

// nextCheck returns the time until the next check of an operation. ask means that its URL is polled; otherwise the resource is read.
//
// Before its earliest end the operation is polled once it is three times as old as at the previous check, to detect an early failure.
// After that the resource is read: it shows the end and the result at once, where the operation's URL may ask for 10 s more. The delay
// of the detected end is about a 44th of the duration for operations of seconds, a 36th for longer ones, a 16th for unknown or
// unusually long ones, and a 12th for deletions, which only other deletions wait for. There is no check while no dependant can
// continue; if most of the work is still to come, the delay is a 240th of that.
func (p *pacer) nextCheck(at progress) (delay time.Duration, ask bool) {
	if at.hasURL && at.exactDelay && at.readBudgetLeft >= client.ScarceReadBudget {
		return max(at.notBefore, min(at.elapsed/12, 5*minPollInterval), minPollInterval), true
	}
	earliestEnd, deleting := p.earliestEnd(at), strings.HasSuffix(at.key, string(arm.Deleting))
	gap, overdue := checkInterval(at.elapsed, earliestEnd, deleting)
	gap = min(max(gap, at.minRemaining/120), maxInterval)
	if at.readBudgetLeft < client.ScarceReadBudget {
		gap *= 3
	}
	check := max(at.notBefore, 2*at.elapsed, defaultPollDelay)
	switch early := at.elapsed < earliestEnd; {
	case at.hasURL && at.resourceUnhelpful:
		return max(at.notBefore, gap), true
	case early && deleting && earliestEnd <= maxInterval:
		// An early report of a failed deletion has little use.
		return earliestEnd - at.elapsed, false
	case early && check < earliestEnd-at.elapsed:
		// Without a URL only the resource shows a failure.
		return check, at.hasURL
	case early:
		return max(at.idleFor, earliestEnd-at.elapsed), false
	}
	if at.idleFor > gap {
		return at.idleFor, false
	}
	// Only the URL has results that the resource does not show, for example a cancellation.
	return gap, at.hasURL && at.notBefore <= gap && (at.notShown || overdue)
}

// checkInterval returns the time between two reads of a resource whose operation can be over. overdue means that the operation takes
// longer than usual.
func checkInterval(elapsed, earliestEnd time.Duration, deleting bool) (gap time.Duration, overdue bool) {
	switch overdue = elapsed > 2*earliestEnd; {
	case deleting:
		return max(elapsed/6, time.Second), overdue
	case earliestEnd > 0 && earliestEnd < shortOperation && elapsed > 3*earliestEnd:
		return max(elapsed/12, 2*minReadInterval), true
	case earliestEnd > 0 && earliestEnd < shortOperation:
		return max(elapsed/22, minReadInterval), false
	case overdue:
		return max(elapsed/8, 4*minReadInterval), true
	}
	return max(elapsed/18, 2*minReadInterval), false
}

// earliestEnd returns the age before which an operation is unlikely to end: most of the usual duration, or of the shortest recent one.
func (p *pacer) earliestEnd(at progress) time.Duration {
	if at.startUnknown {
		return 0
	}
	return p.minDuration(at.key)
}

// minDuration returns a lower bound of the duration of operations.
func (p *pacer) minDuration(key string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if recent := p.recent[key]; len(recent) >= 3 {
		return slices.Min(recent) * 9 / 10
	}
	median := usualDurations[key]
	if least := median * 6 / 10; least < shortOperation {
		return least
	}
	return median * 7 / 10
}

// recordDuration records the duration of an operation.
func (p *pacer) recordDuration(key string, duration time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := append(slices.Clone(p.recent[key]), duration)
	p.recent[key] = recent[max(0, len(recent)-8):]
}
