package client

import (
	"time"
)

// networkWindow is the time in which Microsoft.Network counts.
const networkWindow = 5 * time.Minute

// tokenBucket holds tokens; one request takes one.
type tokenBucket struct {
	size, rate, tokens float64
	at                 time.Time
	// window is set where Azure counts what came in a while, and gives nothing back before it is over.
	window *requestWindow
	queue  fairQueue
}

// refillTokens brings the tokens up to now.
func (b *tokenBucket) refillTokens(now time.Time) {
	if b.window != nil {
		b.tokens = b.size - b.window.requestCount(now)
	} else {
		b.tokens = min(b.size, b.tokens+b.rate*now.Sub(b.at).Seconds())
	}
	b.at = now
}

// spendToken takes a token for somebody whose turn it is.
func (b *tokenBucket) spendToken(asked queuedRequest, now time.Time) {
	b.tokens--
	if b.window != nil {
		b.window.countRequest(now)
	}
	b.queue.markServed(asked)
}

// slots are the parts in which a window is counted. There is one more, for whether Azure's own window begins with a request or slides
// is not published.
const slots = 30

// requestWindow counts requests by when they came.
type requestWindow struct {
	counts [slots + 1]float64
	// last is the number of the latest slot since the epoch.
	last int64
}

func slotOf(now time.Time) int64 { return now.UnixNano() / int64(networkWindow/slots) }

// dropExpiredSlots drops the slots that are over.
func (w *requestWindow) dropExpiredSlots(now time.Time) {
	slot := slotOf(now)
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

// untilSlotExpires is how long it takes until some of what was counted is over.
func (w *requestWindow) untilSlotExpires(now time.Time) time.Duration {
	w.dropExpiredSlots(now)
	for i := int64(1); i <= slots+1; i++ {
		if w.counts[(w.last+i)%(slots+1)] > 0 {
			return time.Unix(0, (w.last+i)*int64(networkWindow/slots)).Sub(now)
		}
	}
	return 0
}
