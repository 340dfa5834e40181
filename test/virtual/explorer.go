package virtual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Explorer chooses what happens next in a scenario: which request of a manager is carried out, which event is delivered, how much time
// passes, and what goes wrong. Every request of a manager to Kubernetes and Azure, and every event, waits until it is chosen. Managers of a
// scenario with an explorer read objects from a cache that has only the delivered events. The same seed makes the same choices.
type Explorer struct {
	// Rates are how often things go wrong.
	Rates Rates

	mu      sync.Mutex
	random  *rand.Rand
	waiting []*choice
	added   int
	arrived chan struct{}
	// trace has the choices, and met how often something went wrong, by its name.
	trace []string
	met   map[string]int
}

// Rates are probabilities per choice.
type Rates struct {
	// LoseAnswer is that a request is carried out and the manager gets an error.
	LoseAnswer float64
	// Kill is that the manager dies before or after a request.
	Kill float64
	// Wait is that up to Longest passes before the next choice.
	Wait    float64
	Longest time.Duration
}

// choice is something that waits to be chosen. carryOut is called once, and must not block for long.
type choice struct {
	name   string
	number int
	passed int
	// isRequest is set for a request, whose answer may be lost; an event is only delivered.
	isRequest bool
	carryOut  func(outcome)
}

// outcome is what happens to a chosen request.
type outcome int

const (
	answered outcome = iota
	answerLost
	killedBefore
	killedAfter
)

// patience is how often a choice is passed over at most: a fair schedule delays everything, and nothing for ever.
const patience = 200

var errAnswerLost = errors.New("the answer was lost")

// NewExplorer returns an explorer for Scenario.Explore.
func NewExplorer(seed uint64, rates Rates) *Explorer {
	return &Explorer{Rates: rates, random: rand.New(rand.NewPCG(seed, seed)), arrived: make(chan struct{}, 1), met: map[string]int{}}
}

// Explore has an explorer choose what happens to managers that start afterwards.
func (s *Scenario) Explore(e *Explorer) {
	ctx, cancel := context.WithCancel(context.Background())
	s.explorer = e
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

// Trace returns the choices so far.
func (e *Explorer) Trace() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.trace)
}

// CountMet returns how often something went wrong, by its name.
func (e *Explorer) CountMet(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.met[name]
}

// add adds something that waits to be chosen.
func (e *Explorer) add(name string, isRequest bool, carryOut func(outcome)) {
	e.mu.Lock()
	e.added++
	e.waiting = append(e.waiting, &choice{name: name, number: e.added, isRequest: isRequest, carryOut: carryOut})
	e.mu.Unlock()
	select {
	case e.arrived <- struct{}{}:
	default: // The earlier signal is not read yet.
	}
}

// await waits until a request is chosen, and returns what happens to it. A nil explorer lets all requests pass.
func (e *Explorer) await(name string) outcome {
	if e == nil {
		return answered
	}
	chosen := make(chan outcome, 1)
	e.add(name, true, func(o outcome) { chosen <- o })
	return <-chosen
}

// run makes choices until ctx ends, and then lets everything pass.
func (e *Explorer) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-e.arrived:
		}
		// The clock of a bubble moves when everything waits: all that can happen without a choice has happened then.
		for pause := time.Nanosecond; ; pause = e.drawPause() {
			WaitForSignal(ctx.Done(), pause)
			chosen, o := e.choose(ctx.Err() != nil)
			if chosen == nil {
				break
			}
			chosen.carryOut(o)
		}
	}
}

func (e *Explorer) drawPause() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.random.Float64() < e.Rates.Wait {
		return time.Duration(e.random.Int64N(int64(e.Rates.Longest))) + time.Nanosecond
	}
	return time.Nanosecond
}

// choose takes one of the choices, or nil if there is none. Their order does not depend on the order in which they arrived.
func (e *Explorer) choose(ending bool) (*choice, outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.waiting) == 0 {
		return nil, answered
	}
	slices.SortStableFunc(e.waiting, func(a, b *choice) int { return cmp.Or(cmp.Compare(a.name, b.name), a.number-b.number) })
	i := e.random.IntN(len(e.waiting))
	if late := slices.IndexFunc(e.waiting, func(c *choice) bool { return c.passed >= patience }); late >= 0 {
		i = late
	}
	chosen := e.waiting[i]
	e.waiting = slices.Delete(e.waiting, i, i+1)
	for _, each := range e.waiting {
		each.passed++
	}
	o := answered
	if !ending && chosen.isRequest {
		o = e.drawOutcome()
	}
	e.trace = append(e.trace, fmt.Sprintf("%s: %s", chosen.name, o))
	return chosen, o
}

func (e *Explorer) drawOutcome() outcome {
	switch at := e.random.Float64(); {
	case at < e.Rates.LoseAnswer:
		e.met[answerLost.String()]++
		return answerLost
	case at < e.Rates.LoseAnswer+e.Rates.Kill:
		o := killedBefore
		if e.random.IntN(2) == 0 {
			o = killedAfter
		}
		e.met[o.String()]++
		return o
	}
	return answered
}

// String returns the name that CountMet takes.
func (o outcome) String() string {
	return [...]string{"answered", "answer lost", "killed before", "killed after"}[o]
}
