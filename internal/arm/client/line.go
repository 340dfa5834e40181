package client

import (
	"cmp"
	"slices"
	"time"
)

const (
	// lateness is how late one may come whose turn it is, before it is the next one's.
	lateness = 5 * time.Second
	// longest is how long one waits for a turn without asking again: those before it may be gone by then.
	longest = 30 * time.Second
)

// line are those that wait for the tokens of one bucket: deletions first, and then flow by flow, so that who waits for a thousand is
// not served before who waits for one. It is self-clocked fair queueing (Golestani 1994) with a token for the length of each request.
//
// Nobody stands in it: who has to wait is told for how long, and has the place kept until a little later.
type line struct {
	turns []*place
	// now is the tag of what was served last.
	now   float64
	swept time.Time
}

// turn is what somebody asks for.
type turn struct {
	key, flow string
	// first goes before all others that do not.
	first bool
}

// place is a turn in line.
type place struct {
	turn
	tag float64
	due time.Time
}

// order compares two places.
func order(a, b *place) int {
	if a.first != b.first {
		if a.first {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.tag, b.tag)
}

// wait is 0 when it is somebody's turn and there is a token, and otherwise how long it takes until then, a second or more, as Azure
// counts.
func (l *line) wait(asked turn, b *bucket, now time.Time) time.Duration {
	if len(l.turns) == 0 && b.tokens >= 1 {
		return 0
	}
	l.sweep(now)
	at, found := l.find(asked)
	if found == nil {
		found = &place{turn: asked, tag: l.tag(asked)}
		at, _ = slices.BinarySearchFunc(l.turns, found, func(a, b *place) int { return cmp.Or(order(a, b), -1) })
		if b.tokens >= float64(at+1) {
			l.now = max(l.now, found.tag)
			return 0
		}
		l.turns = slices.Insert(l.turns, at, found)
	}
	if b.tokens >= float64(at+1) {
		return 0
	}
	wait := time.Duration((float64(at+1) - b.tokens) / b.rate * float64(time.Second))
	if b.window != nil && b.tokens < 1 {
		wait = max(wait, b.window.frees(now))
	}
	wait = min(max(wait, time.Second), longest)
	found.due = now.Add(wait)
	return wait
}

// served takes somebody out of the line.
func (l *line) served(asked turn) {
	if at, found := l.find(asked); found != nil {
		l.now = max(l.now, found.tag)
		l.turns = slices.Delete(l.turns, at, at+1)
	}
}

func (l *line) find(asked turn) (int, *place) {
	at := slices.IndexFunc(l.turns, func(p *place) bool { return p.key == asked.key })
	if at < 0 {
		return at, nil
	}
	return at, l.turns[at]
}

// tag is the place of somebody new: after the last of the same flow.
func (l *line) tag(asked turn) float64 {
	last := l.now
	for _, other := range l.turns {
		if other.flow == asked.flow && other.first == asked.first {
			last = max(last, other.tag)
		}
	}
	return last + 1
}

// sweep forgets who has not come.
func (l *line) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	l.turns = slices.DeleteFunc(l.turns, func(p *place) bool { return now.Sub(p.due) > lateness })
}
