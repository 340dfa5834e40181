package observe

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// manualClock is a clock that tests set.
type manualClock struct{ now time.Time }

func (c *manualClock) Now() time.Time { return c.now }

var (
	epoch     = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	group     = arm.ResourceGroupID("s", "rg")
	network   = arm.NewID("s", "rg", types.VirtualNetwork, "vnet")
	subnet    = network.Child("subnets", "a")
	other     = network.Child("subnets", "b")
	machine   = arm.NewID("s", "rg", types.VirtualMachine, "vm")
	balancer  = arm.NewID("s", "rg", types.LoadBalancer, "lb")
	nic       = arm.NewID("s", "rg", types.NetworkInterface, "nic")
	elsewhere = arm.NewID("s", "other", types.NetworkInterface, "nic")
	disk      = arm.NewID("s", "rg", types.Disk, "vm_OSDisk")
)

// cacheAnswer is the cache's answer about a resource.
type cacheAnswer string

const (
	there   cacheAnswer = "there"
	missing cacheAnswer = "missing"
	unknown cacheAnswer = "unknown"
)

func findAnswer(c *Cache, id arm.ID, maxAge time.Duration) cacheAnswer {
	found, ok := c.findObservation("p", id, c.clock.Now().Add(-maxAge))
	switch {
	case !ok:
		return unknown
	case found.Exists:
		return there
	}
	return missing
}

func storeSeen(id arm.ID) func(*Cache) {
	return func(c *Cache) { c.StoreObservation("p", c.NewObservation(Observed{ID: id, Exists: true}, false)) }
}

func storeAbsent(id arm.ID) func(*Cache) {
	return func(c *Cache) { c.StoreObservation("p", c.NewObservation(Observed{ID: id}, false)) }
}

func storeCollection(member arm.ID) func(*Cache) {
	return func(c *Cache) { c.storeListing("p", member, c.clock.Now(), c.currentCount(), nil) }
}

func markGroupEmpty(id arm.ID) func(*Cache) { return func(c *Cache) { c.MarkGroupEmpty("p", id) } }

func invalidateChanged(id arm.ID, extent Extent) func(*Cache) {
	return func(c *Cache) { c.Invalidate(Change{ID: id, Extent: extent}) }
}

func invalidateCreated(id arm.ID) func(*Cache) {
	return func(c *Cache) { c.Invalidate(Change{ID: id, Created: true}) }
}

func advanceTime(d time.Duration) func(*Cache) {
	return func(c *Cache) { c.clock.(*manualClock).now = c.clock.Now().Add(d) }
}

func TestInvalidate(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		steps  []func(*Cache)
		id     arm.ID
		want   cacheAnswer
	}{
		"seen":          {"it is shared", []func(*Cache){storeSeen(network)}, network, there},
		"never seen":    {"it has to be read", nil, network, unknown},
		"read long ago": {"it is too old for the caller", []func(*Cache){storeSeen(network), advanceTime(11 * time.Second)}, network, unknown},
		"written": {"a read from before the write is outdated", []func(*Cache){storeSeen(network), invalidateChanged(network, ExtentResource)},
			network, unknown},
		"detached from a resource that was created again": {"Azure removed its reference when the earlier one was deleted",
			[]func(*Cache){storeSeen(nic), invalidateCreated(balancer)}, nic, unknown},
		"of another group": {"it has no reference", []func(*Cache){storeSeen(elsewhere), invalidateCreated(balancer)}, elsewhere, there},
		"of another type": {"Azure removes no reference from a network",
			[]func(*Cache){storeSeen(network), invalidateCreated(balancer)}, network, there},
		"read after the creation": {"a later read is valid", []func(*Cache){invalidateCreated(balancer), storeSeen(nic)}, nic, there},
		"the used resource was updated": {"no reference was removed",
			[]func(*Cache){storeSeen(nic), invalidateChanged(balancer, ExtentResource)}, nic, there},
		"read after it was written": {"a later read is valid",
			[]func(*Cache){invalidateChanged(network, ExtentResource), storeSeen(network)}, network, there},
		"its end": {"a read during a change that ends with it is valid",
			[]func(*Cache){invalidateChanged(machine, ExtentResource), storeSeen(machine),
				invalidateChanged(machine, ExtentSideEffects)}, machine, there},
		"another one written": {"its read stays valid", []func(*Cache){storeSeen(subnet), invalidateChanged(other, ExtentResource)},
			subnet, there},
		"its child written": {"its read stays valid",
			[]func(*Cache){storeSeen(network), invalidateChanged(subnet, ExtentResource)}, network, there},
		"its parent written": {"children are included only in a change of the subtree",
			[]func(*Cache){storeSeen(subnet), invalidateChanged(network, ExtentResource)}, subnet, there},
		"its parent is deleted": {"it is deleted with it",
			[]func(*Cache){storeSeen(subnet), invalidateChanged(network, ExtentSubtree)}, subnet, unknown},
		"gone": {"it does not exist any more",
			[]func(*Cache){storeSeen(network), invalidateChanged(network, ExtentSubtree)}, network, unknown},
		"known to be absent": {"an absence is stored like a body",
			[]func(*Cache){invalidateChanged(network, ExtentSubtree), storeAbsent(network)}, network, missing},
		"absent, and its maker written": {"Azure creates disks with a machine",
			[]func(*Cache){storeAbsent(disk), invalidateChanged(machine, ExtentResource)}, disk, unknown},
		"absent, and its maker ended": {"they appear during its creation",
			[]func(*Cache){invalidateChanged(machine, ExtentResource), storeAbsent(disk),
				invalidateChanged(machine, ExtentSideEffects)}, disk, unknown},
		"there, and its maker written": {"an existing resource is still valid",
			[]func(*Cache){storeSeen(disk), invalidateChanged(machine, ExtentResource)}, disk, there},
		"absent, and another written": {"a machine creates no machines",
			[]func(*Cache){storeAbsent(machine), invalidateChanged(arm.NewID("s", "rg", types.VirtualMachine, "vm2"),
				ExtentResource)}, machine, missing},
		"absent, elsewhere": {"a machine creates no disks in another group",
			[]func(*Cache){storeAbsent(disk), invalidateChanged(arm.NewID("s", "rg2", types.VirtualMachine, "vm"), ExtentResource)}, disk, missing},
		"not in its collection": {"a list also shows absences", []func(*Cache){storeCollection(subnet)}, subnet, missing},
		"not in its collection, created": {"the list is outdated",
			[]func(*Cache){storeCollection(subnet), invalidateChanged(subnet, ExtentResource)}, subnet, unknown},
		"not in it, created with another one": {"the list is outdated for resources that another one creates, too",
			[]func(*Cache){storeCollection(disk), invalidateChanged(machine, ExtentResource)}, disk, unknown},
		"read before its collection": {"it is recent enough for the caller",
			[]func(*Cache){storeSeen(subnet), advanceTime(time.Second), storeCollection(subnet)}, subnet, there},
		"read long before": {"the list is the best read",
			[]func(*Cache){storeSeen(subnet), advanceTime(11 * time.Second), storeCollection(subnet)}, subnet, missing},
		"written before": {"the list is more recent",
			[]func(*Cache){storeSeen(subnet), invalidateChanged(subnet, ExtentResource), advanceTime(time.Second),
				storeCollection(subnet)}, subnet, missing},
		"read after its collection": {"the read is more recent than the list",
			[]func(*Cache){storeCollection(subnet), advanceTime(time.Second), storeSeen(subnet)},
			subnet, there},
		"in a collection of a deleted resource": {"the list was of another network",
			[]func(*Cache){storeCollection(subnet), invalidateChanged(network, ExtentSubtree)}, subnet, unknown},
		"in a new group":       {"a group that was just created is empty", []func(*Cache){markGroupEmpty(group)}, network, missing},
		"the new group itself": {"it exists", []func(*Cache){markGroupEmpty(group)}, group, unknown},
		"in a new group, created": {"except resources of this process",
			[]func(*Cache){markGroupEmpty(group), invalidateChanged(network, ExtentResource)}, network, unknown},
		"in a new group, long ago": {"others may have created resources in it",
			[]func(*Cache){markGroupEmpty(group), advanceTime(11 * time.Second)}, network, unknown},
		"in a new group that was deleted": {"a later group of that name may have resources",
			[]func(*Cache){markGroupEmpty(group), invalidateChanged(group, ExtentSubtree)}, network, unknown},
		"in another spelling": {"IDs are not case-sensitive",
			[]func(*Cache){storeSeen(arm.ID("/SUBSCRIPTIONS/S/resourcegroups/RG/providers/microsoft.network/virtualnetworks/VNET"))},
			network, there},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
			for _, step := range test.steps {
				step(c)
			}
			if got := findAnswer(c, test.id, 10*time.Second); got != test.want {
				t.Errorf("%s: the cache returns %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

// TestIsCurrent checks an observation that a caller still holds after changes.
func TestIsCurrent(t *testing.T) {
	for name, test := range map[string]struct {
		reason        string
		fromWrite     bool
		change        Change
		current, etag bool
	}{
		"nothing changed": {"", false, Change{}, true, true},
		"written": {"the write may have come before the read or after it", false,
			Change{ID: network, Extent: ExtentResource}, false, true},
		"a child in its document was written": {"its etag has changed, and nothing else of its own", false,
			Change{ID: subnet, Extent: ExtentResource, Document: network}, true, false},
		"another one written":     {"", false, Change{ID: machine, Extent: ExtentResource}, true, true},
		"an operation on it ends": {"a read during the operation is valid", false, Change{ID: network}, true, true},
		"answer to a write":       {"the etag of an answer is outdated when the operation ends", true, Change{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
			found := c.NewObservation(Observed{ID: network, Exists: true}, test.fromWrite)
			if test.change.ID != "" {
				c.Invalidate(test.change)
			}
			if got := c.IsCurrent(found); got != test.current {
				t.Errorf("current: %t: %s", got, test.reason)
			}
			if got := c.IsETagCurrent(found); got != test.etag {
				t.Errorf("etag is current: %t: %s", got, test.reason)
			}
			c.Invalidate(Change{ID: network, Extent: ExtentResource})
			if later := c.NewObservation(Observed{ID: network}, false); !c.IsCurrent(later) {
				t.Error("a read after all changes is current")
			}
		})
	}
}

// TestReadDuringChangeIsDiscarded stores a read that began before a change and ended after it: the cache neither returns it nor
// replaces a later read by it.
func TestReadDuringChangeIsDiscarded(t *testing.T) {
	c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
	early := c.NewObservation(Observed{ID: network, Exists: true}, false)
	c.Invalidate(Change{ID: network, Extent: ExtentSubtree})
	c.StoreObservation("p", early)
	if got := findAnswer(c, network, time.Hour); got != unknown {
		t.Errorf("a read from before the change is %s", got)
	}
	storeAbsent(network)(c)
	c.StoreObservation("p", early)
	if got := findAnswer(c, network, time.Hour); got != missing {
		t.Errorf("after a read from before the change the cache returns %s", got)
	}
}

// TestInvalidationCoversAllScopes: reads are separate by principal, changes are not.
func TestInvalidationCoversAllScopes(t *testing.T) {
	c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
	storeSeen(network)(c)
	if _, ok := c.findObservation("another principal", network, epoch); ok {
		t.Error("a read of one principal is returned to another")
	}
	c.StoreObservation("another principal", c.NewObservation(Observed{ID: network, Exists: true}, false))
	invalidateChanged(network, ExtentResource)(c)
	if _, ok := c.findObservation("another principal", network, epoch); ok {
		t.Error("a change applies to all principals")
	}
}

// TestDropExpired lets entries expire.
func TestDropExpired(t *testing.T) {
	c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
	for _, step := range []func(*Cache){storeSeen(network), storeCollection(subnet), markGroupEmpty(group),
		invalidateChanged(machine, ExtentSubtree)} {
		step(c)
	}
	c.Invalidate(Change{ID: subnet, Extent: ExtentResource, Document: network})
	c.shouldList("p", []arm.ID{subnet}, readNeed{maxAge: time.Second, readBudgetLeft: 1})
	advanceTime(101 * time.Second)(c)
	storeSeen(disk)(c)
	for what, size := range c.EntryCounts() {
		if want := map[string]int{"entries": 1}[what]; size != want {
			t.Errorf("%d %s after a hundred seconds, want %d", size, what, want)
		}
	}
}

func TestShouldList(t *testing.T) {
	ids := func(n int) []arm.ID {
		var out []arm.ID
		for i := range n {
			out = append(out, network.Child("subnets", string(rune('a'+i))))
		}
		return out
	}
	for name, test := range map[string]struct {
		reason  string
		before  []func(*Cache)
		missing int
		need    readNeed
		want    bool
	}{
		"one": {"a single GET is the cheapest", nil, 1, readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, false},
		"two": {"one request instead of two", nil, 2, readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, true},
		"one after another": {"the next one will be read, too", []func(*Cache){requestRead("z"), advanceTime(time.Second)}, 1,
			readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, true},
		"one long after another": {"the list would be too old for it", []func(*Cache){requestRead("z"), advanceTime(5 * time.Second)}, 1,
			readNeed{maxAge: time.Second, readBudgetLeft: 1}, false},
		"one of many followed": {"all of them are read repeatedly", nil, 1,
			readNeed{maxAge: 100 * time.Millisecond, followed: 20, readBudgetLeft: 1}, true},
		"fresh ones": {"concurrent reads use a list at any age", nil, 2, readNeed{maxAge: -1, readBudgetLeft: 1}, true},
		"one that has changed": {"a recent list does not answer it", []func(*Cache){requestRead("z"), storeCollection(subnet)}, 1,
			readNeed{maxAge: 10 * time.Second, followed: 20, readBudgetLeft: 1}, false},
		"two of very many": {"the list is far larger than needed", []func(*Cache){storeLargeList(100), advanceTime(time.Minute)}, 2,
			readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, false},
		"one of several": {"the others will be read at the same moment, as the last time",
			[]func(*Cache){requestSyncRead("y"), advanceTime(10 * time.Minute)}, 1,
			readNeed{maxAge: 10 * time.Second, batch: true, readBudgetLeft: 1}, true},
		"one of several, by itself": {"no other object was woken", []func(*Cache){requestSyncRead("y"), advanceTime(10 * time.Minute)}, 1,
			readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, false},
		"one of formerly several": {"the others have not been read since", []func(*Cache){requestSyncRead("y"), advanceTime(4 * time.Hour)}, 1,
			readNeed{maxAge: 10 * time.Second, batch: true, readBudgetLeft: 1}, false},
		"twenty of very many": {"it pays", []func(*Cache){storeLargeList(100), advanceTime(time.Minute)}, 20,
			readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1}, true},
		"two of very many, scarce": {"two requests, or one", []func(*Cache){storeLargeList(200), advanceTime(time.Minute)}, 2,
			readNeed{maxAge: 10 * time.Second, readBudgetLeft: 0.4}, true},
		"two of far more, scarce": {"the list has more pages than resources are needed",
			[]func(*Cache){storeLargeList(201), advanceTime(time.Minute)},
			2, readNeed{maxAge: 10 * time.Second, readBudgetLeft: 0.4}, false},
	} {
		c := NewCache(&manualClock{epoch}, 10*time.Second, 0)
		for _, step := range test.before {
			step(c)
		}
		if got := c.shouldList("p", ids(test.missing), test.need); got != test.want {
			t.Errorf("%s: %t, want %t: %s", name, got, test.want, test.reason)
		}
	}
}

func requestRead(name string) func(*Cache) {
	return func(c *Cache) {
		c.shouldList("p", []arm.ID{network.Child("subnets", name)}, readNeed{maxAge: 10 * time.Second, readBudgetLeft: 1})
	}
}

func requestSyncRead(name string) func(*Cache) {
	return func(c *Cache) {
		c.shouldList("p", []arm.ID{network.Child("subnets", name)}, readNeed{maxAge: 10 * time.Second, batch: true, readBudgetLeft: 1})
	}
}

func storeLargeList(size int) func(*Cache) {
	members := map[uint64]bool{}
	for i := range size {
		members[uint64(i)] = true
	}
	return func(c *Cache) { c.storeListing("p", subnet, c.clock.Now(), c.currentCount(), members) }
}

// TestListedResourceIsNeverAbsent drops a listed resource from the cache before it is requested: the answer took longer than the
// retention, or a read that began before the list ended after a change. It is read again and does not count as absent.
func TestListedResourceIsNeverAbsent(t *testing.T) {
	for name, keep := range map[string]func(c *Cache, clock *manualClock, found, before Observation){
		"the answer took long": func(c *Cache, clock *manualClock, found, _ Observation) {
			clock.now = clock.now.Add(time.Hour)
			c.StoreObservation("p", found)
			c.StoreObservation("p", c.NewObservation(Observed{ID: other, Exists: true}, false))
		},
		"an older read ended after a change": func(c *Cache, _ *manualClock, found, before Observation) {
			c.Invalidate(Change{ID: machine})
			before.changeCount = c.currentCount()
			c.StoreObservation("p", before)
			c.StoreObservation("p", found)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &manualClock{epoch}
			c := NewCache(clock, 10*time.Second, 0)
			before := c.NewObservation(Observed{ID: subnet, Exists: true}, false)
			clock.now = clock.now.Add(time.Second)
			found := c.NewObservation(Observed{ID: subnet, Exists: true}, false)
			keep(c, clock, found, before)
			c.storeListing("p", subnet, found.At, found.changeCount, map[uint64]bool{hashOf(subnet.Key()): true})
			if got, ok := c.findObservation("p", subnet, found.At); ok && !got.Exists {
				t.Error("a listed resource counts as absent")
			}
			if got, ok := c.findObservation("p", network.Child("subnets", "c"), found.At); !ok || got.Exists {
				t.Error("an unlisted resource is absent")
			}
		})
	}
}
