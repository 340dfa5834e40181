package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Observed is a resource as Azure last showed it.
type Observed struct {
	ID arm.ID
	// Exists is false when Azure answered 404 for the resource or what holds it.
	Exists bool
	// Body is the resource; nil when it does not exist or Err is set.
	Body json.RawMessage
	// ETag is the value for If-Match, from the body or the header; "" when Azure gave none.
	ETag string
	// Err is why the resource could not be read. It is never a 404.
	Err error
	// At is when Azure was asked.
	At time.Time
}

// Observe reads resources, keyed by ID.Key(). Reads of several resources of one type in one group are one LIST, shared
// with other passes for the freshness window unless fresh is set. The error is set only for a cancelled context.
func (e *Engine) Observe(ctx context.Context, c *client.Client, ids []arm.ID, fresh bool) (map[string]Observed, error) {
	found := e.observe(ctx, c, ids, e.maxAge(fresh))
	out := make(map[string]Observed, len(found))
	for key, observation := range found {
		out[key] = observation.Observed
	}
	return out, ctx.Err()
}

func (e *Engine) maxAge(fresh bool) time.Duration {
	if fresh {
		return -1
	}
	return e.options.Freshness
}

// observe reads resources that are not in the cache or are older there than maxAge; a negative maxAge reads all.
// Resource groups go first: what is in a group that does not exist need not be asked for, and when the credentials or
// the subscription are refused once, they are not tried for every resource.
func (e *Engine) observe(ctx context.Context, c *client.Client, ids []arm.ID, maxAge time.Duration) map[string]observation {
	reading := &reading{engine: e, client: c, maxAge: maxAge, out: map[string]observation{}, slots: make(chan struct{}, e.options.MaxParallel)}
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
		group := reading.out[arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()).Key()]
		if group.ID != "" && group.Err == nil && !group.Exists {
			reading.out[id.Key()] = observation{Observed: Observed{ID: id, At: group.At}, count: group.count}
			continue
		}
		inside = append(inside, id)
	}
	reading.all(ctx, inside)
	return reading.out
}

// reading is one call of observe.
type reading struct {
	engine *Engine
	client *client.Client
	maxAge time.Duration
	slots  chan struct{}

	mu      sync.Mutex
	out     map[string]observation
	refused error // what is true of every request of this client
}

func (r *reading) all(ctx context.Context, ids []arm.ID) {
	collections := map[string][]arm.ID{}
	var order []string
	for _, id := range ids {
		if r.maxAge >= 0 {
			if found, ok := r.engine.cache.get(r.client.Scope(), id, r.engine.clock.Now().Add(-r.maxAge)); ok {
				r.set(found)
				continue
			}
		}
		key := listKey(r.client.Scope(), id)
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
		row, err := types.Of(missing[0])
		if err == nil && !row.NoList && r.engine.cache.shouldList(r.client.Scope(), missing, r.maxAge, r.engine.registry.alongside(missing[0])) {
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

func (r *reading) set(found observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out[found.ID.Key()] = found
	if found.Err != nil && ofEveryRequest(found.Err) {
		r.refused = found.Err
	}
}

func (r *reading) skip(id arm.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != nil {
		r.out[id.Key()] = observation{Observed: Observed{ID: id, Err: r.refused, At: r.engine.clock.Now()}, count: r.engine.cache.begin()}
	}
	return r.refused != nil
}

func (r *reading) get(ctx context.Context, id arm.ID) {
	if !r.skip(id) {
		r.set(r.engine.get(ctx, r.client, id))
	}
}

// get reads one resource from Azure, and keeps it for others.
func (e *Engine) get(ctx context.Context, c *client.Client, id arm.ID) observation {
	found := observation{Observed: Observed{ID: id, At: e.clock.Now()}, count: e.cache.begin()}
	row, err := types.Of(id)
	if err != nil {
		found.Err = err
		return found
	}
	response, err := c.Get(ctx, id, row.APIVersion, row.GetQuery)
	switch {
	case err == nil:
		found.Exists, found.Body = true, response.Body
		found.ETag = etagOf(response.Body)
		if found.ETag == "" {
			found.ETag = response.ETag
		}
	case arm.Classify(err) != arm.ClassNotFound:
		found.Err = err
		return found
	}
	e.cache.put(c.Scope(), found)
	return found
}

// list reads the collection of the missing IDs, or takes what another reader of it is about to get. It gives up on a
// collection that cannot be listed, as with a role on single resources only.
func (r *reading) list(ctx context.Context, row types.Type, missing []arm.ID) bool {
	for r.maxAge >= 0 {
		oldest := r.engine.clock.Now().Add(-r.maxAge)
		ended, mine := r.engine.cache.enter(r.client.Scope(), missing[0])
		if mine {
			defer r.engine.cache.leave(r.client.Scope(), missing[0])
			break
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return false
		}
		// What was written after that reader began has to be read again.
		if missing = r.known(missing, oldest); len(missing) == 0 {
			return true
		}
	}
	return r.listAlone(ctx, row, missing)
}

// known takes what the cache has, and returns the IDs that it has not.
func (r *reading) known(ids []arm.ID, oldest time.Time) (missing []arm.ID) {
	for _, id := range ids {
		if found, ok := r.engine.cache.get(r.client.Scope(), id, oldest); ok {
			found.ID = id
			r.set(found)
			continue
		}
		missing = append(missing, id)
	}
	return missing
}

func (r *reading) listAlone(ctx context.Context, row types.Type, missing []arm.ID) bool {
	e, scope := r.engine, r.client.Scope()
	if r.skip(missing[0]) {
		return false
	}
	at, count := e.clock.Now(), e.cache.begin()
	items, err := r.client.List(ctx, types.ListPath(missing[0]), row.APIVersion, row.ListQuery)
	switch {
	case err != nil && ofEveryRequest(err):
		for _, id := range missing {
			r.set(observation{Observed: Observed{ID: id, Err: err, At: at}, count: count})
		}
		return true
	case err != nil && arm.Classify(err) != arm.ClassNotFound:
		return false
	}
	prefix := types.ListPath(missing[0]) + "/"
	for _, item := range items {
		var head struct {
			Name string `json:"name"`
			ETag string `json:"etag"`
		}
		if json.Unmarshal(item, &head) != nil || head.Name == "" {
			continue
		}
		// Names of children are "parent/child" in places.
		name := head.Name[strings.LastIndex(head.Name, "/")+1:]
		e.cache.put(scope, observation{Observed: Observed{ID: arm.ID(prefix + name), Exists: true, Body: item, ETag: head.ETag, At: at}, count: count})
	}
	e.cache.putList(scope, missing[0], at, count, len(items))
	for _, id := range r.known(missing, at) {
		r.get(ctx, id)
	}
	return true
}

// ofEveryRequest tells whether an error would be the answer to any other request of the same client, too.
func ofEveryRequest(err error) bool {
	var e *arm.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case client.CodeCredentialsInvalid, client.CodeTokenUnavailable, client.CodeCanceled, client.CodeHeldBack,
		"SubscriptionNotFound", "InvalidAuthenticationToken", "InvalidAuthenticationTokenTenant", "ReadOnlyDisabledSubscription":
		return true
	}
	return false
}

// head is what the engine itself reads of any resource.
type head struct {
	ID         string            `json:"id"`
	ETag       string            `json:"etag"`
	Tags       map[string]string `json:"tags"`
	Properties struct {
		ProvisioningState string `json:"provisioningState"`
	} `json:"properties"`
}

func headOf(body json.RawMessage) head {
	var out head
	// A body of another shape has none of these.
	_ = json.Unmarshal(body, &out)
	return out
}

func etagOf(body json.RawMessage) string { return headOf(body).ETag }
