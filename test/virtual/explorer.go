package virtual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// Explorer chooses when each request of a manager is carried out, when each event is delivered, and which of them fail. Requests and events
// happen one after the other, each when everything else waits, and managers read objects from a cache that has only the delivered events.
// Meanwhile the process has one processor, so that goroutines which one answer wakes continue in the same order, and the same decisions have
// the same effects.
type Explorer struct {
	// decide returns the decision about a request or event.
	decide func(of string, nth int, kind callKind) Decision

	mu      sync.Mutex
	waiting []*choice
	added   int
	arrived chan struct{}
	// turn has a value while nothing waits for all other goroutines, which only one may do.
	turn chan struct{}
	// seen counts the requests and events of each name.
	seen map[string]int
	// made are the decisions with a delay or a failure, trace has all requests and events, and met counts the failures.
	made  []Decision
	trace []string
	met   map[Disturbance]int
	// recording records the failures; nil records nothing.
	recording *recording
	// leaseLost is set until the scenario starts another manager.
	leaseLost bool
}

// choice is a request or event that waits. carryOut is called once, and must not block for long.
type choice struct {
	Decision
	due      time.Time
	number   int
	kind     callKind
	carryOut func(Disturbance)
}

var errAnswerLost = errors.New("the answer was lost")

// NewExplorer returns an explorer that draws its decisions from a seed.
func NewExplorer(seed uint64, rates Rates) *Explorer {
	return newExplorer(func(of string, nth int, kind callKind) Decision { return rates.draw(seed, of, nth, kind) })
}

// NewReplay returns an explorer that makes the given decisions and no others.
func NewReplay(decisions []Decision) *Explorer {
	known := map[Decision]Decision{}
	for _, each := range decisions {
		known[Decision{Of: each.Of, Nth: each.Nth}] = each
	}
	return newExplorer(func(of string, nth int, kind callKind) Decision {
		out := known[Decision{Of: of, Nth: nth}]
		if out.Of, out.Nth = of, nth; !slices.Contains(possible[kind], out.Disturbance) {
			out.Disturbance = ""
		}
		return out
	})
}

func newExplorer(decide func(of string, nth int, kind callKind) Decision) *Explorer {
	return &Explorer{decide: decide, seen: map[string]int{}, met: map[Disturbance]int{}}
}

// Explore has an explorer choose the order and the failures of the requests and events of managers that start afterwards.
func (s *Scenario) Explore(e *Explorer) {
	ctx, cancel := context.WithCancel(context.Background())
	// Channels are those of the bubble.
	s.explorer, e.arrived, e.turn = e, make(chan struct{}, 1), make(chan struct{}, 1)
	e.turn <- struct{}{}
	// With several processors, and after each garbage collection, goroutines that are ready run in another order. A life takes a gigabyte at
	// most, and its garbage is collected afterwards.
	processors, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	s.T.Cleanup(func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		runtime.GC()
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.run(ctx)
	}()
	s.T.Cleanup(func() {
		cancel()
		<-done
	})
}

// Trace returns all requests and events, in their order.
func (e *Explorer) Trace() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.trace)
}

// Decisions returns the decisions with a delay or a failure.
func (e *Explorer) Decisions() []Decision {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.made)
}

// Met returns how often each disturbance was met.
func (e *Explorer) Met() map[Disturbance]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.met)
}

// TakeLostLease reports whether the manager lost its lease since the last call.
func (e *Explorer) TakeLostLease() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	lost := e.leaseLost
	e.leaseLost = false
	return lost
}

// meet counts a failure.
func (e *Explorer) meet(what Disturbance) {
	if e == nil || what == "" {
		return
	}
	e.recording.add(properties.Step{Met: string(what)})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.met[what]++
	e.leaseLost = e.leaseLost || what == LeaseLost
}

// add adds a request or event that waits.
func (e *Explorer) add(of string, kind callKind, carryOut func(Disturbance)) {
	e.mu.Lock()
	e.added++
	e.seen[of]++
	decision := e.decide(of, e.seen[of], kind)
	if decision.Delay > 0 || decision.Disturbance != "" {
		e.made = append(e.made, decision)
	}
	e.waiting = append(e.waiting, &choice{Decision: decision, due: time.Now().Add(decision.Delay), number: e.added, kind: kind, carryOut: carryOut})
	e.mu.Unlock()
	select {
	case e.arrived <- struct{}{}:
	default: // The earlier signal is not read yet.
	}
}

// await waits until a request is due, and returns its failure. A nil explorer lets all requests pass.
func (e *Explorer) await(of string, kind callKind) Disturbance {
	if e == nil {
		return ""
	}
	chosen := make(chan Disturbance, 1)
	e.add(of, kind, func(o Disturbance) { chosen <- o })
	return <-chosen
}

// run makes choices until ctx ends, and then lets everything pass.
func (e *Explorer) run(ctx context.Context) {
	for {
		// All that can happen without a choice happens before it, timers of the same moment included.
		WaitForSignal(nil, time.Nanosecond)
		e.waitForOthers()
		chosen, next := e.choose(ctx.Err() != nil)
		switch {
		case chosen != nil:
			chosen.carryOut(chosen.Disturbance)
		case ctx.Err() != nil:
			return
		default:
			e.waitUntil(ctx, next)
		}
	}
}

// waitForOthers waits until all other goroutines of the bubble wait.
func (e *Explorer) waitForOthers() {
	if e != nil {
		<-e.turn
		defer func() { e.turn <- struct{}{} }()
	}
	synctest.Wait()
}

// waitUntil waits until a time, until another request or event arrives, or until ctx ends. The zero time never comes.
func (e *Explorer) waitUntil(ctx context.Context, next time.Time) {
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-e.arrived:
	case <-due:
	}
}

// choose takes the request or event that is due first, or returns when the next one is due. The order of those that are due at the same time
// does not depend on the order in which they arrived.
func (e *Explorer) choose(ending bool) (*choice, time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		return nil, time.Time{}
	}
	slices.SortStableFunc(e.waiting, func(a, b *choice) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.Of, b.Of), a.number-b.number)
	})
	first := e.waiting[0]
	if !ending && first.due.After(time.Now()) {
		return nil, first.due
	}
	e.waiting = e.waiting[1:]
	if ending {
		first.Disturbance = ""
	}
	if first.kind == eventCall {
		if first.Delay > 0 {
			e.recording.add(properties.Step{Met: string(EventLate)})
			e.met[EventLate]++
		}
		if slices.ContainsFunc(e.waiting, func(c *choice) bool { return c.kind == eventCall && c.number < first.number && c.Of != first.Of }) {
			e.recording.add(properties.Step{Met: string(EventsReordered)})
			e.met[EventsReordered]++
		}
	}
	e.trace = append(e.trace, fmt.Sprintf("%s (%d) %s", first.Of, first.Nth, first.Disturbance))
	return first, time.Time{}
}
