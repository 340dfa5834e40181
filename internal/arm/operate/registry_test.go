package operate

import (
	"slices"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

var (
	network = arm.NewID("s", "rg", types.VirtualNetwork, "vnet")
	subnets = []arm.ID{network.Child("subnets", "a"), network.Child("subnets", "b")}
	machine = arm.NewID("s", "rg", types.VirtualMachine, "vm")
)

// operationOn returns an operation that changes a resource.
func operationOn(id arm.ID) *Operation {
	row, err := types.ForID(id)
	if err != nil {
		panic(err)
	}
	return &Operation{Key: id.Key(), ID: id, SerialKey: row.SerialKey(id), State: arm.Updating}
}

func TestBegin(t *testing.T) {
	action := func(id arm.ID) *Operation { return &Operation{Key: id.Key() + "|restart", ID: id} }
	for name, test := range map[string]struct {
		reason  string
		before  []*Operation
		op      *Operation
		replace bool
		// holder is the index of the earlier operation that holds it, -1 for none.
		holder int
	}{
		"nothing else":      {"", nil, operationOn(network), false, -1},
		"the same resource": {"one operation at a time", []*Operation{operationOn(network)}, operationOn(network), false, 0},
		"another resource":  {"they share no document", []*Operation{operationOn(network)}, operationOn(machine), false, -1},
		"a part of the document": {"a write of the network would overwrite its subnets", []*Operation{operationOn(subnets[0])},
			operationOn(network), false, 0},
		"the whole document": {"a write of a subnet would be overwritten by that of its network",
			[]*Operation{operationOn(network)}, operationOn(subnets[0]), false, 0},
		"another part of it": {"subnets of a network share its document",
			[]*Operation{operationOn(subnets[0])}, operationOn(subnets[1]), false, 0},
		"an action":       {"the callers coordinate their actions", []*Operation{operationOn(machine)}, action(machine), false, -1},
		"the same action": {"it is not sent twice", []*Operation{action(machine)}, action(machine), false, 0},
		"a deletion":      {"it ends the running operation", []*Operation{operationOn(machine)}, operationOn(machine), true, -1},
		"a deletion of a child": {"but not operations on the rest", []*Operation{operationOn(subnets[0])},
			operationOn(subnets[1]), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry()
			for _, op := range test.before {
				if holder := r.register(op, false); holder != nil {
					t.Fatalf("%s holds it", holder.Key)
				}
			}
			var want *Operation
			if test.holder >= 0 {
				want = test.before[test.holder]
			}
			if got := r.register(test.op, test.replace); got != want {
				t.Errorf("%s: held by %v, want %v", test.reason, got, want)
			}
			if want == nil && r.FindOperation(test.op.Key) != test.op {
				t.Error("an operation that was begun is not found")
			}
		})
	}
}

// TestWaiterSet lets several objects wait; it expects that each is woken once.
func TestWaiterSet(t *testing.T) {
	var woken []string
	wake := func(object string) func() { return func() { woken = append(woken, object) } }
	r := newRegistry()
	first, second := operationOn(subnets[0]), operationOn(subnets[1])
	r.register(first, false)
	first.AddWaiter("a", wake("a"))
	first.AddWaiter("a", wake("a again"))
	first.AddWaiter("b", nil)
	r.AwaitSerial(network, "c", wake("c"))
	if waiting := first.WaitingObjects(); len(waiting) != 2 {
		t.Errorf("%v wait", waiting)
	}
	first.markEnded()
	r.unregister(first)
	if slices.Sort(woken); !slices.Equal(woken, []string{"a again", "c"}) {
		t.Errorf("woken: %v; each object has one wake, for its last reason", woken)
	}
	if first.AddWaiter("d", wake("d")) {
		t.Error("an operation that has ended accepts no waiter")
	}
	if holder := r.register(second, false); holder != nil {
		t.Errorf("the document is still held by %s", holder.ID)
	}
	for what, size := range map[string]int{"operations": 1, "serial": 1, "waiting": 0} {
		if got := r.EntryCounts()[what]; got != size {
			t.Errorf("%d %s, want %d", got, what, size)
		}
	}
}

// TestDeletionTakesOverWaiters replaces an operation by a deletion.
func TestDeletionTakesOverWaiters(t *testing.T) {
	woken := 0
	r := newRegistry()
	creation, deletion := operationOn(machine), operationOn(machine)
	r.register(creation, false)
	creation.AddWaiter("a", func() { woken++ })
	r.register(deletion, true)
	if creation.markEnded() {
		t.Error("a replaced operation has no end of its own")
	}
	if creation.AddWaiter("b", func() {}) {
		t.Error("a replaced operation accepts a waiter, which nothing wakes")
	}
	r.unregister(creation)
	r.unregister(deletion)
	if woken == 0 {
		t.Error("objects that waited for the creation are woken at the end of the deletion at the latest")
	}
	if got := r.CountInCollection(machine); len(r.operations)+len(r.inCollection) > 0 {
		t.Errorf("%d operations are left, and %d are counted in the collection", len(r.operations), got)
	}
}

// TestCountInCollection counts the followed operations of one collection.
func TestCountInCollection(t *testing.T) {
	r := newRegistry()
	for _, id := range []arm.ID{machine, arm.NewID("s", "rg", types.VirtualMachine, "vm2"),
		arm.NewID("s", "rg2", types.VirtualMachine, "vm"), network} {
		r.register(operationOn(id), false)
	}
	if got := r.CountInCollection(machine); got != 2 {
		t.Errorf("%d machines of the group are followed, want 2", got)
	}
}
