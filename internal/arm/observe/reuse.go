package observe

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// takeReusable takes reads since ReadOptions.ReuseSince, and returns the other IDs.
func (r *readCall) takeReusable(ids []arm.ID) (missing []arm.ID) {
	since, only := r.options.ReuseSince, r.options.ReuseOnly
	if since.IsZero() {
		return ids
	}
	return r.takeFound(ids, func(id arm.ID) (Observation, bool) {
		if only != nil && !only(id) {
			return Observation{}, false
		}
		return r.reader.Cache.reusableObservation(r.client.CacheScope(), id, since)
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
	if inProgress, failed := found.Head().State(); inProgress != "" || failed {
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
