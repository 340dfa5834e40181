package engine

import (
	"maps"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// cache holds what Azure showed, for the freshness window. A write of ours to a resource makes everything read before
// it worthless; the count of writes tells what was read before and what after.
type cache struct {
	clock     Clock
	freshness time.Duration

	mu      sync.Mutex
	count   uint64          // writes so far
	written map[string]mark // the last write to a resource, by ID key
	touched map[string]mark // the last write to a resource that shares its document
	effects map[string]mark // the last write that may have made resources of a type in a resource group, by both
	entries map[string]observation
	lists   map[string]*listing
	born    map[string]mark // resource groups that we made: nothing but what we put is in them, by cache key
	swept   time.Time
}

// mark is when something was written, and the cache's count then.
type mark struct {
	count uint64
	at    time.Time
}

// observation is a resource as read, or as a write answered.
type observation struct {
	Observed
	// count is the cache's count when the read began.
	count uint64
	// fromList means that the absence was concluded from a collection, fromWrite that the body is the answer to a PUT.
	fromList, fromWrite bool
}

// listing is what is known of a collection.
type listing struct {
	at    time.Time // when it was last read; zero for never
	count uint64
	size  int
	asked map[string]time.Time // IDs that were asked for one by one, and when
	ended chan struct{}        // closed when the read that is under way has ended; nil when none is
}

func newCache(clock Clock, freshness time.Duration) *cache {
	return &cache{clock: clock, freshness: freshness, written: map[string]mark{}, touched: map[string]mark{}, effects: map[string]mark{}, entries: map[string]observation{}, lists: map[string]*listing{}, born: map[string]mark{}}
}

func cacheKey(scope string, id arm.ID) string { return scope + "|" + id.Key() }

func listKey(scope string, id arm.ID) string {
	return scope + "|" + strings.ToLower(types.ListPath(id))
}

// get is the observation of id that was made at oldest or later, and after our last write to it.
func (c *cache) get(scope string, id arm.ID, oldest time.Time) (observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := c.written[id.Key()].count
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	// What did not exist may have been made since, also by a write to another resource.
	absent := max(written, c.effects[effectKey(group, id.Type())].count)
	found, ok := c.entries[cacheKey(scope, id)]
	if ok && found.count >= written && (found.Exists || found.count >= absent) && !found.At.Before(oldest) {
		return found, true
	}
	list := c.lists[listKey(scope, id)]
	if list != nil && !list.at.IsZero() && list.count >= absent && !list.at.Before(oldest) && (!ok || found.At.Before(list.at)) {
		return observation{Observed: Observed{ID: id, At: list.at}, count: list.count, fromList: true}, true
	}
	born, ok := c.born[cacheKey(scope, group)]
	if ok && !id.Equal(group) && born.count >= absent && !born.at.Before(oldest) {
		return observation{Observed: Observed{ID: id, At: born.at}, count: born.count}, true
	}
	return observation{}, false
}

// made notes that a resource group has just been made by us, so that what is in it need not be asked for.
func (c *cache) made(scope string, group arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.born[cacheKey(scope, group)] = mark{c.count, c.clock.Now()}
}

// begin is the count to give to put for a read that begins now.
func (c *cache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// put stores what a read or write showed.
func (c *cache) put(scope string, found observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, found.ID)
	if old, ok := c.entries[key]; ok && (old.count > found.count || old.At.After(found.At)) {
		return
	}
	c.entries[key] = found
	c.sweep()
}

// putList stores that a collection was read; its elements are stored with put.
func (c *cache) putList(scope string, member arm.ID, at time.Time, count uint64, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, member)
	list.at, list.count, list.size = at, count, size
}

func (c *cache) list(scope string, member arm.ID) *listing {
	key := listKey(scope, member)
	if c.lists[key] == nil {
		c.lists[key] = &listing{asked: map[string]time.Time{}}
	}
	return c.lists[key]
}

// enter begins a read of the collection of member unless one is under way: then ended is closed when that has ended.
func (c *cache) enter(scope string, member arm.ID) (ended <-chan struct{}, mine bool) {
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
func (c *cache) leave(scope string, member arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, member)
	close(list.ended)
	list.ended = nil
}

// shouldList tells whether the missing IDs, all of one collection, are better read as a whole: when several are wanted
// within the time for which the answer serves or as many operations are followed, unless the collection is known to be far
// larger. A single one that even a collection read within that time does not serve for has changed since, alone.
func (c *cache) shouldList(scope string, missing []arm.ID, maxAge time.Duration, followed int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list(scope, missing[0])
	now, window := c.clock.Now(), min(maxAge, c.freshness)
	for _, id := range missing {
		list.asked[id.Key()] = now
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
	wanted = max(wanted, followed)
	if len(missing) == 1 && !list.at.IsZero() && now.Sub(list.at) <= maxAge {
		return false
	}
	return wanted > 1 && (list.at.IsZero() || list.size <= 10*wanted)
}

// wrote notes a write to id, and to everything below it when whole is set.
func (c *cache) wrote(id arm.ID, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.written[id.Key()] = mark{c.count, c.clock.Now()}
	c.affect(id)
	if !whole {
		return
	}
	for key := range c.born {
		if _, group, _ := strings.Cut(key, "|"); group == id.Key() {
			delete(c.born, key)
		}
	}
	for _, found := range c.entries {
		if found.ID.Within(id) {
			c.written[found.ID.Key()] = mark{c.count, c.clock.Now()}
		}
	}
	for key, list := range c.lists {
		if _, path, _ := strings.Cut(key, "|"); strings.HasPrefix(path, id.Key()+"/") {
			list.at = time.Time{}
		}
	}
}

// touch notes a write to a resource that is a part of the document of another: that one's etag has changed.
func (c *cache) touch(document arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.touched[document.Key()] = mark{c.count, c.clock.Now()}
}

// stale tells whether the etag of an observation is known to be old; if so, the resource has to be read again.
func (c *cache) stale(scope string, found observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !found.fromWrite && c.touched[found.ID.Key()].count <= found.count {
		return false
	}
	delete(c.entries, cacheKey(scope, found.ID))
	return true
}

// ended notes that an operation on id has ended, by whoever it was.
func (c *cache) ended(id arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.affect(id)
}

// affect notes what a write to id may do to others in its group. Those of its own type stay as they are: a hundred
// machines that come at once must not make each other's absence unknown.
func (c *cache) affect(id arm.ID) {
	row, err := types.Of(id)
	if err != nil {
		return
	}
	group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
	for _, made := range row.Makes {
		c.effects[effectKey(group, made)] = mark{c.count, c.clock.Now()}
	}
}

func effectKey(group arm.ID, resourceType string) string {
	return group.Key() + "|" + strings.ToLower(resourceType)
}

// changedSince tells whether there was a write to id after the read that began at count.
func (c *cache) changedSince(id arm.ID, count uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written[id.Key()].count > count
}

// sweep drops what nobody will use again, now and then: no observation that old is given out.
func (c *cache) sweep() {
	now, old := c.clock.Now(), 10*c.freshness
	if now.Sub(c.swept) < old {
		return
	}
	c.swept = now
	maps.DeleteFunc(c.entries, func(_ string, found observation) bool { return now.Sub(found.At) > old })
	written := func(_ string, last mark) bool { return now.Sub(last.at) > old }
	maps.DeleteFunc(c.written, written)
	maps.DeleteFunc(c.touched, written)
	maps.DeleteFunc(c.effects, written)
	maps.DeleteFunc(c.born, written)
	maps.DeleteFunc(c.lists, func(_ string, list *listing) bool {
		maps.DeleteFunc(list.asked, func(_ string, at time.Time) bool { return now.Sub(at) > c.freshness })
		return now.Sub(list.at) > old && len(list.asked) == 0 && list.ended == nil
	})
}
