package observe

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compressed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Clock says what time it is.
type Clock interface{ Now() time.Time }

// Cache holds what Azure showed.
//
// Its contract: who sends something to Azure that may change a resource, or learns that an operation has ended, calls Invalidate
// before it looks again or tells anybody. From then on no read that began before is given out for what the Change covers,
// neither the resource nor, where it may have been made, its absence; and Current is false for such a read that somebody
// still holds. Nothing else makes a read worthless but its age. Reads that were under way at a change may be kept all the same:
// they count as begun before it.
//
// Reads are kept by scope, which is who asked whom; changes are changes for every scope. A Cache is safe for concurrent
// use.
type Cache struct {
	clock     Clock
	freshness time.Duration
	full      time.Duration

	mu      sync.Mutex
	count   uint64          // changes so far: it tells what was read before one and what after
	written map[string]mark // the last change of a resource, by ID key
	touched map[string]mark // the last change of a resource that shares the document of this one, by ID key
	effects map[string]mark // the last change that may have made resources of a type in a resource group, by both
	entries map[string]Observation
	lists   map[string]*listing
	empty   map[string]mark          // resource groups that we made: nothing but what we put is in them, by cache key
	flights map[string]chan struct{} // closed when the read of one resource that is under way has ended, by cache key
	// digests and breadths are those of lists of all that is in a subscription or resource group, by cache key of their path.
	digests  map[string]*digest
	breadths map[string]*breadth
	swept    time.Time
	packer   compressed.Compressor
}

// mark is when something was changed, and the cache's count then.
type mark struct {
	count uint64
	at    time.Time
}

// NewCache makes an empty cache. Freshness is how old what it gives out usually is; it keeps ten times that, and for full what
// digests may vouch for, 0 for nothing.
func NewCache(clock Clock, freshness, full time.Duration) *Cache {
	return &Cache{clock: clock, freshness: freshness, full: full, written: map[string]mark{}, touched: map[string]mark{}, effects: map[string]mark{},
		entries: map[string]Observation{}, lists: map[string]*listing{}, empty: map[string]mark{}, flights: map[string]chan struct{}{},
		digests: map[string]*digest{}, breadths: map[string]*breadth{}}
}

// Change is what may be different in Azure from what was read.
type Change struct {
	// ID is the resource that was written or acted on, or on which an operation has ended.
	ID arm.ID
	// Extent says what of it.
	Extent Extent
	// Document is the resource whose document ID is a part of, if that was changed: it is still what was read, but has
	// another etag. "" is none.
	Document arm.ID
	// Made tells that it was made, where there may have been one before.
	Made bool
}

// Extent says what a change covers. In any case that is the absence of what Azure makes along with the resource.
type Extent int

const (
	// Effects leave the resource itself as it was read.
	Effects Extent = iota
	// Resource is the resource.
	Resource
	// Subtree is the resource and everything below it.
	Subtree
)

// Invalidate makes worthless what was read before a change.
func (c *Cache) Invalidate(change Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	now := mark{c.count, c.clock.Now()}
	if change.Document != "" {
		c.touched[change.Document.Key()] = now
	}
	// Others of its own type stay as they are: a hundred machines that come at once must not make each other's absence unknown.
	if row, err := types.ForID(change.ID); err == nil {
		for _, made := range row.CreatesTypes {
			c.effects[effectKey(groupOf(change.ID), made)] = now
		}
		if change.Made && len(row.DetachesTypes) > 0 {
			c.freed(groupOf(change.ID), row.DetachesTypes, now)
		}
	}
	if change.Extent == Effects {
		return
	}
	c.written[change.ID.Key()] = now
	if change.Extent == Subtree {
		c.below(change.ID, now)
	}
}

// freed is Invalidate for resources of some types in a group.
func (c *Cache) freed(group arm.ID, freed []string, now mark) {
	for _, found := range c.entries {
		if groupOf(found.ID).Key() == group.Key() && slices.Contains(freed, found.ID.Type()) {
			c.written[found.ID.Key()] = now
		}
	}
}

// below is Invalidate for what is below a resource.
func (c *Cache) below(id arm.ID, now mark) {
	maps.DeleteFunc(c.empty, func(key string, _ mark) bool {
		_, group, _ := strings.Cut(key, "|")
		return group == id.Key()
	})
	for _, found := range c.entries {
		if found.ID.IsWithin(id) {
			c.written[found.ID.Key()] = now
		}
	}
	for key, list := range c.lists {
		if _, path, _ := strings.Cut(key, "|"); strings.HasPrefix(path, id.Key()+"/") {
			list.at = time.Time{}
		}
	}
}

// Current tells whether nothing has changed a resource since the read of an observation began.
func (c *Cache) Current(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written[found.ID.Key()].count <= found.count
}

// CurrentETag tells whether the etag of an observation may still be the resource's.
func (c *Cache) CurrentETag(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !found.FromWrite && !found.Vouched && c.touched[found.ID.Key()].count <= found.count
}

// At is an observation of what is known to be so at this moment, as from the answer to a write.
func (c *Cache) At(observed Observed, fromWrite bool) Observation {
	observed.At = c.clock.Now()
	if row, err := types.ForID(observed.ID); err == nil && observed.Body != nil {
		observed.Body = shown(row, observed.Body)
	}
	return Observation{Observed: observed, FromWrite: fromWrite, count: c.begin()}
}

// Keep stores what a read or write showed, unless something later is there.
func (c *Cache) Keep(scope string, found Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, found.ID)
	old, ok := c.entries[key]
	if ok && (old.count > found.count || old.At.After(found.At)) {
		return
	}
	found.wanted = found.wanted || old.wanted
	c.entries[key] = c.asBefore(c.marked(scope, found), old)
	c.sweep()
}

// KeepEmpty notes that a resource group has just been made by us, so that what is in it need not be asked for.
func (c *Cache) KeepEmpty(scope string, group arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty[cacheKey(scope, group)] = mark{c.count, c.clock.Now()}
}

// get is the observation of id that was made at oldest or later, and after the last change of it.
func (c *Cache) get(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written, group := c.written[id.Key()].count, groupOf(id)
	// What did not exist may have been made since, also by a write to another resource.
	absent := max(written, c.effects[effectKey(group, id.Type())].count)
	key := cacheKey(scope, id)
	found, ok := c.entries[key]
	if ok && found.count >= written && (found.Exists || found.count >= absent) && !found.At.Before(oldest) {
		if !found.wanted {
			found.wanted = true
			c.entries[key] = found
		}
		return found.unpacked()
	}
	if found, ok := c.within(scope, id, oldest); ok {
		return found, true
	}
	list := c.lists[listKey(scope, id)]
	if list != nil && !list.at.IsZero() && !list.members[hashOf(id.Key())] && list.count >= absent && !list.at.Before(oldest) && (!ok || found.At.Before(list.at)) {
		return Observation{Observed: Observed{ID: id, At: list.at}, count: list.count, FromList: true}, true
	}
	empty, ok := c.empty[cacheKey(scope, group)]
	if ok && !id.Equal(group) && empty.count >= absent && !empty.at.Before(oldest) {
		return Observation{Observed: Observed{ID: id, At: empty.at}, count: empty.count}, true
	}
	return Observation{}, false
}

// takeOff begins a read of one resource unless one is under way: then landed is closed when that has ended. end ends it.
func (c *Cache) takeOff(scope string, id arm.ID) (landed <-chan struct{}, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, id)
	if flight, ok := c.flights[key]; ok {
		return flight, nil
	}
	flight := make(chan struct{})
	c.flights[key] = flight
	return nil, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, key)
		close(flight)
	}
}

// begin is the count for a read that begins now.
func (c *Cache) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Keeps is for how long what was read is kept, but for what a digest may vouch for.
func (c *Cache) Keeps() time.Duration { return 10 * c.freshness }

// Sweep drops what nobody will use again, unless that was done just now. Without it, that happens when something else is kept.
func (c *Cache) Sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
}

// sweep is Sweep with c.mu held: no observation that old is given out, but for what a digest may vouch for.
func (c *Cache) sweep() {
	now, old := c.clock.Now(), c.Keeps()
	if now.Sub(c.swept) < old {
		return
	}
	c.swept = now
	maps.DeleteFunc(c.entries, func(_ string, found Observation) bool {
		if found.mark == 0 || !found.wanted {
			return now.Sub(found.At) > old
		}
		// What tells that it is worthless is about to be dropped as well.
		key := found.ID.Key()
		return now.Sub(found.At) > c.full && now.Sub(found.vouched) > c.full || found.count < max(c.written[key].count, c.touched[key].count)
	})
	for key, found := range c.entries {
		if len(found.Body) > 0 && now.Sub(found.At) > old {
			c.entries[key] = found.pack(&c.packer)
		}
	}
	maps.DeleteFunc(c.digests, func(_ string, d *digest) bool { return now.Sub(d.begun) > max(old, c.full) })
	for _, b := range c.breadths {
		maps.DeleteFunc(b.groups, func(_ string, at time.Time) bool { return now.Sub(at) > remembers })
	}
	maps.DeleteFunc(c.breadths, func(_ string, b *breadth) bool { return len(b.groups) == 0 && now.After(b.until) })
	for _, marks := range []map[string]mark{c.written, c.touched, c.effects, c.empty} {
		maps.DeleteFunc(marks, func(_ string, last mark) bool { return now.Sub(last.at) > old })
	}
	maps.DeleteFunc(c.lists, func(_ string, list *listing) bool {
		maps.DeleteFunc(list.asked, func(_ uint64, at time.Time) bool { return now.Sub(at) > c.freshness })
		maps.DeleteFunc(list.regulars, func(_ uint64, at time.Time) bool { return now.Sub(at) > remembers })
		return now.Sub(list.at) > old && len(list.asked)+len(list.regulars) == 0 && list.ended == nil
	})
}

// Sizes are how many entries the cache holds, by what they are.
func (c *Cache) Sizes() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"written": len(c.written), "touched": len(c.touched), "effects": len(c.effects), "entries": len(c.entries),
		"lists": len(c.lists), "empty": len(c.empty)}
}

func groupOf(id arm.ID) arm.ID { return arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()) }

func cacheKey(scope string, id arm.ID) string { return scope + "|" + id.Key() }

func listKey(scope string, id arm.ID) string {
	return scope + "|" + strings.ToLower(types.ListPath(id))
}

func effectKey(group arm.ID, resourceType string) string {
	return group.Key() + "|" + strings.ToLower(resourceType)
}
