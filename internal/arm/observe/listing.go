package observe

import (
	"maps"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// listing is what is known of a collection.
type listing struct {
	at    time.Time // when it was last read; zero for never
	count uint64
	// IDs are kept as hashes of their keys, a twentieth of their size. Two with the same hash count as one, which costs a request at most.
	//
	// members are what it showed. What it showed exists, also when what was read of it is not kept any more.
	members map[uint64]bool
	asked   map[uint64]time.Time // what was asked for one by one, and when
	// regulars are what looks had together, and when they did last.
	regulars map[uint64]time.Time
	ended    chan struct{} // closed when the read that is under way has ended; nil when none is
}

func (c *Cache) list(scope string, member arm.ID) *listing {
	key := listKey(scope, member)
	if c.lists[key] == nil {
		c.lists[key] = &listing{asked: map[uint64]time.Time{}, regulars: map[uint64]time.Time{}}
	}
	return c.lists[key]
}

// keepList stores that a collection was read; its elements are stored with Keep.
func (c *Cache) keepList(scope string, member arm.ID, at time.Time, count uint64, members map[uint64]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, member)
	list.at, list.count, list.members = at, count, members
}

// enter begins a read of the collection of member unless one is under way: then ended is closed when that has ended.
func (c *Cache) enter(scope string, member arm.ID) (ended <-chan struct{}, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, member)
	if list.ended != nil {
		return list.ended, false
	}
	list.ended = make(chan struct{})
	return list.ended, true
}

// leave ends what enter began.
func (c *Cache) leave(scope string, member arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, member)
	close(list.ended)
	list.ended = nil
}

// remembers is how long it is known of an ID that it is asked for regularly.
const remembers = 3 * time.Hour

// Collections are not read for single resources of them when they are this much larger: that costs no request, but bytes and time to
// read them. Where requests are scarce only those count: the pages seen of Azure have a hundred resources or more.
const (
	larger    = 10
	farLarger = 100
)

// need is what a read of several IDs of one collection is for.
type need struct {
	maxAge time.Duration
	// followed is how many of the collection are looked at again and again.
	followed int
	// together tells that others are about to ask for what is beside.
	together bool
	// spare is the share of the budget of reads that is left.
	spare float64
}

// shouldList tells whether the missing IDs, all of one collection, are better read as a whole: when several are wanted
// within the time for which the answer serves, as many operations are followed, or others are about to be asked for as well, unless
// the collection is known to be far larger. A single one that even a collection read within that time does not serve for has
// changed since, alone.
func (c *Cache) shouldList(scope string, missing []arm.ID, need need) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, missing[0])
	now, window := c.clock.Now(), min(need.maxAge, c.freshness)
	for _, id := range missing {
		hash := hashOf(id.Key())
		list.asked[hash] = now
		if need.together {
			list.regulars[hash] = now
		}
	}
	wanted := 0
	for key, at := range list.asked {
		switch age := now.Sub(at); {
		case age > c.freshness:
			delete(list.asked, key)
		case age <= max(0, window):
			wanted++
		}
	}
	wanted = max(wanted, need.followed)
	if need.together {
		maps.DeleteFunc(list.regulars, func(_ uint64, at time.Time) bool { return now.Sub(at) > remembers })
		wanted = max(wanted, len(list.regulars))
	}
	if len(missing) == 1 && !list.at.IsZero() && now.Sub(list.at) <= need.maxAge {
		return false
	}
	most := larger * wanted
	if need.spare < client.Scarce {
		most = farLarger * wanted
	}
	return wanted > 1 && (list.at.IsZero() || len(list.members) <= most)
}
