package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

type standingClock struct{ now time.Time }

func (c *standingClock) Now() time.Time { return c.now }

func (*standingClock) AfterFunc(time.Duration, func()) func() bool {
	return func() bool { return true }
}

// TestRecordsAreKeptWhileTheyHaveContent changes a record and counts the records in the store.
func TestRecordsAreKeptWhileTheyHaveContent(t *testing.T) {
	failed := errors.New("failed")
	fail := func(state *resourceState) { state.retry.record("hash", failed, time.Time{}, 0) }
	for name, test := range map[string]struct {
		reason  string
		changes []func(*resourceState)
		want    int
	}{
		"nothing": {"a change that adds nothing stores no record", []func(*resourceState){(*resourceState).resetMissing}, 0},
		"in place": {"a resource that was never seen in its desired state is read again nevertheless",
			[]func(*resourceState){func(state *resourceState) { state.alignment.inPlace = true }}, 0},
		"failure": {"a failure counts until it is cleared", []func(*resourceState){fail}, 1},
		"cleared": {"a record without content is dropped",
			[]func(*resourceState){fail, func(state *resourceState) { state.retry = retryState{} }}, 0},
		"aligned": {"a failure ends when the desired state is reached",
			[]func(*resourceState){fail, func(state *resourceState) { state.recordAligned("hash") }}, 1},
		"missing": {"a failure of the creation stays", []func(*resourceState){fail, (*resourceState).resetMissing}, 1},
		"taken": {"a result is taken once",
			[]func(*resourceState){func(state *resourceState) { state.actions = newActionResults([]string{"object"}, nil) },
				func(state *resourceState) { state.actions.take("object") }}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &standingClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			store := newStateStore(clock)
			for _, change := range test.changes {
				store.update("key", change)
			}
			if store.count() != test.want {
				t.Errorf("%s: %d records, want %d", test.reason, store.count(), test.want)
			}
			store.get("other")
			if store.count() != test.want {
				t.Error("a read stores a record")
			}
			clock.now = clock.now.Add(retention + time.Second)
			store.update("other", func(*resourceState) {})
			if store.count() != 0 {
				t.Error("an unused record is kept")
			}
		})
	}
}

// TestReadRecordIsACopy changes a record that was read before.
func TestReadRecordIsACopy(t *testing.T) {
	store := newStateStore(&standingClock{})
	store.update("key", func(state *resourceState) { state.recordAligned("one") })
	before := store.get("key")
	store.update("key", func(state *resourceState) { state.recordAligned("two") })
	if before.alignment.hash != "one" || store.get("key").alignment.hash != "two" {
		t.Errorf("before %q, now %q", before.alignment.hash, store.get("key").alignment.hash)
	}
	store.forgetResource(arm.ID("key"))
	if store.get("key").alignment.hash != "" {
		t.Error("the record of a deleted resource is kept")
	}
}

// TestForgottenResources deletes resources, and checks the records that stay.
func TestForgottenResources(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/g"
	const vnet = group + "/providers/Microsoft.Network/virtualNetworks/v"
	keys := []string{
		arm.ID(group).Key(), arm.ID(vnet).Key(), arm.ID(vnet).Key() + readSuffix, arm.ID(vnet).Key() + actionSuffix + "POST|a|",
		arm.ID(vnet + "/subnets/a").Key(), arm.ID(vnet + "2").Key(), arm.ID(group + "2/providers/Microsoft.Network/virtualNetworks/v").Key(),
		"/subscriptions/s/providers/microsoft.authorization/roleassignments/r", "/subscriptions/s/providers/microsoft.authorization/roleassignments/r2",
	}
	for name, test := range map[string]struct {
		reason string
		gone   arm.ID
		want   []string
	}{
		"a resource":     {"its children and actions go, a resource whose name begins like its own stays", vnet, slices.Concat(keys[:1], keys[5:])},
		"a child":        {"its parent stays", vnet + "/subnets/a", slices.Concat(keys[:4], keys[5:])},
		"a group":        {"all that is in it goes", group, keys[6:]},
		"outside groups": {"a resource without a resource group", arm.ID(keys[7]), slices.Concat(keys[:7], keys[8:])},
		"nothing known":  {"no record", group + "3", keys},
		"in capitals":    {"Azure ignores case", arm.ID(strings.ToUpper(vnet)), slices.Concat(keys[:1], keys[5:])},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStateStore(&standingClock{})
			for _, key := range keys {
				store.update(key, func(state *resourceState) { state.recordAligned("hash") })
			}
			store.forgetResource(test.gone)
			var got []string
			for _, key := range keys {
				if store.get(key).alignment.hash != "" {
					got = append(got, key)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || store.count() != len(test.want) {
				t.Errorf("%s: %d records (-want +got):\n%s", test.reason, store.count(), diff)
			}
		})
	}
}

// TestRetriedSiblings deletes a security rule; it expects that failures of the other rules of its group are due, and no others.
func TestRetriedSiblings(t *testing.T) {
	const nsg = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkSecurityGroups/n"
	clock := &standingClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	store := newStateStore(clock)
	ids := []arm.ID{nsg + "/securityRules/b", nsg, nsg + "2/securityRules/b"}
	for _, id := range ids {
		store.update(id.Key(), func(state *resourceState) {
			state.retry.record("hash", errors.New("conflict"), clock.now.Add(time.Hour), 0)
		})
	}
	store.retrySiblings(nsg + "/securityRules/a")
	var due []bool
	for _, id := range ids {
		wait, _ := store.get(id.Key()).retry.failureOf("hash", clock.now)
		due = append(due, wait <= 0)
	}
	if diff := cmp.Diff([]bool{true, false, false}, due); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDeletionsIgnoreOtherGroups adds the records of many clusters; it expects that a deletion walks and allocates as without them.
func TestDeletionsIgnoreOtherGroups(t *testing.T) {
	id := func(group string) arm.ID {
		return arm.ID("/subscriptions/s/resourceGroups/" + group + "/providers/Microsoft.Compute/virtualMachines/m")
	}
	store := newStateStore(&standingClock{})
	measure := func() float64 {
		return testing.AllocsPerRun(10, func() {
			store.forgetResource(id("G") + "2")
			store.retrySiblings(id("G") + "2")
		})
	}
	store.update(id("g").Key(), func(state *resourceState) { state.recordAligned("hash") })
	alone := measure()
	for i := range 10_000 {
		store.update(id("g"+strconv.Itoa(i)).Key(), func(state *resourceState) { state.recordAligned("hash") })
	}
	if all := measure(); all != alone {
		t.Errorf("%v allocations, and %v with the records of other groups", alone, all)
	}
	if walked := len(store.states[groupOf(id("g").Key())]); walked != 1 {
		t.Errorf("a deletion walks %d records", walked)
	}
}
