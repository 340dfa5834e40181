package operate

import (
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// pacer decides when to look at an operation, and learns how long operations take.
type pacer struct {
	mu     sync.Mutex
	recent map[string][]time.Duration
}

func newPacer() *pacer { return &pacer{recent: map[string][]time.Duration{}} }

func durationKey(op *Operation) string { return strings.ToLower(op.ID.Type()) + " " + string(op.State) }

const (
	// maxInterval is the most time between two looks, also where a clock has jumped.
	maxInterval = time.Minute
	// minReadInterval is the least time between two looks at a resource, swiftest that between two questions after an operation.
	minReadInterval, minPollInterval = 125 * time.Millisecond, 50 * time.Millisecond
	// shortOperation is less than what takes long enough to be waited for by itself: several operations that are over sooner come one after the
	// other, and what is lost by looking late adds up.
	shortOperation = 10 * time.Second
	// defaultPollDelay is what Azure's polling is about where it names no time, and the soonest that an operation is asked about that
	// cannot be over yet: only to learn early that it has failed.
	defaultPollDelay = 10 * time.Second
)

// progress is how far an operation has come.
type progress struct {
	// key is what operations are alike in, elapsed how long this one has taken so far.
	key     string
	elapsed time.Duration
	// hasURL tells that there is a URL to ask after it; Azure wants to be asked in notBefore at the soonest.
	hasURL    bool
	notBefore time.Duration
	// idleFor is for how long nobody can go on with its end, rest how long all that goes on with it takes at the least.
	idleFor, minRemaining time.Duration
	// shortPolling tells that Azure wants to be asked within less than a second. Only a simulation does, in which time runs faster than
	// what is known of durations.
	shortPolling bool
	// resourceUnhelpful tells that the resource does not show how it goes, or that its reads are needed elsewhere.
	resourceUnhelpful bool
	// startUnknown tells that the operation is older than is known, unseen that the resource did not show it at the last look.
	startUnknown, notShown bool
	// readBudgetLeft is the share of the read budget that is left.
	readBudgetLeft float64
}

// nextCheck is the time until the next look at an operation. ask tells to ask after the operation itself, else it is the resource that is
// looked at.
//
// Before it can be over, it is asked after at three times the time it has taken, so that an early failure is noticed. Then the resource
// is looked at: it shows the end, and what came of it, at once, where the operation may ask for 10 s more. What is lost by looking late
// is about a 44th of the time it takes where that is seconds, a 36th where it is more, a 16th where nothing is known of that or it takes
// long, and a 12th of deletions: nobody waits for one but what is deleted after it. Nobody looks while nobody can go on, and where most
// is still to come, a 240th of that is lost.
func (p *pacer) nextCheck(at progress) (delay time.Duration, ask bool) {
	if at.hasURL && at.shortPolling {
		return max(at.notBefore, min(at.elapsed/12, 5*minPollInterval), minPollInterval), true
	}
	soonest, deleting := p.earliestEnd(at), strings.HasSuffix(at.key, string(arm.Deleting))
	gap, long := checkInterval(at.elapsed, soonest, deleting)
	gap = min(max(gap, at.minRemaining/120), maxInterval)
	if at.readBudgetLeft < client.ScarceReadBudget {
		gap *= 3
	}
	check := max(at.notBefore, 2*at.elapsed, defaultPollDelay)
	switch early := at.elapsed < soonest; {
	case at.hasURL && at.resourceUnhelpful:
		return max(at.notBefore, gap), true
	case early && deleting && soonest <= maxInterval:
		// A deletion that fails is hardly worth to be known of sooner.
		return soonest - at.elapsed, false
	case early && check < soonest-at.elapsed:
		// Without a link, only the resource tells of a failure.
		return check, at.hasURL
	case early:
		return max(at.idleFor, soonest-at.elapsed), false
	}
	if at.idleFor > gap {
		return at.idleFor, false
	}
	// The operation alone knows of what the resource does not show, as that it was cancelled.
	return gap, at.hasURL && at.notBefore <= gap && (at.notShown || long)
}

// checkInterval is the time between two looks at a resource whose operation can be over. long tells that it takes longer than usual.
func checkInterval(elapsed, soonest time.Duration, deleting bool) (gap time.Duration, long bool) {
	switch long = elapsed > 2*soonest; {
	case deleting:
		return max(elapsed/6, time.Second), long
	case soonest > 0 && soonest < shortOperation && elapsed > 3*soonest:
		return max(elapsed/12, 2*minReadInterval), true
	case soonest > 0 && soonest < shortOperation:
		return max(elapsed/22, minReadInterval), false
	case long:
		return max(elapsed/8, 4*minReadInterval), true
	}
	return max(elapsed/18, 2*minReadInterval), false
}

// earliestEnd is the time before which an operation is hardly over: most of the time that such operations take, or the least that one of
// the last ones took.
func (p *pacer) earliestEnd(at progress) time.Duration {
	if at.startUnknown {
		return 0
	}
	return p.minDuration(at.key)
}

// minDuration is what operations hardly take less than.
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

// recordDuration notes how long an operation took.
func (p *pacer) recordDuration(key string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := append(slices.Clone(p.recent[key]), took)
	p.recent[key] = recent[max(0, len(recent)-8):]
}
