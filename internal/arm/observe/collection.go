package observe

import (
	"context"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// readCollection reads the collection of the missing IDs, or waits for another reader of it. It returns false for a collection that
// cannot be listed, as with a role on single resources only.
func (r *readCall) readCollection(ctx context.Context, row types.Type, missing []arm.ID) (listed bool) {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	for r.maxAge >= 0 {
		oldest := cache.clock.Now().Add(-r.maxAge)
		inFlight, end := cache.beginListing(scope, missing[0])
		if end != nil {
			var failure error
			defer func() { end(failure) }()
			listed, failure = r.requestCollection(ctx, row, missing)
			return listed
		}
		err := inFlight.wait(ctx)
		// Resources written after that reader began have to be read again.
		if missing = r.takeCached(missing, oldest); len(missing) == 0 {
			return true
		}
		if err != nil {
			return r.setListError(missing, err)
		}
	}
	listed, _ = r.requestCollection(ctx, row, missing)
	return listed
}

// setListError handles the error of a list. It returns false if single resources can be read nevertheless.
func (r *readCall) setListError(missing []arm.ID, err error) bool {
	if !AffectsEveryRequest(err) {
		return false
	}
	for _, id := range missing {
		r.setResult(r.reader.Cache.NewObservation(Observed{ID: id, Err: err}, false))
	}
	return true
}

// takeCached takes reads from the cache and returns the IDs that it does not have.
func (r *readCall) takeCached(ids []arm.ID, oldest time.Time) (missing []arm.ID) {
	for _, id := range ids {
		if found, ok := r.reader.Cache.findObservation(r.client.CacheScope(), id, oldest); ok {
			found.ID = id
			r.setResult(found)
			continue
		}
		missing = append(missing, id)
	}
	return missing
}

// requestCollection reads a collection. listed is false if it cannot be listed, err is the error of the list.
func (r *readCall) requestCollection(ctx context.Context, row types.Type, missing []arm.ID) (listed bool, err error) {
	cache, scope := r.reader.Cache, r.client.CacheScope()
	if r.skipRefused(missing[0]) {
		return false, nil
	}
	// The result of the list counts as of this moment.
	start := cache.NewObservation(Observed{}, false)
	items, err := r.client.List(ctx, types.ListPath(missing[0]), row.APIVersion, row.ListQuery)
	if err != nil && arm.Classify(err) != arm.ClassNotFound {
		return r.setListError(missing, err), err
	}
	prefix := types.ListPath(missing[0]) + "/"
	members := make(map[uint64]bool, len(items))
	for _, item := range items {
		head := ParseHead(item)
		if head.Name == "" {
			continue
		}
		// Some lists name children "parent/child".
		name := head.Name[strings.LastIndex(head.Name, "/")+1:]
		found := start
		found.ID, found.Exists, found.Body, found.ETag = arm.ID(prefix+name), true, withoutBackReferences(row, item), head.ETag
		found.listed = true
		cache.StoreObservation(scope, found)
		members[hashOf(found.ID.Key())] = true
	}
	cache.storeListing(scope, missing[0], start.At, start.changeCount, members)
	for _, id := range r.takeCached(missing, start.At) {
		r.readOne(ctx, id)
	}
	return true, nil
}
