package observe

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

type reuseKey struct{}

// reuseOptions is from when on what was read serves, and of which resources.
type reuseOptions struct {
	since time.Time
	only  func(arm.ID) bool
}

// WithReuseSince is a context for a look that continues what began at a time: what was there and in order when it was read since then serves
// once more, where only a write changes it. If somebody else has written it meanwhile, the next regular look shows that.
func WithReuseSince(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, reuseKey{}, reuseOptions{since: at})
}

// WithReuseOnly is ctx with what Since has said for some resources only.
func WithReuseOnly(ctx context.Context, of func(arm.ID) bool) context.Context {
	s, ok := ctx.Value(reuseKey{}).(reuseOptions)
	if !ok || s.since.IsZero() {
		return ctx
	}
	s.only = of
	return context.WithValue(ctx, reuseKey{}, s)
}

// WithoutReadOptions is ctx without what Together, Regularly and Since have said.
func WithoutReadOptions(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, reuseKey{}, reuseOptions{})
	ctx = context.WithValue(ctx, maxAgeKey{}, time.Duration(0))
	return context.WithValue(ctx, batchKey{}, false)
}

// takeReusable takes what was in order since the look's beginning, and returns the other IDs.
func (r *reading) takeReusable(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
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

// reusableObservation is the observation of id from oldest or later, and after the last change of it, if it was there and in order then, and no
// list since has shown otherwise.
func (c *Cache) reusableObservation(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	if row, err := types.ForID(id); err != nil || !row.ChangesOnlyOnWrite {
		return Observation{}, false
	}
	found, ok := c.findObservation(scope, id, oldest)
	// A resource group is made at once, and what Azure answers is what there is.
	if !ok || !found.Exists || found.FromWrite && id.Type() != types.ResourceGroup {
		return Observation{}, false
	}
	if doing, failed := ProvisioningState(found.Body); doing != "" || failed {
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
