package observe

import (
	"context"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// list reads the collection of the missing IDs, or takes what another reader of it is about to get. It gives up on a
// collection that cannot be listed, as with a role on single resources only.
func (r *reading) list(ctx context.Context, row types.Type, missing []arm.ID) bool {
	cache, scope := r.reader.Cache, r.client.Scope()
	for r.maxAge >= 0 {
		oldest := cache.clock.Now().Add(-r.maxAge)
		ended, mine := cache.enter(scope, missing[0])
		if mine {
			defer cache.leave(scope, missing[0])
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
		if found, ok := r.reader.Cache.get(r.client.Scope(), id, oldest); ok {
			found.ID = id
			r.set(found)
			continue
		}
		missing = append(missing, id)
	}
	return missing
}

func (r *reading) listAlone(ctx context.Context, row types.Type, missing []arm.ID) bool {
	cache, scope := r.reader.Cache, r.client.Scope()
	if r.skip(missing[0]) {
		return false
	}
	// Whatever the list shows was so at this moment.
	begun := cache.At(Observed{}, false)
	items, err := r.client.List(ctx, types.ListPath(missing[0]), row.APIVersion, row.ListQuery)
	switch {
	case err != nil && OfEveryRequest(err):
		for _, id := range missing {
			found := begun
			found.ID, found.Err = id, err
			r.set(found)
		}
		return true
	case err != nil && arm.Classify(err) != arm.ClassNotFound:
		return false
	}
	prefix := types.ListPath(missing[0]) + "/"
	members := make(map[uint64]bool, len(items))
	for _, item := range items {
		head := HeadOf(item)
		if head.Name == "" {
			continue
		}
		// Names of children are "parent/child" in places.
		name := head.Name[strings.LastIndex(head.Name, "/")+1:]
		found := begun
		found.ID, found.Exists, found.Body, found.ETag = arm.ID(prefix+name), true, shown(row, item), head.ETag
		cache.Keep(scope, found)
		members[hashOf(found.ID.Key())] = true
	}
	cache.keepList(scope, missing[0], begun.At, begun.count, members)
	for _, id := range r.known(missing, begun.At) {
		r.get(ctx, id)
	}
	return true
}
