package observe

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

type sinceKey struct{}

// since is from when on what was read serves, and of which resources.
type since struct {
	at time.Time
	of func(arm.ID) bool
}

// Since is a context for a look that continues what began at a time: what was there and in order when it was read since then serves
// once more, where only a write changes it. If somebody else has written it meanwhile, the next regular look shows that.
func Since(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, since{at: at})
}

// Only is ctx with what Since has said for some resources only.
func Only(ctx context.Context, of func(arm.ID) bool) context.Context {
	s, ok := ctx.Value(sinceKey{}).(since)
	if !ok || s.at.IsZero() {
		return ctx
	}
	s.of = of
	return context.WithValue(ctx, sinceKey{}, s)
}

// Alone is ctx without what Together, Regularly and Since have said.
func Alone(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, sinceKey{}, since{})
	ctx = context.WithValue(ctx, regularKey{}, time.Duration(0))
	return context.WithValue(ctx, togetherKey{}, false)
}

// continued takes what was in order since the look's beginning, and returns the other IDs.
func (r *reading) continued(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	s, _ := ctx.Value(sinceKey{}).(since)
	if s.at.IsZero() {
		return ids
	}
	return r.served(ids, func(id arm.ID) (Observation, bool) {
		if s.of != nil && !s.of(id) {
			return Observation{}, false
		}
		return r.reader.Cache.steady(r.client.Scope(), id, s.at)
	})
}

// steady is the observation of id from oldest or later, and after the last change of it, if it was there and in order then, and no
// list since has shown otherwise.
func (c *Cache) steady(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	if row, err := types.ForID(id); err != nil || !row.ChangesOnlyOnWrite {
		return Observation{}, false
	}
	found, ok := c.get(scope, id, oldest)
	// A resource group is made at once, and what Azure answers is what there is.
	if !ok || !found.Exists || found.FromWrite && id.Type() != types.ResourceGroup {
		return Observation{}, false
	}
	if doing, failed := Provisioning(found.Body); doing != "" || failed {
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
