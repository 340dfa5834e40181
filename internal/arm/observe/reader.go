package observe

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Reader reads resources, from the cache where that has them. It is safe for concurrent use.
type Reader struct {
	// Cache is where it looks first and keeps what it read.
	Cache *Cache
	// MaxParallel is how many requests one Read has under way at a time.
	MaxParallel int
	// Followed is how many resources of the collection of an ID are looked at again and again; nil is none.
	Followed func(arm.ID) int
	// Looked is told what a look at the cache came to; nil is nobody. It must be quick.
	Looked func(Look)
}

// Look says what a look at the cache came to.
type Look string

const (
	// Hit means that the cache had what was asked for.
	Hit Look = "hit"
	// Miss means that Azure has to be asked, for the resource or a list with it.
	Miss Look = "miss"
	// Bypass means that whoever asked wants no answer but Azure's.
	Bypass Look = "bypass"
)

func (r *Reader) looked(look Look) {
	if r.Looked != nil {
		r.Looked(look)
	}
}

// Read reads resources that are not in the cache or are older there than maxAge; a negative maxAge reads all. What it
// returns is keyed by ID.Key().
//
// Resource groups go first: what is in a group that does not exist need not be asked for, and when the credentials or
// the subscription are refused once, they are not tried for every resource.
func (r *Reader) Read(ctx context.Context, c *client.Client, ids []arm.ID, maxAge time.Duration) map[string]Observation {
	reading := &reading{reader: r, client: c, maxAge: maxAge, together: isTogether(ctx), out: map[string]Observation{}, slots: make(chan struct{}, r.MaxParallel)}
	if age := regularity(ctx); age > 0 && maxAge >= 0 && r.Cache.full > 0 {
		reading.regular, reading.maxAge = true, max(maxAge, age)
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
	reading.all(ctx, groups)
	var inside []arm.ID
	for _, id := range rest {
		group := reading.out[groupOf(id).Key()]
		if !group.Seen() && maxAge >= 0 {
			group, _ = r.Cache.get(c.Scope(), groupOf(id), r.Cache.clock.Now().Add(-maxAge))
		}
		if group.Seen() && group.Err == nil && !group.Exists {
			reading.out[id.Key()] = Observation{Observed: Observed{ID: id, At: group.At}, count: group.count}
			continue
		}
		inside = append(inside, id)
	}
	first, last := heldLast(inside)
	reading.all(ctx, first)
	reading.all(ctx, last)
	return reading.out
}

// Get reads one resource from Azure, and keeps it for others.
func (r *Reader) Get(ctx context.Context, c *client.Client, id arm.ID) Observation {
	found := r.Cache.At(Observed{ID: id}, false)
	found.wanted = true
	row, err := types.ForID(id)
	if err != nil {
		found.Err = err
		return found
	}
	response, err := c.Get(ctx, id, row.APIVersion, row.GetQuery)
	switch {
	case err == nil:
		found.Exists, found.Body = true, shown(row, response.Body)
		found.ETag = HeadOf(response.Body).ETag
		if found.ETag == "" {
			found.ETag = response.ETag
		}
	case arm.Classify(err) != arm.ClassNotFound:
		found.Err = err
		return found
	}
	r.Cache.Keep(c.Scope(), found)
	return found
}

type togetherKey struct{}

// Together is a context for reads that others of the same group are about to have as well, so that lists serve all of them.
func Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, togetherKey{}, true)
}

func isTogether(ctx context.Context) bool { return ctx.Value(togetherKey{}) == true }

// reading is one call of Read.
type reading struct {
	reader *Reader
	client *client.Client
	maxAge time.Duration
	// together tells that others are about to ask for what is beside.
	together bool
	// regular tells that nothing is known to have happened since the last look, so that a digest may vouch for what that saw.
	regular bool
	slots   chan struct{}

	mu      sync.Mutex
	out     map[string]Observation
	refused error // what is true of every request of this client
}

func (r *reading) all(ctx context.Context, ids []arm.ID) {
	cache, scope := r.reader.Cache, r.client.Scope()
	collections := map[string][]arm.ID{}
	var order []string
	if r.maxAge >= 0 {
		before := len(ids)
		ids = r.known(ids, cache.clock.Now().Add(-r.maxAge))
		for range before - len(ids) {
			r.reader.looked(Hit)
		}
		ids = r.wide(ctx, r.vouched(ctx, r.continued(ctx, ids)))
	}
	for _, id := range ids {
		if r.maxAge >= 0 {
			r.reader.looked(Miss)
		} else {
			r.reader.looked(Bypass)
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
		if err == nil && !row.ReadIndividually && cache.shouldList(scope, missing, r.need(missing[0])) {
			run(func() {
				if !r.list(ctx, row, missing) {
					for _, id := range missing {
						r.get(ctx, id)
					}
				}
			})
			continue
		}
		for _, id := range missing {
			run(func() { r.get(ctx, id) })
		}
	}
	wait.Wait()
}

// need is what the resources of the collection of an ID are read for.
func (r *reading) need(id arm.ID) need {
	out := need{maxAge: r.maxAge, together: r.together, spare: r.client.Spare(id.Subscription())}
	if r.reader.Followed != nil {
		out.followed = r.reader.Followed(id)
	}
	return out
}

func (r *reading) set(found Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out[found.ID.Key()] = found
	if found.Err != nil && OfEveryRequest(found.Err) {
		r.refused = found.Err
	}
}

func (r *reading) skip(id arm.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil {
		r.out[id.Key()] = r.reader.Cache.At(Observed{ID: id, Err: r.refused}, false)
	}
	return r.refused != nil
}

// get reads one resource, or takes what another reader of it is about to get.
func (r *reading) get(ctx context.Context, id arm.ID) {
	for r.maxAge >= 0 {
		oldest := r.reader.Cache.clock.Now().Add(-r.maxAge)
		landed, end := r.reader.Cache.takeOff(r.client.Scope(), id)
		if end != nil {
			defer end()
			break
		}
		select {
		case <-landed:
		case <-ctx.Done():
			r.set(r.reader.Cache.At(Observed{ID: id, Err: ctx.Err()}, false))
			return
		}
		if len(r.known([]arm.ID{id}, oldest)) == 0 {
			return
		}
	}
	if !r.skip(id) {
		r.set(r.reader.Get(ctx, r.client, id))
	}
}
