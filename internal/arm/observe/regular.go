package observe

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Regular looks are those at what was in order, when it is time for them and nothing has happened. All of a process come at the same
// moments, so that little is read for many: lists of whole subscriptions, and first of all a digest, which shows what of all that was
// read earlier still holds.

type regularKey struct{}

// Regularly is a context for a look at what was in order. What was read at most age ago serves.
func Regularly(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(Together(ctx), regularKey{}, age)
}

func regularity(ctx context.Context) time.Duration {
	age, _ := ctx.Value(regularKey{}).(time.Duration)
	return age
}

// halfway is how many ages of regular looks are half of the time between them: what becomes too old within that is read anew.
const halfway = 5

// anew is from when on a regular look takes what no digest can vouch for.
func (r *Reader) anew(ctx context.Context) time.Time {
	return r.Cache.clock.Now().Add(halfway*regularity(ctx) - r.Cache.full)
}

// Unchanged tells whether what was learned of id at a time, when it had this mark, still holds, and its mark for what is learned from
// here on. The path of a collection is an id, too. Outside of regular looks nothing holds.
func (r *Reader) Unchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark Mark) (Mark, bool) {
	age := regularity(ctx)
	if age == 0 || r.Cache.full == 0 {
		return 0, false
	}
	reading := &reading{reader: r, client: c, maxAge: age, regular: true}
	reading.digest(ctx, []arm.ID{id})
	now := r.Cache.mark(c.Scope(), id, r.Cache.clock.Now().Add(-age))
	return now, now != 0 && now == mark && !at.Before(r.anew(ctx))
}

// vouched takes what a digest vouches for, and returns the other IDs.
func (r *reading) vouched(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	if !r.regular || len(ids) == 0 {
		return ids
	}
	var told []arm.ID
	for _, id := range ids {
		if row, err := types.ForID(id); err == nil && !row.VolatileState {
			told = append(told, id)
		}
	}
	r.digest(ctx, told)
	oldest, full := r.reader.Cache.clock.Now().Add(-r.maxAge), r.reader.anew(ctx)
	return r.served(ids, func(id arm.ID) (Observation, bool) {
		if row, err := types.ForID(id); err == nil && row.VolatileState {
			return Observation{}, false
		}
		return r.reader.Cache.vouched(r.client.Scope(), id, oldest, full)
	})
}

// served takes what of knows, and returns the other IDs.
func (r *reading) served(ids []arm.ID, of func(arm.ID) (Observation, bool)) (missing []arm.ID) {
	for _, id := range ids {
		found, ok := of(id)
		if !ok {
			missing = append(missing, id)
			continue
		}
		r.reader.looked(Hit)
		r.set(found)
	}
	return missing
}

// mostPages is how many pages a digest of a subscription may have however few resource groups it is read for.
const mostPages = 8

// digest has what tells whether ids are as they were read lately: one list of their subscription, or those of their resource groups
// where it is refused or so much longer than what it is read for.
func (r *reading) digest(ctx context.Context, ids []arm.ID) {
	cache, scope := r.reader.Cache, r.client.Scope()
	groups := map[string]arm.ID{}
	for _, id := range ids {
		groups[groupOf(id).Key()] = groupOf(id)
	}
	for _, group := range groups {
		whole := digestPath(arm.SubscriptionID(group.Subscription()))
		pages := cache.spread(scope, whole, group)
		if r.readDigest(ctx, whole, max(mostPages, pages)) || group.ResourceGroup() == "" {
			continue
		}
		r.readDigest(ctx, digestPath(group), 0)
	}
}

// readDigest has a digest that is no older than the reading allows, or takes what another reader of it is about to get.
func (r *reading) readDigest(ctx context.Context, path arm.ID, pages int) bool {
	cache, scope := r.reader.Cache, r.client.Scope()
	shown := false
	end := r.enterWide(ctx, path, func() bool {
		shown = cache.shown(scope, path, cache.clock.Now().Add(-r.maxAge))
		return shown || cache.refused(scope, path)
	})
	if end == nil {
		return shown
	}
	defer end()
	begun := cache.clock.Now()
	items, complete, err := r.client.ListUpTo(ctx, string(path), types.ResourcesAPIVersion, digestQuery(), pages)
	if err != nil || !complete {
		cache.refuse(ctx, scope, path, pages, r.maxAge, err)
		return false
	}
	cache.keepDigest(scope, path, newDigest(begun, cache.clock.Now(), items))
	return true
}
