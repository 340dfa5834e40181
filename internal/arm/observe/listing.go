package observe

import (
	"maps"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// listing is the state of a collection.
type listing struct {
	at          time.Time // time of the last read; zero for never
	changeCount uint64
	// IDs are kept as hashes of their keys, a twentieth of their size. A collision of two hashes costs at most one request.
	//
	// members are the elements of the last read. They exist, even if their reads were dropped from the cache.
	members   map[uint64]bool
	requested map[uint64]time.Time // elements read one by one, with the time
	// batched are the elements of reads with ReadOptions.Batch, with the time of the last one.
	batched  map[uint64]time.Time
	inFlight *flight // nil if the collection is not being read
}

func (c *Cache) listingOf(scope string, member arm.ID) *listing {
	key := listKey(scope, member)
	if c.lists[key] == nil {
		c.lists[key] = &listing{requested: map[uint64]time.Time{}, batched: map[uint64]time.Time{}}
	}
	return c.lists[key]
}

// storeListing stores the read of a collection. Its elements are stored with StoreObservation.
func (c *Cache) storeListing(scope string, member arm.ID, at time.Time, count uint64, members map[uint64]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, member)
	list.at, list.changeCount, list.members = at, count, members
}

// beginListing begins the read of the collection of member and returns the function that ends it. If another read of the collection is in
// flight, it returns that one and no function.
func (c *Cache) beginListing(scope string, member arm.ID) (inFlight *flight, end func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, member)
	if list.inFlight != nil {
		return list.inFlight, nil
	}
	own := newFlight()
	list.inFlight = own
	return nil, func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		list.inFlight = nil
		own.end(err)
	}
}

// interestPeriod is how long a regular reader of an ID counts.
const interestPeriod = 3 * time.Hour

// A collection is not listed for single resources if it is larger than the wanted ones by these factors. A larger list costs no further
// request, but bytes and time. When requests are scarce only those count: the recorded pages of Azure have a hundred resources or more.
const (
	maxListFactor       = 10
	maxListFactorScarce = 100
)

// readNeed describes a read of several IDs of one collection.
type readNeed struct {
	maxAge time.Duration
	// followed is the number of followed resources in the collection.
	followed int
	// batch means that others are about to read from the same collection.
	batch bool
	// readBudgetLeft is the remaining share of the read budget.
	readBudgetLeft float64
}

// shouldList reports whether the missing IDs, all of one collection, are better read with a list. It does if several resources are
// wanted within the maximum age, are followed by operations, or are about to be read by others, unless the collection is known to be
// far larger. A single missing ID in a collection that was listed within that time has changed since, alone, and is read alone.
func (c *Cache) shouldList(scope string, missing []arm.ID, need readNeed) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, missing[0])
	now, window := c.clock.Now(), min(need.maxAge, c.freshness)
	for _, id := range missing {
		hash := hashOf(id.Key())
		list.requested[hash] = now
		if need.batch {
			list.batched[hash] = now
		}
	}
	wanted := 0
	for key, at := range list.requested {
		switch age := now.Sub(at); {
		case age > c.freshness:
			delete(list.requested, key)
		case age <= max(0, window):
			wanted++
		}
	}
	wanted = max(wanted, need.followed)
	if need.batch {
		maps.DeleteFunc(list.batched, func(_ uint64, at time.Time) bool { return now.Sub(at) > interestPeriod })
		wanted = max(wanted, len(list.batched))
	}
	if len(missing) == 1 && !list.at.IsZero() && now.Sub(list.at) <= need.maxAge {
		return false
	}
	maxMembers := maxListFactor * wanted
	if need.readBudgetLeft < client.ScarceReadBudget {
		maxMembers = maxListFactorScarce * wanted
	}
	return wanted > 1 && (list.at.IsZero() || len(list.members) <= maxMembers)
}
