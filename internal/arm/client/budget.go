package client

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Budgets are the token buckets of a process: one per principal, subscription and kind of operation. They start full, as Azure's own,
// and are corrected by Azure's headers.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/request-limits-and-throttling
//
// A nil *Budgets limits nothing. It is safe for concurrent use.
type Budgets struct {
	now func() time.Time
	// share is the part of Azure's limits that the process uses, more than 0 and at most 1.
	share float64

	mu      sync.Mutex
	buckets map[string]*tokenBucket
	// throttledUntil holds the end of each throttling by Azure, by kind of request. throttledFor holds its length.
	throttledUntil map[string]time.Time
	throttledFor   map[string]time.Duration
	// regions holds the regions of resource groups, by key, from the resources that were created or read in them.
	regions   map[string]groupRegion
	lastSweep time.Time
}

// groupRegion is the region of a resource group with the time of its last use.
type groupRegion struct {
	name string
	used time.Time
}

// bucketLimits are size and tokens per second by class. Azure's buckets hold 250 reads and 200 writes or deletes; the difference is
// left to other tools of the same principal.
var bucketLimits = map[string]tokenBucket{
	"reads":   {size: 225, rate: 25},
	"writes":  {size: 180, rate: 10},
	"deletes": {size: 180, rate: 10},
}

const (
	// unusedBudget is how long a budget stays in memory after its last request. It is full long before: a rotated secret makes another
	// principal, and clusters with their groups come and go.
	unusedBudget = time.Hour
	// maxRegionBody bounds the answers that the region of their group is learned from. All requests wait for the lock meanwhile.
	maxRegionBody = 64 << 10
)

// networkLimits are the requests that Microsoft.Network accepts in networkWindow, per subscription and region. Writes and deletions
// count together. A twentieth is left to others. Budgets count them per principal, too: a count for all principals would let one without
// rights in a subscription use up the limit of the others. So Azure may answer 429 when several principals write in one region.
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling#network-throttling
var networkLimits = map[string]float64{"reads": 9500, "writes": 950, "deletes": 950}

// NewBudgets returns full budgets. now is the clock; nil is time.Now. share is the part of each limit for this process, more than 0 and at
// most 1, if several processes send requests as one principal. Azure's headers have the remaining requests of all processes only when it
// answers, and Microsoft.Network has no such header, so processes that each use the whole limit are throttled.
func NewBudgets(now func() time.Time, share float64) *Budgets {
	if now == nil {
		now = time.Now
	}
	return &Budgets{now: now, share: share, buckets: map[string]*tokenBucket{}, throttledUntil: map[string]time.Time{},
		throttledFor: map[string]time.Duration{}, regions: map[string]groupRegion{}, lastSweep: now()}
}

func requestClass(method string) string {
	switch {
	case isRead(method):
		return "reads"
	case method == http.MethodDelete:
		return "deletes"
	}
	return "writes"
}

// principalBucket returns the refilled bucket of a principal.
func (b *Budgets) principalBucket(principal string, request Request) *tokenBucket {
	key, _ := throttleKeys(principal, request)
	limit := bucketLimits[requestClass(request.Method)]
	limit.subscription, limit.class, limit.throttleKey = strings.ToLower(request.ID.Subscription()), requestClass(request.Method), key
	return b.bucketFor(key, limit)
}

// networkBucket returns the refilled bucket of the region of a request to Microsoft.Network, nil for any other provider.
func (b *Budgets) networkBucket(principal string, request Request) *tokenBucket {
	if !strings.HasPrefix(strings.ToLower(request.ID.Type()), "microsoft.network/") {
		return nil
	}
	kind := requestClass(request.Method)
	if kind == "deletes" {
		kind = "writes"
	}
	key := principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + b.regionOf(flowKey(request.ID)) + "|network " + kind
	limit := networkLimits[kind]
	_, throttled := throttleKeys(principal, request)
	return b.bucketFor(key, tokenBucket{subscription: strings.ToLower(request.ID.Subscription()), class: "network " + kind, throttleKey: throttled,
		size: limit, rate: limit / networkWindow.Seconds(), window: &requestWindow{}})
}

func (b *Budgets) bucketFor(key string, limit tokenBucket) *tokenBucket {
	found, ok := b.buckets[key]
	if !ok {
		found = &limit
		found.size, found.rate = max(1, found.size*b.share), found.rate*b.share
		found.tokens, found.at = found.size, b.now()
		b.buckets[key] = found
	}
	found.used = b.now()
	found.refillTokens(found.used)
	return found
}

// regionOf returns the region of a resource group, "" if it is not known.
func (b *Budgets) regionOf(flow string) string {
	found, ok := b.regions[flow]
	if ok {
		b.setRegion(flow, found.name)
	}
	return found.name
}

func (b *Budgets) setRegion(flow, name string) { b.regions[flow] = groupRegion{name, b.now()} }

// recordRegion records the region of a resource group from a resource that is created in it.
func (b *Budgets) recordRegion(request Request) {
	flow := flowKey(request.ID)
	switch {
	case request.Method == http.MethodDelete && strings.EqualFold(request.ID.Key(), flow):
		delete(b.regions, flow)
	case request.Method == http.MethodPut:
		b.learnRegion(flow, locationOf(request.Body))
	}
}

// learnRegion records the region of a resource group from the location of a resource in it. A global resource, as a private DNS zone, has
// none.
func (b *Budgets) learnRegion(flow, location string) {
	region := strings.ToLower(strings.ReplaceAll(location, " ", ""))
	if region != "" && region != "global" {
		b.setRegion(flow, region)
	}
}

// dropUnused forgets budgets, throttlings and regions that have not been used for an hour.
func (b *Budgets) dropUnused(now time.Time) {
	if now.Sub(b.lastSweep) < unusedBudget/4 {
		return
	}
	b.lastSweep = now
	maps.DeleteFunc(b.buckets, func(_ string, bucket *tokenBucket) bool { return now.Sub(bucket.used) >= unusedBudget })
	maps.DeleteFunc(b.regions, func(_ string, region groupRegion) bool { return now.Sub(region.used) >= unusedBudget })
	for key, until := range b.throttledUntil {
		if now.Sub(until) >= unusedBudget {
			delete(b.throttledUntil, key)
			delete(b.throttledFor, key)
		}
	}
}

// locationOf returns the location in the body of a request, "" if there is none.
func locationOf(body any) string {
	switch body := body.(type) {
	case map[string]any:
		location, _ := body["location"].(string)
		return location
	case json.RawMessage:
		var resource struct {
			Location string `json:"location"`
		}
		// A body that is no resource has no location.
		_ = json.Unmarshal(body, &resource)
		return resource.Location
	}
	return ""
}

// flowKey returns the key of the flow that shares a tenant's part of a budget: one per resource group, as each cluster has one, and one
// for all other requests.
func flowKey(id arm.ID) string {
	if group := id.ResourceGroup(); group != "" {
		return arm.ResourceGroupID(id.Subscription(), group).Key()
	}
	return ""
}

// throttleKeys returns the keys under which Azure's throttling of a request is recorded: for its class as a whole, and for its class in
// its resource provider.
func throttleKeys(principal string, request Request) (whole, provider string) {
	whole = principal + "|" + strings.ToLower(request.ID.Subscription()) + "|" + requestClass(request.Method)
	namespace, _, _ := strings.Cut(strings.ToLower(request.ID.Type()), "/")
	return whole, whole + "|" + namespace
}

// takeToken takes a token, or returns an error with the time until there is one.
func (b *Budgets) takeToken(principal, tenant string, request Request) error {
	return b.reserveToken(principal, tenant, request, true)
}

// reserveToken is takeToken, but spends the token only if spend is set. Otherwise the place in the queue is kept, and the token with
// it.
func (b *Budgets) reserveToken(principal, tenant string, request Request, spend bool) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	throttled := func(wait time.Duration, why string) error {
		return &arm.Error{Method: request.Method, ID: request.ID, Status: http.StatusTooManyRequests, Code: arm.CodeBudgetEmpty,
			Message: "not sent: " + why, RetryAfter: wait}
	}
	now := b.now()
	whole, provider := throttleKeys(principal, request)
	for _, key := range []string{whole, provider} {
		if until, ok := b.throttledUntil[key]; ok {
			if wait := until.Sub(now); wait > 0 {
				return throttled(wait, "Azure throttles "+requestClass(request.Method)+" of this identity")
			}
			if -until.Sub(now) > 2*b.throttledFor[key] {
				delete(b.throttledUntil, key)
				delete(b.throttledFor, key)
			}
		}
	}
	b.dropUnused(now)
	b.recordRegion(request)
	bucket, network := b.principalBucket(principal, request), b.networkBucket(principal, request)
	queued := queuedRequest{
		key:    tenant + " " + request.Method + " " + string(request.ID) + request.SubPath + request.URL,
		tenant: tenant, flow: flowKey(request.ID), first: request.Method == http.MethodDelete,
	}
	if request.isLaterPage() {
		// A list that had to queue for each of its pages would never end while others wait, and all its pages would be read in vain. So
		// only the first page queues. The tokens of the others are owed.
		for _, owing := range []*tokenBucket{network, bucket} {
			if owing != nil {
				owing.spendToken(queued, now)
				owing.queue.delayTenant(tenant)
			}
		}
		return nil
	}
	if wait := bucket.queue.waitTime(queued, bucket, now); wait > 0 {
		return throttled(wait, "the budget of "+requestClass(request.Method)+" of this identity in the subscription is used up")
	}
	if network != nil {
		if wait := network.queue.waitTime(queued, network, now); wait > 0 {
			return throttled(wait, "the five-minute budget of Microsoft.Network is used up")
		}
	}
	if spend && network != nil {
		network.spendToken(queued, now)
	}
	if spend {
		bucket.spendToken(queued, now)
	}
	return nil
}

// learnFromAnswer corrects the budgets by the headers of an answer.
func (b *Budgets) learnFromAnswer(principal string, request Request, status int, header http.Header, body []byte, after time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket := b.principalBucket(principal, request)
	kind := requestClass(request.Method)
	for _, name := range []string{"X-Ms-Ratelimit-Remaining-Subscription-" + kind, "X-Ms-Ratelimit-Remaining-Subscription-Global-" + kind} {
		if remaining, err := strconv.ParseFloat(header.Get(name), 64); err == nil && remaining < bucket.tokens {
			bucket.tokens = max(0, remaining)
		}
	}
	if flow := flowKey(request.ID); flow != "" && request.Method == http.MethodGet && isSuccess(status) && b.regionOf(flow) == "" &&
		len(body) <= maxRegionBody {
		// After a restart, existing resources are read before they are written.
		b.learnRegion(flow, locationOf(json.RawMessage(body)))
	}
	// Other answers are not parsed here: lists of VM sizes have megabytes, and all other requests wait for the lock.
	if status != http.StatusTooManyRequests || !isThrottling(status, ParseError(body).Code) {
		return
	}
	whole, provider := throttleKeys(principal, request)
	key := provider
	if header.Get("X-Ms-Failure-Cause") == "gateway" || strings.HasPrefix(ParseError(body).Code, "SubscriptionRequests") {
		key = whole
	}
	now := b.now()
	if after == 0 {
		if now.Before(b.throttledUntil[key]) {
			// The request was sent before the wait began, so its answer does not show that the wait is too short.
			return
		}
		after = time.Second
		if last := b.throttledFor[key]; now.Sub(b.throttledUntil[key]) < 2*last {
			// The previous wait was too short.
			after = min(2*last, maxQueueWait)
		}
	}
	if until := now.Add(after); until.After(b.throttledUntil[key]) {
		b.throttledUntil[key], b.throttledFor[key] = until, after
	}
}

// isThrottling reports whether an answer means too many requests. The network provider answers 429 RetryableError for a busy resource,
// which is not throttling.
func isThrottling(status int, code string) bool {
	return status == http.StatusTooManyRequests && !strings.HasPrefix(code, "RetryableError")
}

// ScarceReadBudget is the share of the read budget, as returned by ReadBudgetLeft, below which saving requests is more important than
// speed.
const ScarceReadBudget = 0.5

// ReadBudgetLeft returns the remaining share of this client's read budget in a subscription, 0 to 1. Callers that read only to be
// quicker should stop when it is low.
func (c *Client) ReadBudgetLeft(subscription string) float64 {
	b := c.options.Budgets
	if b == nil {
		return 1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	request := Request{Method: http.MethodGet, ID: arm.SubscriptionID(subscription)}
	whole, _ := throttleKeys(c.options.Principal, request)
	if b.throttledUntil[whole].After(b.now()) {
		return 0
	}
	bucket := b.principalBucket(c.options.Principal, request)
	return max(0, bucket.tokens/bucket.size)
}
