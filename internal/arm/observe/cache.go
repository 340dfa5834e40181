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
	clock         Clock
	freshness     time.Duration
	maxVouchedAge time.Duration

	mu              sync.Mutex
	changeCount     uint64                // changes so far: it tells what was read before one and what after
	resourceChanges map[string]changeMark // the last change of a resource, by ID key
	documentChanges map[string]changeMark // the last change of a resource that shares the document of this one, by ID key
	sideEffects     map[string]changeMark // the last change that may have made resources of a type in a resource group, by both
	entries         map[string]Observation
	lists           map[string]*listing
	emptyGroups     map[string]changeMark    // resource groups that we made: nothing but what we put is in them, by cache key
	readsInFlight   map[string]chan struct{} // closed when the read of one resource that is under way has ended, by cache key
	// digests and breadths are those of lists of all that is in a subscription or resource group, by cache key of their path.
	digests           map[string]*digest
	subscriptionLists map[string]*subscriptionList
	lastSweep         time.Time
	compressor        compressed.Compressor
}

// changeMark is when something was changed, and the cache's count then.
type changeMark struct {
	count uint64
	at    time.Time
}

// NewCache makes an empty cache. Freshness is how old what it gives out usually is; it keeps ten times that, and for full what
// digests may vouch for, 0 for nothing.
func NewCache(clock Clock, freshness, full time.Duration) *Cache {
	return &Cache{clock: clock, freshness: freshness, maxVouchedAge: full, resourceChanges: map[string]changeMark{}, documentChanges: map[string]changeMark{}, sideEffects: map[string]changeMark{},
		entries: map[string]Observation{}, lists: map[string]*listing{}, emptyGroups: map[string]changeMark{}, readsInFlight: map[string]chan struct{}{},
		digests: map[string]*digest{}, subscriptionLists: map[string]*subscriptionList{}}
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
	// Created tells that it was made, where there may have been one before.
	Created bool
}

// Extent says what a change covers. In any case that is the absence of what Azure makes along with the resource.
type Extent int

const (
	// ExtentSideEffects leave the resource itself as it was read.
	ExtentSideEffects Extent = iota
	// ExtentResource is the resource.
	ExtentResource
	// ExtentSubtree is the resource and everything below it.
	ExtentSubtree
)

// Invalidate makes worthless what was read before a change.
func (c *Cache) Invalidate(change Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changeCount++
	now := changeMark{c.changeCount, c.clock.Now()}
	if change.Document != "" {
		c.documentChanges[change.Document.Key()] = now
	}
	// Others of its own type stay as they are: a hundred machines that come at once must not make each other's absence unknown.
	if row, err := types.ForID(change.ID); err == nil {
		for _, made := range row.CreatesTypes {
			c.sideEffects[effectKey(resourceGroupOf(change.ID), made)] = now
		}
		if change.Created && len(row.DetachesTypes) > 0 {
			c.invalidateDetached(resourceGroupOf(change.ID), row.DetachesTypes, now)
		}
	}
	if change.Extent == ExtentSideEffects {
		return
	}
	c.resourceChanges[change.ID.Key()] = now
	if change.Extent == ExtentSubtree {
		c.invalidateBelow(change.ID, now)
	}
}

// invalidateDetached is Invalidate for resources of some types in a group.
func (c *Cache) invalidateDetached(group arm.ID, freed []string, now changeMark) {
	for _, found := range c.entries {
		if resourceGroupOf(found.ID).Key() == group.Key() && slices.Contains(freed, found.ID.Type()) {
			c.resourceChanges[found.ID.Key()] = now
		}
	}
}

// invalidateBelow is Invalidate for what is below a resource.
func (c *Cache) invalidateBelow(id arm.ID, now changeMark) {
	maps.DeleteFunc(c.emptyGroups, func(key string, _ changeMark) bool {
		_, group, _ := strings.Cut(key, "|")
		return group == id.Key()
	})
	for _, found := range c.entries {
		if found.ID.IsWithin(id) {
			c.resourceChanges[found.ID.Key()] = now
		}
	}
	for key, list := range c.lists {
		if _, path, _ := strings.Cut(key, "|"); strings.HasPrefix(path, id.Key()+"/") {
			list.at = time.Time{}
		}
	}
}

// IsCurrent tells whether nothing has changed a resource since the read of an observation began.
func (c *Cache) IsCurrent(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resourceChanges[found.ID.Key()].count <= found.changeCount
}

// IsETagCurrent tells whether the etag of an observation may still be the resource's.
func (c *Cache) IsETagCurrent(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !found.FromWrite && !found.VouchedByDigest && c.documentChanges[found.ID.Key()].count <= found.changeCount
}

// NewObservation is an observation of what is known to be so at this moment, as from the answer to a write.
func (c *Cache) NewObservation(observed Observed, fromWrite bool) Observation {
	observed.At = c.clock.Now()
	if row, err := types.ForID(observed.ID); err == nil && observed.Body != nil {
		observed.Body = withoutBackReferences(row, observed.Body)
	}
	return Observation{Observed: observed, FromWrite: fromWrite, changeCount: c.currentCount()}
}

// StoreObservation stores what a read or write showed, unless something later is there.
func (c *Cache) StoreObservation(scope string, found Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, found.ID)
	old, ok := c.entries[key]
	if ok && (old.changeCount > found.changeCount || old.At.After(found.At)) {
		return
	}
	found.requested = found.requested || old.requested
	c.entries[key] = c.shareBody(c.withDigestMark(scope, found), old)
	c.dropExpired()
}

// MarkGroupEmpty notes that a resource group has just been made by us, so that what is in it need not be asked for.
func (c *Cache) MarkGroupEmpty(scope string, group arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emptyGroups[cacheKey(scope, group)] = changeMark{c.changeCount, c.clock.Now()}
}

// findObservation is the observation of id that was made at oldest or later, and after the last change of it.
func (c *Cache) findObservation(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written, group := c.resourceChanges[id.Key()].count, resourceGroupOf(id)
	// What did not exist may have been made since, also by a write to another resource.
	absent := max(written, c.sideEffects[effectKey(group, id.Type())].count)
	key := cacheKey(scope, id)
	found, ok := c.entries[key]
	if ok && found.changeCount >= written && (found.Exists || found.changeCount >= absent) && !found.At.Before(oldest) {
		if !found.requested {
			found.requested = true
			c.entries[key] = found
		}
		return found.decompressBody()
	}
	if found, ok := c.embeddedObservation(scope, id, oldest); ok {
		return found, true
	}
	list := c.lists[listKey(scope, id)]
	if list != nil && !list.at.IsZero() && !list.members[hashOf(id.Key())] && list.changeCount >= absent && !list.at.Before(oldest) && (!ok || found.At.Before(list.at)) {
		return Observation{Observed: Observed{ID: id, At: list.at}, changeCount: list.changeCount, FromList: true}, true
	}
	empty, ok := c.emptyGroups[cacheKey(scope, group)]
	if ok && !id.Equal(group) && empty.count >= absent && !empty.at.Before(oldest) {
		return Observation{Observed: Observed{ID: id, At: empty.at}, changeCount: empty.count}, true
	}
	return Observation{}, false
}

// beginRead begins a read of one resource unless one is under way: then landed is closed when that has ended. end ends it.
func (c *Cache) beginRead(scope string, id arm.ID) (landed <-chan struct{}, end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, id)
	if flight, ok := c.readsInFlight[key]; ok {
		return flight, nil
	}
	flight := make(chan struct{})
	c.readsInFlight[key] = flight
	return nil, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.readsInFlight, key)
		close(flight)
	}
}

// currentCount is the count for a read that begins now.
func (c *Cache) currentCount() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeCount
}

// RetentionPeriod is for how long what was read is kept, but for what a digest may vouch for.
func (c *Cache) RetentionPeriod() time.Duration { return 10 * c.freshness }

// DropExpired drops what nobody will use again, unless that was done just now. Without it, that happens when something else is kept.
func (c *Cache) DropExpired() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropExpired()
}

// dropExpired is Sweep with c.mu held: no observation that old is given out, but for what a digest may vouch for.
func (c *Cache) dropExpired() {
	now, old := c.clock.Now(), c.RetentionPeriod()
	if now.Sub(c.lastSweep) < old {
		return
	}
	c.lastSweep = now
	maps.DeleteFunc(c.entries, func(_ string, found Observation) bool {
		if found.mark == 0 || !found.requested {
			return now.Sub(found.At) > old
		}
		// What tells that it is worthless is about to be dropped as well.
		key := found.ID.Key()
		return now.Sub(found.At) > c.maxVouchedAge && now.Sub(found.vouchedAt) > c.maxVouchedAge || found.changeCount < max(c.resourceChanges[key].count, c.documentChanges[key].count)
	})
	for key, found := range c.entries {
		if len(found.Body) > 0 && now.Sub(found.At) > old {
			c.entries[key] = found.compressBody(&c.compressor)
		}
	}
	maps.DeleteFunc(c.digests, func(_ string, d *digest) bool { return now.Sub(d.begun) > max(old, c.maxVouchedAge) })
	for _, b := range c.subscriptionLists {
		maps.DeleteFunc(b.groups, func(_ string, at time.Time) bool { return now.Sub(at) > interestPeriod })
	}
	maps.DeleteFunc(c.subscriptionLists, func(_ string, b *subscriptionList) bool { return len(b.groups) == 0 && now.After(b.skipUntil) })
	for _, marks := range []map[string]changeMark{c.resourceChanges, c.documentChanges, c.sideEffects, c.emptyGroups} {
		maps.DeleteFunc(marks, func(_ string, last changeMark) bool { return now.Sub(last.at) > old })
	}
	maps.DeleteFunc(c.lists, func(_ string, list *listing) bool {
		maps.DeleteFunc(list.requested, func(_ uint64, at time.Time) bool { return now.Sub(at) > c.freshness })
		maps.DeleteFunc(list.batched, func(_ uint64, at time.Time) bool { return now.Sub(at) > interestPeriod })
		return now.Sub(list.at) > old && len(list.requested)+len(list.batched) == 0 && list.inFlight == nil
	})
}

// EntryCounts are how many entries the cache holds, by what they are.
func (c *Cache) EntryCounts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"written": len(c.resourceChanges), "touched": len(c.documentChanges), "effects": len(c.sideEffects), "entries": len(c.entries),
		"lists": len(c.lists), "empty": len(c.emptyGroups)}
}

func resourceGroupOf(id arm.ID) arm.ID {
	return arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
}

func cacheKey(scope string, id arm.ID) string { return scope + "|" + id.Key() }

func listKey(scope string, id arm.ID) string {
	return scope + "|" + strings.ToLower(types.ListPath(id))
}

func effectKey(group arm.ID, resourceType string) string {
	return group.Key() + "|" + strings.ToLower(resourceType)
}
