package observe

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Clock returns the current time.
type Clock interface{ Now() time.Time }

// Cache holds reads of Azure.
//
// Its contract: code that sends a request which may change a resource, or learns that an operation has ended, calls Invalidate before
// it reads again or notifies others. After that the cache returns no read of a resource that the Change covers if the read began before the
// change. If the change may have created the resource, this includes reads of its absence. IsCurrent is false for such a read that a caller
// still holds. Apart from that, reads only expire by age. A read in flight during a change may be stored all the same: it counts as begun
// before it.
//
// Reads are stored by scope, which is principal and endpoint; changes apply to every scope. A Cache is safe for concurrent use.
type Cache struct {
	clock           Clock
	freshness       time.Duration
	maxConfirmedAge time.Duration

	mu              sync.Mutex
	changeCount     uint64                // number of changes so far; orders reads and changes
	resourceChanges map[string]changeMark // the last change of a resource, by ID key
	documentChanges map[string]changeMark // the last change of a resource that shares the document of this one, by ID key
	sideEffects     map[string]changeMark // the last change that may have created resources of a type in a resource group, by both
	entries         entryTable
	lists           map[string]*listing
	emptyGroups     map[string]changeMark // resource groups created by this process, which have only its resources, by cache key
	readsInFlight   map[string]*flight    // reads of one resource, by cache key
	// digests and subscriptionLists belong to lists of all resources in a subscription or resource group, by cache key of their path.
	digests           map[string]*digest
	subscriptionLists map[string]*subscriptionList
	lastSweep         time.Time
	compressor        Compressor
}

// changeMark is the time of a change, and the cache's count then.
type changeMark struct {
	count uint64
	at    time.Time
}

// NewCache returns an empty cache. freshness is the usual age of reads that it returns; it keeps them for ten times that. Reads
// after which digests show no write are kept for maxConfirmedAge; 0 disables that.
func NewCache(clock Clock, freshness, maxConfirmedAge time.Duration) *Cache {
	return &Cache{
		clock:             clock,
		freshness:         freshness,
		maxConfirmedAge:   maxConfirmedAge,
		resourceChanges:   map[string]changeMark{},
		documentChanges:   map[string]changeMark{},
		sideEffects:       map[string]changeMark{},
		entries:           newEntryTable(),
		lists:             map[string]*listing{},
		emptyGroups:       map[string]changeMark{},
		readsInFlight:     map[string]*flight{},
		digests:           map[string]*digest{},
		subscriptionLists: map[string]*subscriptionList{},
	}
}

// Change describes the part of Azure that may have changed since it was read.
type Change struct {
	// ID is the resource that was written or acted on, or whose operation has ended.
	ID arm.ID
	// Extent is the part of it that may have changed.
	Extent Extent
	// Document is the parent resource whose document contains ID, if that was changed: reads of it stay valid, but its etag has
	// changed. "" means none.
	Document arm.ID
	// Created means that the resource was created, possibly in place of an earlier one.
	Created bool
}

// Extent is the range of a change. It always includes the absence of resources that Azure creates along with this one.
type Extent int

const (
	// ExtentSideEffects leaves reads of the resource itself valid.
	ExtentSideEffects Extent = iota
	// ExtentResource is the resource.
	ExtentResource
	// ExtentSubtree is the resource and everything below it.
	ExtentSubtree
)

// Invalidate discards reads from before a change.
func (c *Cache) Invalidate(change Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changeCount++
	now := changeMark{c.changeCount, c.clock.Now()}
	if change.Document != "" {
		c.documentChanges[change.Document.Key()] = now
	}
	// Absences of the same type stay valid: a hundred machines that are created at once must not invalidate each other's absence.
	if row, err := types.ForID(change.ID); err == nil {
		for _, created := range row.CreatesTypes {
			c.sideEffects[effectKey(resourceGroupOf(change.ID), created)] = now
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

// invalidateDetached discards reads of resources of some types in a group.
func (c *Cache) invalidateDetached(group arm.ID, resourceTypes []string, now changeMark) {
	for found := range c.entries.near(group) {
		if slices.Contains(resourceTypes, found.ID.Type()) {
			c.resourceChanges[found.ID.Key()] = now
		}
	}
}

// invalidateBelow discards reads of resources below id.
func (c *Cache) invalidateBelow(id arm.ID, now changeMark) {
	changed := id.Key()
	maps.DeleteFunc(c.emptyGroups, func(key string, _ changeMark) bool {
		_, group, _ := strings.Cut(key, "|")
		return group == changed
	})
	for found := range c.entries.near(id) {
		if found.ID.IsWithin(id) {
			c.resourceChanges[found.ID.Key()] = now
		}
	}
	below := changed + "/"
	for key, list := range c.lists {
		if _, path, _ := strings.Cut(key, "|"); strings.HasPrefix(path, below) {
			list.at = time.Time{}
		}
	}
}

// IsCurrent reports whether the resource has not changed since the read began.
func (c *Cache) IsCurrent(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resourceChanges[found.ID.Key()].count <= found.changeCount
}

// IsETagCurrent reports whether the etag of an observation may still be the resource's.
func (c *Cache) IsETagCurrent(found Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !found.FromWrite && !found.ConfirmedByDigest && c.documentChanges[found.ID.Key()].count <= found.changeCount
}

// NewObservation returns an observation that is true now, as from the answer to a write.
func (c *Cache) NewObservation(observed Observed, fromWrite bool) Observation {
	observed.At = c.clock.Now()
	if row, err := types.ForID(observed.ID); err == nil && observed.Body != nil {
		observed.Body = withoutBackReferences(row, observed.Body)
	}
	return Observation{Observed: observed, FromWrite: fromWrite, changeCount: c.currentCount()}
}

// StoreObservation stores the result of a read or write, unless a later one is stored.
func (c *Cache) StoreObservation(scope string, found Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, found.ID)
	old, ok := c.entries.byKey[key]
	if ok && (old.changeCount > found.changeCount || old.At.After(found.At)) {
		return
	}
	found.requested = found.requested || old.requested
	found.head = new(atomic.Pointer[parsedHead])
	c.entries.store(key, c.shareBody(c.withDigestMark(scope, found), old))
	c.dropExpired()
}

// MarkGroupEmpty records that this process has just created a resource group, so that resources in it need not be read.
func (c *Cache) MarkGroupEmpty(scope string, group arm.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emptyGroups[cacheKey(scope, group)] = changeMark{c.changeCount, c.clock.Now()}
}

// findObservation returns the observation of id from oldest or later, if id has not changed since.
func (c *Cache) findObservation(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written, group := c.resourceChanges[id.Key()].count, resourceGroupOf(id)
	// An absent resource may have been created since, also by a write to another one.
	absent := max(written, c.sideEffects[effectKey(group, id.Type())].count)
	key := cacheKey(scope, id)
	found, ok := c.entries.byKey[key]
	valid := ok && found.changeCount >= written && (found.Exists || found.changeCount >= absent) && !found.At.Before(oldest)
	if valid {
		// The plan may contain values from a later read of the parent. An older read of the resource would look like drift.
		oldest = found.At.Add(1)
	}
	if embedded, ok := c.embeddedObservation(scope, id, oldest); ok {
		return embedded, true
	}
	if valid {
		if !found.requested {
			found.requested = true
			c.entries.store(key, found)
		}
		return found.decompressBody()
	}
	list := c.lists[listKey(scope, id)]
	if list != nil && !list.at.IsZero() && !list.members[hashOf(id.Key())] && list.changeCount >= absent && !list.at.Before(oldest) &&
		(!ok || found.At.Before(list.at)) {
		return Observation{Observed: Observed{ID: id, At: list.at}, changeCount: list.changeCount, FromList: true}, true
	}
	empty, ok := c.emptyGroups[cacheKey(scope, group)]
	if ok && !id.Equal(group) && empty.count >= absent && !empty.at.Before(oldest) {
		return Observation{Observed: Observed{ID: id, At: empty.at}, changeCount: empty.count}, true
	}
	return Observation{}, false
}

// beginRead begins the read of one resource and returns the function that ends it. If another read of the resource is in flight, it
// returns that one and no function.
func (c *Cache) beginRead(scope string, id arm.ID) (inFlight *flight, end func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cacheKey(scope, id)
	if other, ok := c.readsInFlight[key]; ok {
		return other, nil
	}
	own := newFlight()
	c.readsInFlight[key] = own
	return nil, func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.readsInFlight, key)
		own.end(err)
	}
}

// currentCount returns the count for a read that begins now.
func (c *Cache) currentCount() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changeCount
}

// RetentionPeriod returns how long reads are kept, except those after which digests show no write.
func (c *Cache) RetentionPeriod() time.Duration { return 10 * c.freshness }

// DropExpired drops reads that are too old for any caller. The cache also does that when it stores a read.
func (c *Cache) DropExpired() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropExpired()
}

// dropExpired is DropExpired with c.mu held. It keeps reads after which digests show no write.
func (c *Cache) dropExpired() {
	now, old := c.clock.Now(), c.RetentionPeriod()
	if now.Sub(c.lastSweep) < old {
		return
	}
	c.lastSweep = now
	c.entries.deleteFunc(func(found Observation) bool {
		if found.mark == 0 || !found.requested {
			return now.Sub(found.At) > old
		}
		// The mark that invalidates this read is about to be dropped as well.
		key := found.ID.Key()
		return now.Sub(found.At) > c.maxConfirmedAge && now.Sub(found.confirmedAt) > c.maxConfirmedAge ||
			found.changeCount < max(c.resourceChanges[key].count, c.documentChanges[key].count)
	})
	for key, found := range c.entries.byKey {
		if len(found.Body) > 0 && now.Sub(found.At) > old {
			c.entries.store(key, found.compressBody(&c.compressor))
		}
	}
	maps.DeleteFunc(c.digests, func(_ string, d *digest) bool { return now.Sub(d.begun) > max(old, c.maxConfirmedAge) })
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

// EntryCounts returns the number of entries, by kind.
func (c *Cache) EntryCounts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]int{"written": len(c.resourceChanges), "touched": len(c.documentChanges), "effects": len(c.sideEffects),
		"entries": len(c.entries.byKey), "lists": len(c.lists), "empty": len(c.emptyGroups)}
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
