package virtual

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// Decision is a delay or a failure of a request or an event. Without a decision a request is carried out and an event is delivered at once.
type Decision struct {
	// Of is the name of the request or event, and Nth counts those of the name from 1.
	Of  string
	Nth int
	// Delay is how long it waits.
	Delay time.Duration
	// Disturbance is "" for none.
	Disturbance Disturbance
}

// String returns the decision in one line.
func (d Decision) String() string {
	return fmt.Sprintf("%s (%d): after %s %s", d.Of, d.Nth, d.Delay, d.Disturbance)
}

// Disturbance is a failure of a request, or a change of an event, by its name in test/properties.
type Disturbance string

// Disturbances of requests.
const (
	// AnswerLost has the request carried out, and the manager gets an error.
	AnswerLost Disturbance = properties.LostAnswer
	// KilledBefore and KilledAfter have the manager die before or after the request is carried out.
	KilledBefore Disturbance = properties.KilledBefore
	KilledAfter  Disturbance = properties.KilledAfter
	// LeaseLost has the manager lose its lease. Another manager starts, and this one continues until the lease would have ended.
	LeaseLost Disturbance = properties.LeaseLost
	// Conflict has the API server, or Azure, refuse a write because another one came first.
	Conflict Disturbance = properties.Conflict
	// Throttled has Azure answer 429 with Retry-After.
	Throttled Disturbance = properties.Throttled
	// ServerError has the API server answer 500, or Azure 503.
	ServerError Disturbance = properties.ServerError
	// OperationFailed has Azure accept a write of a network resource, whose operation fails.
	OperationFailed Disturbance = properties.OperationFailed
	// StaleAnswer has Azure answer a read with what it answered up to a minute ago.
	StaleAnswer Disturbance = properties.StaleAnswer
)

// Disorders of events, and of reads of the cache because of late events.
const (
	// EventLate is an event that was delivered after a delay, EventsMerged are several changes of an object that were delivered as one, and
	// EventsReordered is an event that was delivered before an earlier one of another object.
	EventLate       Disturbance = properties.EventLate
	EventsMerged    Disturbance = properties.EventsMerged
	EventsReordered Disturbance = properties.EventsReordered
	// StaleRead is a read of an object from the cache that does not have its last change.
	StaleRead Disturbance = properties.StaleRead
)

// callKind is the kind of a request or an event.
type callKind int

const (
	eventCall callKind = iota
	reconciliation
	tokenCall
	kubernetesWrite
	azureRead
	azureWrite
	// networkWrite is a PUT of a network resource.
	networkWrite
)

// possible are the disturbances of each kind of call, in the order in which they are drawn.
var possible = map[callKind][]Disturbance{
	tokenCall:       {AnswerLost, KilledBefore, KilledAfter},
	kubernetesWrite: {AnswerLost, KilledBefore, KilledAfter, LeaseLost, Conflict, ServerError},
	azureRead:       {AnswerLost, KilledBefore, KilledAfter, Throttled, ServerError, StaleAnswer},
	azureWrite:      {AnswerLost, KilledBefore, KilledAfter, LeaseLost, Conflict, Throttled, ServerError},
	networkWrite:    {AnswerLost, KilledBefore, KilledAfter, LeaseLost, Conflict, Throttled, ServerError, OperationFailed},
}

// Rates are the probabilities of decisions about a request or event.
type Rates struct {
	// Disturbances has the probability of each disturbance, for requests that can have it.
	Disturbances map[Disturbance]float64
	// LateEvent, also for the begin of reconciliations, and LateRequest are those of delays of up to Latest.
	LateEvent, LateRequest float64
	Latest                 time.Duration
}

// UsualRates are rates with which the life of a cluster meets most disturbances, and still ends soon.
func UsualRates() Rates {
	return Rates{
		Disturbances: map[Disturbance]float64{AnswerLost: 0.02, KilledBefore: 0.001, KilledAfter: 0.001, LeaseLost: 0.001, Conflict: 0.01,
			Throttled: 0.01, ServerError: 0.01, OperationFailed: 0.01, StaleAnswer: 0.02},
		LateEvent: 0.3, LateRequest: 0.1, Latest: 15 * time.Second,
	}
}

// draw returns the decision of a seed. It depends on nothing but its arguments, so that other decisions do not change it.
func (r Rates) draw(seed uint64, of string, nth int, kind callKind) Decision {
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%s#%d", of, nth)
	random := rand.New(rand.NewPCG(seed, hash.Sum64()))
	out := Decision{Of: of, Nth: nth}
	late := r.LateRequest
	if kind == eventCall || kind == reconciliation {
		late = r.LateEvent
	}
	if random.Float64() < late {
		out.Delay = time.Duration(random.Int64N(int64(r.Latest))).Truncate(time.Millisecond) + time.Millisecond
	}
	at := random.Float64()
	for _, each := range possible[kind] {
		if at < r.Disturbances[each] {
			out.Disturbance = each
			break
		}
		at -= r.Disturbances[each]
	}
	return out
}

// Minimize returns a part of decisions with which a test still fails, and from which no single one can be left out (delta debugging).
func Minimize(decisions []Decision, fails func([]Decision) bool) []Decision {
	for size := max(1, len(decisions)/2); ; size = max(1, size/2) {
		removed := false
		for from := 0; from < len(decisions); {
			to := min(from+size, len(decisions))
			if rest := slices.Delete(slices.Clone(decisions), from, to); fails(rest) {
				decisions, removed = rest, true
				continue
			}
			from = to
		}
		if size == 1 && !removed {
			return decisions
		}
	}
}
