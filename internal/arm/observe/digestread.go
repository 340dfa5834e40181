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

type maxAgeKey struct{}

// WithMaxAge is a context for a look at what was in order. What was read at most age ago serves.
func WithMaxAge(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(WithBatch(ctx), maxAgeKey{}, age)
}

func maxAgeOf(ctx context.Context) time.Duration {
	age, _ := ctx.Value(maxAgeKey{}).(time.Duration)
	return age
}

// halfPeriodAges is how many ages of regular looks are half of the time between them: what becomes too old within that is read anew.
const halfPeriodAges = 5

// oldestVouched is from when on a regular look takes what no digest can vouch for.
func (r *Reader) oldestVouched(ctx context.Context) time.Time {
	return r.Cache.clock.Now().Add(halfPeriodAges*maxAgeOf(ctx) - r.Cache.maxVouchedAge)
}

// CheckUnchanged tells whether what was learned of id at a time, when it had this mark, still holds, and its mark for what is learned from
// here on. The path of a collection is an id, too. Outside of regular looks nothing holds.
func (r *Reader) CheckUnchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark DigestMark) (DigestMark, bool) {
	age := maxAgeOf(ctx)
	if age == 0 || r.Cache.maxVouchedAge == 0 {
		return 0, false
	}
	reading := &reading{reader: r, client: c, maxAge: age, regularSync: true}
	reading.readDigests(ctx, []arm.ID{id})
	now := r.Cache.digestMark(c.CacheScope(), id, r.Cache.clock.Now().Add(-age))
	return now, now != 0 && now == mark && !at.Before(r.oldestVouched(ctx))
}

// takeVouched takes what a digest vouches for, and returns the other IDs.
func (r *reading) takeVouched(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	if !r.regularSync || len(ids) == 0 {
		return ids
	}
	var told []arm.ID
	for _, id := range ids {
		if row, err := types.ForID(id); err == nil && !row.VolatileState {
			told = append(told, id)
		}
	}
	r.readDigests(ctx, told)
	oldest, full := r.reader.Cache.clock.Now().Add(-r.maxAge), r.reader.oldestVouched(ctx)
	return r.takeFound(ids, func(id arm.ID) (Observation, bool) {
		if row, err := types.ForID(id); err == nil && row.VolatileState {
			return Observation{}, false
		}
		return r.reader.Cache.vouchedObservation(r.client.CacheScope(), id, oldest, full)
	})
}

// takeFound takes what of knows, and returns the other IDs.
func (r *reading) takeFound(ids []arm.ID, of func(arm.ID) (Observation, bool)) (missing []arm.ID) {
	for _, id := range ids {
		found, ok := of(id)
		if !ok {
			missing = append(missing, id)
			continue
		}
		r.reader.recordCacheRead(CacheHit)
		r.setResult(found)
	}
	return missing
}

// minDigestPages is how many pages a digest of a subscription may have however few resource groups it is read for.
const minDigestPages = 8

// readDigests has what tells whether ids are as they were read lately: one list of their subscription, or those of their resource groups
// where it is refused or so much longer than what it is read for.
func (r *reading) readDigests(ctx context.Context, ids []arm.ID) {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	groups := map[string]arm.ID{}
	for _, id := range ids {
		groups[resourceGroupOf(id).Key()] = resourceGroupOf(id)
	}
	for _, group := range groups {
		whole := digestPath(arm.SubscriptionID(group.Subscription()))
		pages := cache.countInterestedGroups(scope, whole, group)
		if r.readDigest(ctx, whole, max(minDigestPages, pages)) || group.ResourceGroup() == "" {
			continue
		}
		r.readDigest(ctx, digestPath(group), 0)
	}
}

// readDigest has a digest that is no older than the reading allows, or takes what another reader of it is about to get.
func (r *reading) readDigest(ctx context.Context, path arm.ID, pages int) bool {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	shown := false
	end := r.beginSharedRead(ctx, path, func() bool {
		shown = cache.hasDigestSince(scope, path, cache.clock.Now().Add(-r.maxAge))
		return shown || cache.isListSkipped(scope, path)
	})
	if end == nil {
		return shown
	}
	defer end()
	begun := cache.clock.Now()
	items, complete, err := r.client.ListPages(ctx, string(path), types.ResourcesAPIVersion, digestQuery(), pages)
	if err != nil || !complete {
		cache.skipList(ctx, scope, path, pages, r.maxAge, err)
		return false
	}
	cache.storeDigest(scope, path, newDigest(begun, cache.clock.Now(), items))
	return true
}
