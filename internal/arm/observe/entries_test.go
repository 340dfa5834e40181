package observe

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestEntriesOfAGroup stores, replaces and deletes observations in random order. Those near a resource are all that are within it, and
// nothing is left of groups without observations.
func TestEntriesOfAGroup(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{
		"/subscriptions/s/resourceGroups/%s", "/subscriptions/s/resourcegroups/%s/providers/Microsoft.Network/virtualNetworks/v",
		"/subscriptions/s/resourceGroups/%s/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
		"/subscriptions/other/resourceGroups/%s/providers/Microsoft.Compute/virtualMachines/m",
		"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/%s",
	}
	var ids []arm.ID
	for _, name := range names {
		for _, group := range []string{"a", "A", "b", "ab"} {
			ids = append(ids, arm.ID(fmt.Sprintf(name, group)))
		}
	}
	table, want := newEntryTable(), map[string]Observation{}
	for range 2000 {
		id, scope := ids[random.IntN(len(ids))], []string{"p", "q"}[random.IntN(2)]
		found := Observation{Observed: Observed{ID: id}}
		table.store(cacheKey(scope, id), found)
		want[cacheKey(scope, id)] = found
		if random.IntN(10) == 0 {
			drop := func(found Observation) bool { return found.ID.Equal(id) }
			table.deleteFunc(drop)
			maps.DeleteFunc(want, func(_ string, found Observation) bool { return drop(found) })
		}
		at := ids[random.IntN(len(ids))]
		below := func(id arm.ID) bool { return id.IsWithin(at) }
		if diff := cmp.Diff(list(maps.Values(want), below), list(table.near(at), below)); diff != "" {
			t.Fatalf("observations within %s (-want +got):\n%s", at, diff)
		}
	}
	table.deleteFunc(func(Observation) bool { return true })
	if len(table.byKey)+len(table.byGroup) > 0 {
		t.Errorf("%d observations and %d groups are left", len(table.byKey), len(table.byGroup))
	}
}

// list returns the keys of IDs that are wanted, sorted.
func list(found func(func(Observation) bool), wanted func(arm.ID) bool) (out []string) {
	for each := range found {
		if wanted(each.ID) {
			out = append(out, each.ID.Key())
		}
	}
	slices.Sort(out)
	return out
}
