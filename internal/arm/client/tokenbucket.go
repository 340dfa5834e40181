package client

import (
	"time"
)

// networkWindow is the window in which Microsoft.Network counts requests.
const networkWindow = 5 * time.Minute

// tokenBucket holds tokens; each request takes one.
type tokenBucket struct {
	// subscription and class are those of the requests, throttleKey the key of their throttling by Azure.
	subscription, class, throttleKey string

	size, rate, tokens float64
	at                 time.Time
	// used is the time of the last request or question of a client.
	used time.Time
	// window is set where Azure counts requests in a window and frees nothing before it ends.
	window *requestWindow
	queue  fairQueue
}

// refillTokens adds the tokens that have become available until now.
func (b *tokenBucket) refillTokens(now time.Time) {
	if b.window != nil {
		b.tokens = b.size - b.window.requestCount(now)
	} else {
		b.tokens = min(b.size, b.tokens+b.rate*now.Sub(b.at).Seconds())
	}
	b.at = now
}

// spendToken takes a token for a request that has its turn.
func (b *tokenBucket) spendToken(request queuedRequest, now time.Time) {
	b.tokens--
	if b.window != nil {
		b.window.countRequest(now)
	}
	b.queue.markServed(request)
}

// slots is the number of parts of a window. One more is counted, because Microsoft does not publish whether Azure's own window begins
// with a request or slides.
const slots = 30

// requestWindow counts requests by time.
type requestWindow struct {
	counts [slots + 1]float64
	// begun is when the first request was counted. Times since then are not changed by corrections of the clock.
	begun time.Time
	// last is the number of the latest slot since begun.
	last int64
}

const slotLength = networkWindow / slots

// dropExpiredSlots removes slots before the window.
func (w *requestWindow) dropExpiredSlots(now time.Time) {
	if w.begun.IsZero() {
		w.begun = now
	}
	slot := int64(now.Sub(w.begun) / slotLength)
	for w.last = max(w.last, slot-slots-1); w.last < slot; {
		w.last++
		w.counts[w.last%(slots+1)] = 0
	}
}

func (w *requestWindow) countRequest(now time.Time) {
	w.dropExpiredSlots(now)
	w.counts[w.last%(slots+1)]++
}

func (w *requestWindow) requestCount(now time.Time) float64 {
	w.dropExpiredSlots(now)
	sum := 0.0
	for _, count := range w.counts {
		sum += count
	}
	return sum
}

// untilSlotExpires returns the time until the oldest counted requests leave the window.
func (w *requestWindow) untilSlotExpires(now time.Time) time.Duration {
	w.dropExpiredSlots(now)
	for i := int64(1); i <= slots+1; i++ {
		if w.counts[(w.last+i)%(slots+1)] > 0 {
			return w.begun.Add(time.Duration(w.last+i) * slotLength).Sub(now)
		}
	}
	return 0
}
