package operate

import (
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// pace decides when to look at an operation, and learns how long operations take.
type pace struct {
	mu     sync.Mutex
	recent map[string][]time.Duration
}

func newPace() *pace { return &pace{recent: map[string][]time.Duration{}} }

func paceKey(op *Operation) string { return strings.ToLower(op.ID.Type()) + " " + string(op.State) }

const (
	// longest is the most time between two looks, also where a clock has jumped.
	longest = time.Minute
	// shortest is the least time between two looks at a resource, and between two questions after an operation.
	shortest = 250 * time.Millisecond
	// courtesy is what Azure's polling is about where it names no time, and the soonest that an operation is asked about that
	// cannot be over yet: only to learn early that it has failed.
	courtesy = 10 * time.Second
)

// progress is how far an operation has come.
type progress struct {
	// key is what operations are alike in, elapsed how long this one has taken so far.
	key     string
	elapsed time.Duration
	// linked tells that there is a URL to ask after it; Azure wants to be asked in notBefore at the soonest.
	linked    bool
	notBefore time.Duration
	// swift tells that Azure wants to be asked within less than a second. Only a simulation does, in which time runs faster than
	// what is known of durations.
	swift bool
	// blind tells that the resource does not show how it goes, or that its reads are needed elsewhere.
	blind bool
	// joined tells that the operation is older than is known, unseen that the resource did not show it at the last look.
	joined, unseen bool
	// spare is the share of the read budget that is left.
	spare float64
}

// next is the time until the next look at an operation. ask tells to ask after the operation itself, else it is the resource that is
// looked at.
//
// Before it can be over, it is asked after at three times the time it has taken, so that an early failure is noticed. Then the resource
// is looked at: it shows the end, and what came of it, at once, where the operation may ask for 10 s more. What is lost by looking late
// is about a 36th of the time it takes, a 16th where nothing is known of that or it takes long, and a 12th of deletions: nobody waits for
// one but what is deleted after it.
func (p *pace) next(at progress) (delay time.Duration, ask bool) {
	if at.linked && at.swift {
		return max(at.notBefore, min(at.elapsed/12, shortest), shortest/5), true
	}
	soonest := p.soonest(at)
	gap, long := max(at.elapsed/18, shortest), at.elapsed > 2*soonest
	deleting := strings.HasSuffix(at.key, string(arm.Deleting))
	switch {
	case deleting:
		gap = max(at.elapsed/6, 4*shortest)
	case long:
		gap = max(at.elapsed/8, 2*shortest)
	}
	gap = min(gap, longest)
	if at.spare < 0.5 {
		gap *= 3
	}
	check := max(at.notBefore, 2*at.elapsed, courtesy)
	switch early := at.elapsed < soonest; {
	case at.linked && at.blind:
		return max(at.notBefore, gap), true
	case early && deleting && soonest <= longest:
		// A deletion that fails is hardly worth to be known of sooner.
		return soonest - at.elapsed, false
	case early && check < soonest-at.elapsed:
		// Without a link, only the resource tells of a failure.
		return check, at.linked
	case early:
		return soonest - at.elapsed, false
	}
	// The operation alone knows of what the resource does not show, as that it was cancelled.
	return gap, at.linked && at.notBefore <= gap && (at.unseen || long)
}

// soonest is the time before which an operation is hardly over: most of the time that such operations take, or the least that one of
// the last ones took.
func (p *pace) soonest(at progress) time.Duration {
	if at.joined {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if recent := p.recent[at.key]; len(recent) >= 3 {
		return slices.Min(recent) * 9 / 10
	}
	return usual[at.key] * 7 / 10
}

// record notes how long an operation took.
func (p *pace) record(key string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recent := append(slices.Clone(p.recent[key]), took)
	p.recent[key] = recent[max(0, len(recent)-8):]
}
