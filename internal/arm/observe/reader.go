package observe

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Reader reads resources, from the cache where possible. It is safe for concurrent use.
type Reader struct {
	// Cache is read first and stores all reads.
	Cache *Cache
	// MaxParallel bounds the requests that one Read has in flight.
	MaxParallel int
	// CountFollowed returns the number of followed resources in the collection of an ID; nil means none.
	CountFollowed func(arm.ID) int
	// OnCacheRead is called with the result of each lookup in the cache; nil disables it. It must be quick.
	OnCacheRead func(CacheResult)
}

// CacheResult is the result of a lookup in the cache.
type CacheResult string

const (
	// CacheHit means that the cache had the resource.
	CacheHit CacheResult = "hit"
	// CacheMiss means that Azure has to be asked, for the resource or a list with it.
	CacheMiss CacheResult = "miss"
	// CacheBypass means that the caller accepts only an answer of Azure.
	CacheBypass CacheResult = "bypass"
)

func (r *Reader) recordCacheRead(result CacheResult) {
	if r.OnCacheRead != nil {
		r.OnCacheRead(result)
	}
}

// Read reads resources that are not in the cache or are older there than maxAge, unless the options accept older reads; a negative maxAge
// reads all. The result is keyed by ID.Key().
//
// Resource groups are read first: resources of an absent group need no request. If the credentials or the subscription are refused
// once, or several requests get no answer, the other resources are not requested.
func (r *Reader) Read(ctx context.Context, c *client.Client, ids []arm.ID, maxAge time.Duration,
	options ReadOptions) map[string]Observation {
	call := &readCall{reader: r, client: c, options: options, maxAge: maxAge, out: map[string]Observation{},
		slots: make(chan struct{}, r.MaxParallel)}
	if options.MaxAge > 0 && maxAge >= 0 && r.Cache.maxConfirmedAge > 0 {
		call.regularSync, call.maxAge = true, max(maxAge, options.MaxAge)
	}
	var groups, rest []arm.ID
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id.Key()] {
			continue
		}
		seen[id.Key()] = true
		if id.Type() == types.ResourceGroup {
			groups = append(groups, id)
		} else {
			rest = append(rest, id)
		}
	}
	call.readAll(ctx, groups)
	var inside []arm.ID
	for _, id := range rest {
		group := call.out[resourceGroupOf(id).Key()]
		if !group.WasRead() && maxAge >= 0 {
			group, _ = r.Cache.findObservation(c.CacheScope(), resourceGroupOf(id), r.Cache.clock.Now().Add(-maxAge))
		}
		if group.WasRead() && group.Err == nil && !group.Exists {
			call.out[id.Key()] = Observation{Observed: Observed{ID: id, At: group.At}, changeCount: group.changeCount}
			continue
		}
		inside = append(inside, id)
	}
	first, last := splitEmbedded(inside)
	call.readAll(ctx, first)
	call.readAll(ctx, last)
	return call.out
}

// Get reads one resource from Azure and stores it in the cache.
func (r *Reader) Get(ctx context.Context, c *client.Client, id arm.ID) Observation {
	found := r.Cache.NewObservation(Observed{ID: id}, false)
	found.requested = true
	row, err := types.ForID(id)
	if err != nil {
		found.Err = err
		return found
	}
	response, err := c.Get(ctx, id, row.APIVersion, row.GetQuery)
	switch {
	case err == nil:
		found.Exists, found.Body = true, withoutBackReferences(row, response.Body)
		found.ETag = ParseHead(response.Body).ETag
		if found.ETag == "" {
			found.ETag = response.ETag
		}
	case arm.Classify(err) != arm.ClassNotFound:
		found.Err = err
		return found
	}
	r.Cache.StoreObservation(c.CacheScope(), found)
	return found
}

// readCall is one call of Read.
type readCall struct {
	reader *Reader
	client *client.Client
	// options are those of the call, maxAge is the maximum age of reads in the cache by all arguments.
	options ReadOptions
	maxAge  time.Duration
	// regularSync means that no change is known since the last read, so that a digest can show that nothing was written since.
	regularSync bool
	slots       chan struct{}

	mu      sync.Mutex
	out     map[string]Observation
	refusal error // error of every request of this client
	// unanswered counts requests without an answer.
	unanswered int
}

// maxUnanswered is the number of requests without an answer after which a call of Read sends no others: each blocks its reconciliation for
// the timeout of a request.
const maxUnanswered = 3

func (r *readCall) readAll(ctx context.Context, ids []arm.ID) {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	collections := map[string][]arm.ID{}
	var order []string
	if r.maxAge >= 0 {
		before := len(ids)
		ids = r.takeCached(ids, cache.clock.Now().Add(-r.maxAge))
		for range before - len(ids) {
			r.reader.recordCacheRead(CacheHit)
		}
		ids = r.readSubscriptionLists(ctx, r.takeConfirmed(ctx, r.takeReusable(ids)))
	}
	for _, id := range ids {
		if r.maxAge >= 0 {
			r.reader.recordCacheRead(CacheMiss)
		} else {
			r.reader.recordCacheRead(CacheBypass)
		}
		key := listKey(scope, id)
		if collections[key] == nil {
			order = append(order, key)
		}
		collections[key] = append(collections[key], id)
	}
	var wait sync.WaitGroup
	run := func(f func()) {
		r.slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-r.slots }()
			f()
		})
	}
	for _, key := range order {
		missing := collections[key]
		row, err := types.ForID(missing[0])
		if err == nil && !row.ReadIndividually && cache.shouldList(scope, missing, r.readNeed(missing[0])) {
			run(func() {
				if !r.readCollection(ctx, row, missing) {
					for _, id := range missing {
						r.readOne(ctx, id)
					}
				}
			})
			continue
		}
		for _, id := range missing {
			run(func() { r.readOne(ctx, id) })
		}
	}
	wait.Wait()
}

// readNeed describes the read of resources of the collection of an ID.
func (r *readCall) readNeed(id arm.ID) readNeed {
	out := readNeed{maxAge: r.maxAge, batch: r.options.isBatch(), readBudgetLeft: r.client.ReadBudgetLeft(id.Subscription())}
	if r.reader.CountFollowed != nil {
		out.followed = r.reader.CountFollowed(id)
	}
	return out
}

func (r *readCall) setResult(found Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out[found.ID.Key()] = found
	var failure *arm.Error
	if errors.As(found.Err, &failure) && failure.Code == client.CodeConnectionFailed {
		r.unanswered++
	}
	if found.Err != nil && (AffectsEveryRequest(found.Err) || r.unanswered >= maxUnanswered) {
		r.refusal = found.Err
	}
}

func (r *readCall) skipRefused(id arm.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusal != nil {
		r.out[id.Key()] = r.reader.Cache.NewObservation(Observed{ID: id, Err: r.refusal}, false)
	}
	return r.refusal != nil
}

// readOne reads one resource, or waits for another reader of it.
func (r *readCall) readOne(ctx context.Context, id arm.ID) {
	var failure error
	for r.maxAge >= 0 {
		oldest := r.reader.Cache.clock.Now().Add(-r.maxAge)
		inFlight, end := r.reader.Cache.beginRead(r.client.CacheScope(), id)
		if end != nil {
			defer func() { end(failure) }()
			break
		}
		err := inFlight.wait(ctx)
		if len(r.takeCached([]arm.ID{id}, oldest)) == 0 {
			return
		}
		if err != nil {
			r.setResult(r.reader.Cache.NewObservation(Observed{ID: id, Err: err}, false))
			return
		}
	}
	if !r.skipRefused(id) {
		found := r.reader.Get(ctx, r.client, id)
		failure = found.Err
		r.setResult(found)
	}
}
