package client

import (
	"math"
	"net/http"
	"testing"
	"time"
)

// TestWindowCountsMonotonicTime counts requests by the monotonic part of time.Now, which corrections of the clock do not change.
func TestWindowCountsMonotonicTime(t *testing.T) {
	w := &requestWindow{}
	begun := time.Now()
	w.countRequest(begun)
	w.countRequest(begun.Add(time.Minute))
	if got := w.requestCount(begun.Add(2 * time.Minute)); got != 2 {
		t.Errorf("%v requests after two minutes, want 2", got)
	}
	if wait := w.untilSlotExpires(begun.Add(2 * time.Minute)); wait <= 3*time.Minute-slotLength || wait > 3*time.Minute+2*slotLength {
		t.Errorf("the first one leaves in %s, want in three minutes and a slot or two", wait)
	}
	if got := w.requestCount(begun.Add(7 * time.Minute)); got != 0 {
		t.Errorf("%v requests after seven minutes, want none", got)
	}
	if w.begun == w.begun.Round(0) {
		t.Error("the window has lost the monotonic part")
	}
}

// TestRemainingBelowNothing lets Azure, or a proxy, answer with a remaining budget that no waiting would fill.
func TestRemainingBelowNothing(t *testing.T) {
	for _, remaining := range []string{"-1000000", "-Inf", "-1e18", "NaN"} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		b := NewBudgets(func() time.Time { return now }, 1)
		request := Request{Method: http.MethodGet, ID: "/subscriptions/s/resourceGroups/g"}
		header := http.Header{"X-Ms-Ratelimit-Remaining-Subscription-Reads": {remaining}}
		b.learnFromAnswer("p", request, http.StatusOK, header, nil, 0)
		bucket := b.principalBucket("p", request)
		now = now.Add(time.Minute)
		bucket.refillTokens(now)
		if math.IsNaN(bucket.tokens) || bucket.tokens < bucket.rate*59 && bucket.tokens < bucket.size {
			t.Errorf("%s: %v tokens after a minute", remaining, bucket.tokens)
		}
	}
}
