package client

import (
	"slices"
	"time"
)

const (
	// maxLateness is how late a request may come after its turn before its place is given to the next one.
	maxLateness = 5 * time.Second
	// maxQueueWait is the longest wait before a request asks again: the requests ahead of it may be gone by then.
	maxQueueWait = 30 * time.Second
)

// fairQueue holds the requests that wait for the tokens of one bucket. Tenants share the tokens first, and the flows of a tenant share
// its part. Deletions of a tenant go before its other requests. So a request waits neither for the thousand requests of another tenant
// nor for those of another flow of its own tenant. Both levels are self-clocked fair queueing (Golestani 1994) with one token per
// request.
//
// No goroutine waits in the queue: a request gets its wait time, and its place is kept for a little longer than that.
type fairQueue struct {
	placesByKey    map[string]*queuePlace
	sharesByTenant map[string]*tenantShare
	// virtualTime is the tag of the request that was served last, shareCount the number of shares so far.
	virtualTime, shareCount int64
	lastSweep               time.Time
}

// queuedRequest identifies a request and its flow.
type queuedRequest struct {
	key, tenant, flow string
	// first requests go before the tenant's others.
	first bool
}

// queuePlace is the place of a request in the queue.
type queuePlace struct {
	queuedRequest
	// tag orders the places of a tenant.
	tag int64
	due time.Time
}

// tenantShare is the part of the queue that belongs to a tenant. The place with index i in it has the tag start+i+1 among all tenants.
type tenantShare struct {
	places []*queuePlace
	start  int64
	// virtualTime is the tag of the tenant's request that was served last.
	virtualTime int64
	// number orders shares of the same start.
	number int64
}

// waitTime returns 0 if a request has a token and its turn, otherwise the time until then: at least a second, as Azure's buckets.
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

// enqueue adds a request behind the last one of its flow.
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
		return -1 // Earlier places stay before later ones.
	})
	s.places = slices.Insert(s.places, at, found)
	l.placesByKey[asked.key] = found
	return found
}

// goesBefore reports whether a place of the same tenant comes before another one.
func (p *queuePlace) goesBefore(other *queuePlace) bool {
	if p.first != other.first {
		return p.first
	}
	return p.tag < other.tag
}

// countAhead returns the number of requests before a place.
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
			before-- // Of two places with the same tag, that of the earlier tenant is first.
		}
		out += int(min(max(before, 0), int64(len(other.places))))
	}
	return out
}

// markServed removes a request from the queue, and moves its tenant behind those that have waited as long.
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

// dropLatePlaces removes requests that did not come in time.
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
