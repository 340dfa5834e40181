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
func (q *fairQueue) waitTime(request queuedRequest, b *tokenBucket, now time.Time) time.Duration {
	if len(q.placesByKey) == 0 && b.tokens >= 1 {
		return 0
	}
	q.dropLatePlaces(now)
	place, known := q.placesByKey[request.key]
	if !known {
		place = q.enqueue(request)
	}
	ahead := float64(q.countAhead(place))
	if b.tokens >= ahead+1 {
		if !known {
			q.markServed(request)
		}
		return 0
	}
	wait := time.Duration((ahead + 1 - b.tokens) / b.rate * float64(time.Second))
	if b.window != nil && b.tokens < 1 {
		wait = max(wait, b.window.untilSlotExpires(now))
	}
	wait = min(max(wait, time.Second), maxQueueWait)
	place.due = now.Add(wait)
	return wait
}

// enqueue adds a request behind the last one of its flow.
func (q *fairQueue) enqueue(request queuedRequest) *queuePlace {
	if q.placesByKey == nil {
		q.placesByKey, q.sharesByTenant = map[string]*queuePlace{}, map[string]*tenantShare{}
	}
	s := q.sharesByTenant[request.tenant]
	if s == nil {
		q.shareCount++
		s = &tenantShare{start: q.virtualTime, number: q.shareCount}
		q.sharesByTenant[request.tenant] = s
	}
	place := &queuePlace{queuedRequest: request, tag: s.virtualTime + 1}
	for _, other := range s.places {
		if other.flow == request.flow && other.first == request.first {
			place.tag = max(place.tag, other.tag+1)
		}
	}
	at, _ := slices.BinarySearchFunc(s.places, place, func(a, b *queuePlace) int {
		if b.goesBefore(a) {
			return 1
		}
		return -1 // Earlier places stay before later ones.
	})
	s.places = slices.Insert(s.places, at, place)
	q.placesByKey[request.key] = place
	return place
}

// goesBefore reports whether a place of the same tenant comes before another one.
func (p *queuePlace) goesBefore(other *queuePlace) bool {
	if p.first != other.first {
		return p.first
	}
	return p.tag < other.tag
}

// countAhead returns the number of requests before a place.
func (q *fairQueue) countAhead(place *queuePlace) int {
	share := q.sharesByTenant[place.tenant]
	at := slices.Index(share.places, place)
	tag, out := share.start+int64(at)+1, at
	for _, other := range q.sharesByTenant {
		if other == share {
			continue
		}
		before := tag - other.start
		if other.number > share.number {
			before-- // Of two places with the same tag, that of the earlier tenant is first.
		}
		out += int(min(max(before, 0), int64(len(other.places))))
	}
	return out
}

// markServed removes a request from the queue, and moves its tenant behind those that have waited as long.
func (q *fairQueue) markServed(request queuedRequest) {
	place, known := q.placesByKey[request.key]
	if !known {
		return
	}
	s := q.sharesByTenant[place.tenant]
	q.virtualTime = max(q.virtualTime, s.start+int64(slices.Index(s.places, place))+1)
	s.virtualTime = max(s.virtualTime, place.tag)
	s.start++
	q.removePlaces(func(p *queuePlace) bool { return p == place })
}

// delayTenant counts a request of a tenant that did not queue as one of its part, so that its places move behind one request of each other
// tenant.
func (q *fairQueue) delayTenant(tenant string) {
	if s := q.sharesByTenant[tenant]; s != nil {
		s.start++
	}
}

// dropLatePlaces removes requests that did not come in time.
func (q *fairQueue) dropLatePlaces(now time.Time) {
	if now.Sub(q.lastSweep) < time.Second {
		return
	}
	q.lastSweep = now
	q.removePlaces(func(p *queuePlace) bool { return now.Sub(p.due) > maxLateness })
}

func (q *fairQueue) removePlaces(gone func(*queuePlace) bool) {
	for tenant, s := range q.sharesByTenant {
		s.places = slices.DeleteFunc(s.places, func(p *queuePlace) bool {
			if !gone(p) {
				return false
			}
			delete(q.placesByKey, p.key)
			return true
		})
		if len(s.places) == 0 {
			delete(q.sharesByTenant, tenant)
		}
	}
}
