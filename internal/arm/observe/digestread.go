package observe

import (
	"context"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Syncs read objects that were in order. All syncs of a process run at the same moments, so that few requests serve many: lists of
// whole subscriptions, and before them a digest, which shows which earlier reads are still valid.

// oldestConfirmed returns the time of the oldest read that a sync accepts for anything that digests do not show. Reads that would become
// too old before the middle of the next period are renewed.
func (r *Reader) oldestConfirmed(options ReadOptions) time.Time {
	return r.Cache.clock.Now().Add(agesPerSyncPeriod/2*options.MaxAge - r.Cache.maxConfirmedAge)
}

// CheckUnchanged reports whether facts about id still hold. at is when they were read, mark the mark at that time. It also returns the
// current mark, for new facts. id may be the path of a collection. Without ReadOptions.MaxAge nothing holds.
func (r *Reader) CheckUnchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark DigestMark,
	options ReadOptions) (DigestMark, bool) {
	age := options.MaxAge
	if age == 0 || r.Cache.maxConfirmedAge == 0 {
		return 0, false
	}
	call := &readCall{reader: r, client: c, options: options, maxAge: age, regularSync: true}
	call.readDigests(ctx, []arm.ID{id})
	now := r.Cache.digestMark(c.CacheScope(), id, r.Cache.clock.Now().Add(-age))
	return now, now != 0 && now == mark && !at.Before(r.oldestConfirmed(options))
}

// takeConfirmed takes reads after which a digest shows no write, and returns the other IDs.
func (r *readCall) takeConfirmed(ctx context.Context, ids []arm.ID) (missing []arm.ID) {
	if !r.regularSync || len(ids) == 0 {
		return ids
	}
	var listed []arm.ID
	for _, id := range ids {
		if row, err := types.ForID(id); err == nil && !row.VolatileState {
			listed = append(listed, id)
		}
	}
	r.readDigests(ctx, listed)
	oldest, oldestFull := r.reader.Cache.clock.Now().Add(-r.maxAge), r.reader.oldestConfirmed(r.options)
	return r.takeFound(ids, func(id arm.ID) (Observation, bool) {
		if row, err := types.ForID(id); err == nil && row.VolatileState {
			return Observation{}, false
		}
		return r.reader.Cache.confirmedObservation(r.client.CacheScope(), id, oldest, oldestFull)
	})
}

// takeFound takes the reads that find returns, and returns the other IDs.
func (r *readCall) takeFound(ids []arm.ID, find func(arm.ID) (Observation, bool)) (missing []arm.ID) {
	for _, id := range ids {
		found, ok := find(id)
		if !ok {
			missing = append(missing, id)
			continue
		}
		r.reader.recordCacheRead(CacheHit)
		r.setResult(found)
	}
	return missing
}

// minDigestPages is the number of pages that a digest of a subscription may always have, however few resource groups need it.
const minDigestPages = 8

// readDigests reads the digests for ids: one list of their subscription, or those of their resource groups if that list is refused or
// has too many pages.
func (r *readCall) readDigests(ctx context.Context, ids []arm.ID) {
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

// readDigest reads a digest unless a recent one exists, or waits for another reader of it.
func (r *readCall) readDigest(ctx context.Context, path arm.ID, pages int) bool {
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
	start := cache.clock.Now()
	items, complete, err := r.client.ListPages(ctx, string(path), types.ResourcesAPIVersion, digestQuery(), pages)
	if err != nil || !complete {
		cache.skipList(ctx, scope, path, pages, r.maxAge, err)
		return false
	}
	cache.storeDigest(scope, path, newDigest(start, cache.clock.Now(), items))
	return true
}
