package client

import (
	"slices"
	"time"
)

const (
	// maxLateness is how late a request may come whose turn it is, before its place goes to the next one.
	maxLateness = 5 * time.Second
	// maxQueueWait is how long a request waits for a turn without asking again: those before it may be gone by then.
	maxQueueWait = 30 * time.Second
)

// fairQueue is the requests that wait for the tokens of one bucket. Tenants share the tokens first, and the flows of a tenant share its part.
// Deletions of a tenant go before its other requests. So a request does not wait for the thousand requests of another tenant, nor for those
// of another flow of its own tenant. Both levels are self-clocked fair queueing (Golestani 1994) with one token per request.
//
// No goroutine waits in it: a request is told how long to wait, and has its place kept until a little later.
type fairQueue struct {
	placesByKey    map[string]*queuePlace
	sharesByTenant map[string]*tenantShare
	// virtualTime is the tag of the request that was served last, shared counts the shares that were made.
	virtualTime, shareCount int64
	lastSweep               time.Time
}

// queuedRequest is what a request asks for.
type queuedRequest struct {
	key, tenant, flow string
	// first goes before the other requests of the tenant that do not.
	first bool
}

// queuePlace is a turn in the line.
type queuePlace struct {
	queuedRequest
	// tag orders the places of a tenant.
	tag int64
	due time.Time
}

// tenantShare is the part of the line that belongs to a tenant. The place with index i in it has the tag start+i+1 among all tenants.
type tenantShare struct {
	places []*queuePlace
	start  int64
	// virtualTime is the tag of the tenant's request that was served last.
	virtualTime int64
	// number orders shares of the same start.
	number int64
}

// waitTime returns 0 when it is the turn of a request and there is a token, and otherwise how long it takes until then: a second or more, as
// Azure counts.
func (l *fairQueue) waitTime(asked queuedRequest, b *tokenBucket, now time.Time) time.Duration {
	if len(l.placesByKey) == 0 && b.tokens >= 1 {
		return 0
	}
	l.dropLatePlaces(now)
	found, known := l.placesByKey[asked.key]
	if !known {
		found = l.enqueue(asked)
	}
	ahead := float64(l.countAhead(found))
	if b.tokens >= ahead+1 {
		if !known {
			l.markServed(asked)
		}
		return 0
	}
	wait := time.Duration((ahead + 1 - b.tokens) / b.rate * float64(time.Second))
	if b.window != nil && b.tokens < 1 {
		wait = max(wait, b.window.untilSlotExpires(now))
	}
	wait = min(max(wait, time.Second), maxQueueWait)
	found.due = now.Add(wait)
	return wait
}

// enqueue puts a request into the line: behind the last request of its flow.
func (l *fairQueue) enqueue(asked queuedRequest) *queuePlace {
	if l.placesByKey == nil {
		l.placesByKey, l.sharesByTenant = map[string]*queuePlace{}, map[string]*tenantShare{}
	}
	s := l.sharesByTenant[asked.tenant]
	if s == nil {
		l.shareCount++
		s = &tenantShare{start: l.virtualTime, number: l.shareCount}
		l.sharesByTenant[asked.tenant] = s
	}
	found := &queuePlace{queuedRequest: asked, tag: s.virtualTime + 1}
	for _, other := range s.places {
		if other.flow == asked.flow && other.first == asked.first {
			found.tag = max(found.tag, other.tag+1)
		}
	}
	at, _ := slices.BinarySearchFunc(s.places, found, func(a, b *queuePlace) int {
		if b.goesBefore(a) {
			return 1
		}
		return -1 // Who came before stays before.
	})
	s.places = slices.Insert(s.places, at, found)
	l.placesByKey[asked.key] = found
	return found
}

// goesBefore reports whether a place of the same tenant is before another one.
func (p *queuePlace) goesBefore(other *queuePlace) bool {
	if p.first != other.first {
		return p.first
	}
	return p.tag < other.tag
}

// countAhead returns how many requests are before a place.
func (l *fairQueue) countAhead(found *queuePlace) int {
	own := l.sharesByTenant[found.tenant]
	at := slices.Index(own.places, found)
	tag, out := own.start+int64(at)+1, at
	for _, other := range l.sharesByTenant {
		if other == own {
			continue
		}
		before := tag - other.start
		if other.number > own.number {
			before-- // Of two with the same tag, the tenant that came first is first.
		}
		out += int(min(max(before, 0), int64(len(other.places))))
	}
	return out
}

// markServed takes a request out of the line, and its tenant behind the tenants that have waited as long.
func (l *fairQueue) markServed(asked queuedRequest) {
	found, known := l.placesByKey[asked.key]
	if !known {
		return
	}
	s := l.sharesByTenant[found.tenant]
	l.virtualTime = max(l.virtualTime, s.start+int64(slices.Index(s.places, found))+1)
	s.virtualTime = max(s.virtualTime, found.tag)
	s.start++
	l.removePlaces(func(p *queuePlace) bool { return p == found })
}

// dropLatePlaces forgets requests that have not come.
func (l *fairQueue) dropLatePlaces(now time.Time) {
	if now.Sub(l.lastSweep) < time.Second {
		return
	}
	l.lastSweep = now
	l.removePlaces(func(p *queuePlace) bool { return now.Sub(p.due) > maxLateness })
}

func (l *fairQueue) removePlaces(gone func(*queuePlace) bool) {
	for tenant, s := range l.sharesByTenant {
		s.places = slices.DeleteFunc(s.places, func(p *queuePlace) bool {
			if !gone(p) {
				return false
			}
			delete(l.placesByKey, p.key)
			return true
		})
		if len(s.places) == 0 {
			delete(l.sharesByTenant, tenant)
		}
	}
}
