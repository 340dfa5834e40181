package observe

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

type reuseKey struct{}

// reuseOptions is the time since when reads may be reused, and the resources that this is limited to.
type reuseOptions struct {
	since time.Time
	only  func(arm.ID) bool
}

// WithReuseSince returns a context for work that began at a time: resources that existed and were in order when they were read since
// then are not read again, if only writes change them. The next sync detects changes by others.
func WithReuseSince(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, reuseKey{}, reuseOptions{since: at})
}

// WithReuseOnly limits WithReuseSince to some resources.
func WithReuseOnly(ctx context.Context, only func(arm.ID) bool) context.Context {
	s, ok := ctx.Value(reuseKey{}).(reuseOptions)
	if !ok || s.since.IsZero() {
		return ctx
	}
	s.only = only
	return context.WithValue(ctx, reuseKey{}, s)
}

// WithoutReadOptions removes WithBatch, WithMaxAge and WithReuseSince.
func WithoutReadOptions(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, reuseKey{}, reuseOptions{})
	ctx = context.WithValue(ctx, maxAgeKey{}, time.Duration(0))
	return context.WithValue(ctx, batchKey{}, false)
}

// takeReusable takes reads since the beginning of the work, and returns the other IDs.
func (r *readCall) takeReusable(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	s, _ := ctx.Value(reuseKey{}).(reuseOptions)
	if s.since.IsZero() {
		return ids
	}
	return r.takeFound(ids, func(id arm.ID) (Observation, bool) {
		if s.only != nil && !s.only(id) {
			return Observation{}, false
		}
		return r.reader.Cache.reusableObservation(r.client.CacheScope(), id, s.since)
	})
}

// reusableObservation returns the observation of id from oldest or later, if id has not changed since, existed and was in order, and no
// later list lacks it.
func (c *Cache) reusableObservation(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	if row, err := types.ForID(id); err != nil || !row.ChangesOnlyOnWrite {
		return Observation{}, false
	}
	found, ok := c.findObservation(scope, id, oldest)
	// Azure creates a resource group synchronously, so the answer to the PUT is final.
	if !ok || !found.Exists || found.FromWrite && id.Type() != types.ResourceGroup {
		return Observation{}, false
	}
	if inProgress, failed := ProvisioningState(found.Body); inProgress != "" || failed {
		return Observation{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.lists[listKey(scope, id)]
	if list != nil && list.at.After(found.At) && !list.members[hashOf(id.Key())] {
		return Observation{}, false
	}
	found.ID = id
	return found, true
}
