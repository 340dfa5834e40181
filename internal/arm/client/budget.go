package client

import (
	"encoding/json"
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
	// held are the kinds of requests that Azure asked to hold back, until when, and waited how long that is.
	held   map[string]time.Time
	waited map[string]time.Duration
	// regions are those of resource groups, by key, as far as something was made in them.
	regions map[string]string
}

// limits are size and tokens per second by class. Azure's buckets hold 250 reads and 200 writes or deletes; what is left
// out here is for the other tools of the same principal.
var limits = map[string]bucket{
	"reads":   {size: 225, rate: 25},
	"writes":  {size: 180, rate: 10},
	"deletes": {size: 180, rate: 10},
}

// networkLimits are how many requests Microsoft.Network takes in networkWindow, in a subscription and a region; writes and deletions
// count together. A twentieth is left for others.
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling#network-throttling
var networkLimits = map[string]float64{"reads": 9500, "writes": 950, "deletes": 950}

// NewBudgets makes full budgets. now is the clock; nil is time.Now.
func NewBudgets(now func() time.Time) *Budgets {
	if now == nil {
		now = time.Now
	}
	return &Budgets{now: now, buckets: map[string]*bucket{}, held: map[string]time.Time{}, waited: map[string]time.Duration{}, regions: map[string]string{}}
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

// bucket is the principal's, with the tokens of now.
func (b *Budgets) bucket(principal string, request Request) *bucket {
	kind := class(request.Method)
	return b.of(principal+"|"+strings.ToLower(request.ID.Subscription())+"|"+kind, limits[kind])
}

// network is the bucket of the region that a request to Microsoft.Network is about, nil for any other.
func (b *Budgets) network(principal string, request Request) *bucket {
	if !strings.HasPrefix(strings.ToLower(request.ID.Type()), "microsoft.network/") {
		return nil
	}
	kind := class(request.Method)
	if kind == "deletes" {
		kind = "writes"
	}
	key := principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + b.regions[flowOf(request.ID)] + "|network " + kind
	limit := networkLimits[kind]
	return b.of(key, bucket{size: limit, rate: limit / networkWindow.Seconds(), window: &window{}})
}

func (b *Budgets) of(key string, limit bucket) *bucket {
	found, ok := b.buckets[key]
	if !ok {
		found = &limit
		found.tokens, found.at = found.size, b.now()
		b.buckets[key] = found
	}
	found.refill(b.now())
	return found
}

// place notes the region of a resource group, by what is made in it.
func (b *Budgets) place(request Request) {
	flow := flowOf(request.ID)
	switch {
	case request.Method == http.MethodDelete && strings.EqualFold(request.ID.Key(), flow):
		delete(b.regions, flow)
	case request.Method == http.MethodPut:
		if region := locationOf(request.Body); region != "" {
			b.regions[flow] = strings.ToLower(strings.ReplaceAll(region, " ", ""))
		}
	}
}

// locationOf is the location in the body of a request, "" for none.
func locationOf(body any) string {
	switch body := body.(type) {
	case map[string]any:
		location, _ := body["location"].(string)
		return location
	case json.RawMessage:
		var resource struct {
			Location string `json:"location"`
		}
		// What is no resource has no location.
		_ = json.Unmarshal(body, &resource)
		return resource.Location
	}
	return ""
}

// flowOf is who gets a share of a tenant's part of a budget: a resource group, as each cluster has one, or all that is in none.
func flowOf(id arm.ID) string {
	if group := id.ResourceGroup(); group != "" {
		return arm.ResourceGroupID(id.Subscription(), group).Key()
	}
	return ""
}

// holdKeys are the keys that hold a request back: its class as a whole, and its class in its resource provider.
func holdKeys(principal string, request Request) (whole, provider string) {
	whole = principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + class(request.Method)
	namespace, _, _ := strings.Cut(strings.ToLower(request.ID.Type()), "/")
	return whole, whole + "|" + namespace
}

// take takes a token, or returns the error that says when there will be one.
func (b *Budgets) take(principal, tenant string, request Request) error {
	return b.turn(principal, tenant, request, true)
}

// turn is take that spends the token only when it is told to. Who waits keeps the place in line, and the token with it.
func (b *Budgets) turn(principal, tenant string, request Request, spend bool) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	hold := func(wait time.Duration, why string) error {
		return &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusTooManyRequests, Code: arm.CodeBudgetEmpty,
			Message: "not sent: " + why, RetryAfter: wait}
	}
	now := b.now()
	whole, provider := holdKeys(principal, request)
	for _, key := range []string{whole, provider} {
		if until, ok := b.held[key]; ok {
			if wait := until.Sub(now); wait > 0 {
				return hold(wait, "Azure throttles "+class(request.Method)+" of this identity")
			}
			if -until.Sub(now) > 2*b.waited[key] {
				delete(b.held, key)
				delete(b.waited, key)
			}
		}
	}
	b.place(request)
	bucket, network := b.bucket(principal, request), b.network(principal, request)
	asked := turn{
		key:    tenant + " " + request.Method + " " + string(request.ID) + request.SubPath + request.URL,
		tenant: tenant, flow: flowOf(request.ID), first: request.Method == http.MethodDelete,
	}
	if wait := bucket.line.wait(asked, bucket, now); wait > 0 {
		return hold(wait, "the budget of "+class(request.Method)+" of this identity in the subscription is used up")
	}
	if network != nil {
		if wait := network.line.wait(asked, network, now); wait > 0 {
			return hold(wait, "what Microsoft.Network takes in five minutes is used up")
		}
	}
	if spend && network != nil {
		network.spend(asked, now)
	}
	if spend {
		bucket.spend(asked, now)
	}
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
	now := b.now()
	if after == 0 {
		after = time.Second
		if last := b.waited[key]; now.Sub(b.held[key]) < 2*last {
			// It was not enough.
			after = min(2*last, longest)
		}
	}
	if until := now.Add(after); until.After(b.held[key]) {
		b.held[key], b.waited[key] = until, after
	}
}

// throttles tells whether an answer says that there were too many requests. The network provider answers 429 RetryableError
// for a resource that is busy, which is no throttling.
func throttles(status int, code string) bool {
	return status == http.StatusTooManyRequests && !strings.HasPrefix(code, "RetryableError")
}

// Scarce is the share of the budget of reads, as Spare tells it, below which requests count more than what they bring.
const Scarce = 0.5

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
