package client

import (
	"slices"
	"time"
)

const (
	// lateness is how late a request may come whose turn it is, before its place goes to the next one.
	lateness = 5 * time.Second
	// longest is how long a request waits for a turn without asking again: those before it may be gone by then.
	longest = 30 * time.Second
)

// line is the requests that wait for the tokens of one bucket. Tenants share the tokens first, and the flows of a tenant share its part.
// Deletions of a tenant go before its other requests. So a request does not wait for the thousand requests of another tenant, nor for those
// of another flow of its own tenant. Both levels are self-clocked fair queueing (Golestani 1994) with one token per request.
//
// No goroutine waits in it: a request is told how long to wait, and has its place kept until a little later.
type line struct {
	places map[string]*place
	shares map[string]*share
	// now is the tag of the request that was served last, shared counts the shares that were made.
	now, shared int64
	swept       time.Time
}

// turn is what a request asks for.
type turn struct {
	key, tenant, flow string
	// first goes before the other requests of the tenant that do not.
	first bool
}

// place is a turn in the line.
type place struct {
	turn
	// tag orders the places of a tenant.
	tag int64
	due time.Time
}

// share is the part of the line that belongs to a tenant. The place with index i in it has the tag start+i+1 among all tenants.
type share struct {
	places []*place
	start  int64
	// now is the tag of the tenant's request that was served last.
	now int64
	// number orders shares of the same start.
	number int64
}

// wait returns 0 when it is the turn of a request and there is a token, and otherwise how long it takes until then: a second or more, as
// Azure counts.
func (l *line) wait(asked turn, b *bucket, now time.Time) time.Duration {
	if len(l.places) == 0 && b.tokens >= 1 {
		return 0
	}
	l.sweep(now)
	found, known := l.places[asked.key]
	if !known {
		found = l.join(asked)
	}
	ahead := float64(l.ahead(found))
	if b.tokens >= ahead+1 {
		if !known {
			l.served(asked)
		}
		return 0
	}
	wait := time.Duration((ahead + 1 - b.tokens) / b.rate * float64(time.Second))
	if b.window != nil && b.tokens < 1 {
		wait = max(wait, b.window.frees(now))
	}
	wait = min(max(wait, time.Second), longest)
	found.due = now.Add(wait)
	return wait
}

// join puts a request into the line: behind the last request of its flow.
func (l *line) join(asked turn) *place {
	if l.places == nil {
		l.places, l.shares = map[string]*place{}, map[string]*share{}
	}
	s := l.shares[asked.tenant]
	if s == nil {
		l.shared++
		s = &share{start: l.now, number: l.shared}
		l.shares[asked.tenant] = s
	}
	found := &place{turn: asked, tag: s.now + 1}
	for _, other := range s.places {
		if other.flow == asked.flow && other.first == asked.first {
			found.tag = max(found.tag, other.tag+1)
		}
	}
	at, _ := slices.BinarySearchFunc(s.places, found, func(a, b *place) int {
		if b.before(a) {
			return 1
		}
		return -1 // Who came before stays before.
	})
	s.places = slices.Insert(s.places, at, found)
	l.places[asked.key] = found
	return found
}

// before reports whether a place of the same tenant is before another one.
func (p *place) before(other *place) bool {
	if p.first != other.first {
		return p.first
	}
	return p.tag < other.tag
}

// ahead returns how many requests are before a place.
func (l *line) ahead(found *place) int {
	own := l.shares[found.tenant]
	at := slices.Index(own.places, found)
	tag, out := own.start+int64(at)+1, at
	for _, other := range l.shares {
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

// served takes a request out of the line, and its tenant behind the tenants that have waited as long.
func (l *line) served(asked turn) {
	found, known := l.places[asked.key]
	if !known {
		return
	}
	s := l.shares[found.tenant]
	l.now = max(l.now, s.start+int64(slices.Index(s.places, found))+1)
	s.now = max(s.now, found.tag)
	s.start++
	l.remove(func(p *place) bool { return p == found })
}

// sweep forgets requests that have not come.
func (l *line) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	l.remove(func(p *place) bool { return now.Sub(p.due) > lateness })
}

func (l *line) remove(gone func(*place) bool) {
	for tenant, s := range l.shares {
		s.places = slices.DeleteFunc(s.places, func(p *place) bool {
			if !gone(p) {
				return false
			}
			delete(l.places, p.key)
			return true
		})
		if len(s.places) == 0 {
			delete(l.shares, tenant)
		}
	}
}
