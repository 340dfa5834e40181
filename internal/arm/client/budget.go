package client

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Budgets are the token buckets of a process: one per principal, subscription and kind of operation. They start as
// Azure's own do and are corrected by what Azure's headers say.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/request-limits-and-throttling
//
// A nil *Budgets limits nothing. It is safe for concurrent use.
type Budgets struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
	// held are the kinds of requests that Azure asked to hold back, until when.
	held map[string]time.Time
}

// bucket holds tokens; one request takes one.
type bucket struct {
	size, rate, tokens float64
	at                 time.Time
	// promised is when the last of those that wait may come again.
	promised time.Time
}

// limits are size and tokens per second by class. Azure's buckets hold 250 reads and 200 writes or deletes; what is left
// out here is for the other tools of the same principal.
var limits = map[string]bucket{
	"reads":   {size: 225, rate: 25},
	"writes":  {size: 180, rate: 10},
	"deletes": {size: 180, rate: 10},
}

// NewBudgets makes full budgets. now is the clock; nil is time.Now.
func NewBudgets(now func() time.Time) *Budgets {
	if now == nil {
		now = time.Now
	}
	return &Budgets{now: now, buckets: map[string]*bucket{}, held: map[string]time.Time{}}
}

// promise is how long to wait for a token: one after the other, so that not all who wait come for the same one, and a second or more,
// as Azure counts, for a look at an object takes several.
func (b *bucket) promise(now time.Time) time.Duration {
	next := now.Add(time.Duration((1 - b.tokens) / b.rate * float64(time.Second)))
	if after := b.promised.Add(time.Duration(float64(time.Second) / b.rate)); after.After(next) {
		next = after
	}
	b.promised = next
	return max(next.Sub(now), time.Second)
}

func class(method string) string {
	switch {
	case reads(method):
		return "reads"
	case method == http.MethodDelete:
		return "deletes"
	}
	return "writes"
}

func (b *Budgets) bucket(principal string, request Request) *bucket {
	kind := class(request.Method)
	key := principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + kind
	found, ok := b.buckets[key]
	if !ok {
		limit := limits[kind]
		found = &bucket{size: limit.size, rate: limit.rate, tokens: limit.size, at: b.now()}
		b.buckets[key] = found
	}
	now := b.now()
	found.tokens = min(found.size, found.tokens+found.rate*now.Sub(found.at).Seconds())
	found.at = now
	return found
}

// holdKeys are the keys that hold a request back: its class as a whole, and its class in its resource provider.
func holdKeys(principal string, request Request) (whole, provider string) {
	whole = principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + class(request.Method)
	namespace, _, _ := strings.Cut(strings.ToLower(request.ID.Type()), "/")
	return whole, whole + "|" + namespace
}

// take takes a token, or returns the error that says when there will be one.
func (b *Budgets) take(principal string, request Request) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	hold := func(wait time.Duration, why string) error {
		return &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusTooManyRequests, Code: arm.CodeHeldBack,
			Message: "not sent: " + why, RetryAfter: wait}
	}
	now := b.now()
	whole, provider := holdKeys(principal, request)
	for _, key := range []string{whole, provider} {
		if until, ok := b.held[key]; ok {
			if wait := until.Sub(now); wait > 0 {
				return hold(wait, "Azure throttles "+class(request.Method)+" of this identity")
			}
			delete(b.held, key)
		}
	}
	bucket := b.bucket(principal, request)
	if bucket.tokens < 1 {
		return hold(bucket.promise(now), "the budget of "+class(request.Method)+" of this identity in the subscription is used up")
	}
	bucket.tokens--
	return nil
}

// learn corrects the budgets by what an answer says.
func (b *Budgets) learn(principal string, request Request, status int, header http.Header, body []byte, after time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket := b.bucket(principal, request)
	kind := class(request.Method)
	for _, name := range []string{"X-Ms-Ratelimit-Remaining-Subscription-" + kind, "X-Ms-Ratelimit-Remaining-Subscription-Global-" + kind} {
		if remaining, err := strconv.ParseFloat(header.Get(name), 64); err == nil && remaining < bucket.tokens {
			bucket.tokens = remaining
		}
	}
	// Other answers are not read here: those that list a region's sizes have megabytes, and everybody else waits for the lock.
	if status != http.StatusTooManyRequests || !throttles(status, ParseError(body).Code) {
		return
	}
	whole, provider := holdKeys(principal, request)
	key := provider
	if header.Get("X-Ms-Failure-Cause") == "gateway" || strings.HasPrefix(ParseError(body).Code, "SubscriptionRequests") {
		key = whole
	}
	if until := b.now().Add(max(after, time.Second)); until.After(b.held[key]) {
		b.held[key] = until
	}
}

// throttles tells whether an answer says that there were too many requests. The network provider answers 429 RetryableError
// for a resource that is busy, which is no throttling.
func throttles(status int, code string) bool {
	return status == http.StatusTooManyRequests && code != "RetryableError"
}

// Spare is the share of the read budget that is left for this client in a subscription, 0 to 1: whoever reads only to
// be quick should stop when it is low.
func (c *Client) Spare(subscription string) float64 {
	b := c.options.Budgets
	if b == nil {
		return 1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	request := Request{Method: http.MethodGet, ID: arm.SubscriptionID(subscription)}
	whole, _ := holdKeys(c.options.Principal, request)
	if b.held[whole].After(b.now()) {
		return 0
	}
	bucket := b.bucket(c.options.Principal, request)
	return max(0, bucket.tokens/bucket.size)
}
