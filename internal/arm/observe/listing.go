package observe

import (
	"maps"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// listing is what is known of a collection.
type listing struct {
	at          time.Time // when it was last read; zero for never
	changeCount uint64
	// IDs are kept as hashes of their keys, a twentieth of their size. Two with the same hash count as one, which costs a request at most.
	//
	// members are what it showed. What it showed exists, also when what was read of it is not kept any more.
	members   map[uint64]bool
	requested map[uint64]time.Time // what was asked for one by one, and when
	// batched are what looks had together, and when they did last.
	batched  map[uint64]time.Time
	inFlight chan struct{} // closed when the read that is under way has ended; nil when none is
}

func (c *Cache) listingOf(scope string, member arm.ID) *listing {
	key := listKey(scope, member)
	if c.lists[key] == nil {
		c.lists[key] = &listing{requested: map[uint64]time.Time{}, batched: map[uint64]time.Time{}}
	}
	return c.lists[key]
}

// storeListing stores that a collection was read; its elements are stored with Keep.
func (c *Cache) storeListing(scope string, member arm.ID, at time.Time, count uint64, members map[uint64]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, member)
	list.at, list.changeCount, list.members = at, count, members
}

// beginListing begins a read of the collection of member unless one is under way: then ended is closed when that has ended.
func (c *Cache) beginListing(scope string, member arm.ID) (ended <-chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, member)
	if list.inFlight != nil {
		return list.inFlight, false
	}
	list.inFlight = make(chan struct{})
	return list.inFlight, true
}

// endListing ends what enter began.
func (c *Cache) endListing(scope string, member arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.listingOf(scope, member)
	close(list.inFlight)
	list.inFlight = nil
}

// interestPeriod is how long it is known of an ID that it is asked for regularly.
const interestPeriod = 3 * time.Hour

// Collections are not read for single resources of them when they are this much larger: that costs no request, but bytes and time to
// read them. Where requests are scarce only those count: the pages seen of Azure have a hundred resources or more.
const (
	maxListFactor       = 10
	maxListFactorScarce = 100
)

// readNeed is what a read of several IDs of one collection is for.
type readNeed struct {
	maxAge time.Duration
	// followed is how many of the collection are looked at again and again.
	followed int
	// batch tells that others are about to ask for what is beside.
	batch bool
	// readBudgetLeft is the share of the budget of reads that is left.
	readBudgetLeft float64
}

// shouldList tells whether the missing IDs, all of one collection, are better read as a whole: when several are wanted
// within the time for which the answer serves, as many operations are followed, or others are about to be asked for as well, unless
// the collection is known to be far larger. A single one that even a collection read within that time does not serve for has
// changed since, alone.
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
	most := maxListFactor * wanted
	if need.readBudgetLeft < client.ScarceReadBudget {
		most = maxListFactorScarce * wanted
	}
	return wanted > 1 && (list.at.IsZero() || len(list.members) <= most)
}
