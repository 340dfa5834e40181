package observe

import (
	"iter"
	"maps"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// entryTable holds observations by cache key. It finds those of a resource group without a walk over all: each end of a deletion and some
// creations ask for them.
type entryTable struct {
	byKey map[string]Observation
	// byGroup has the cache keys by the key of the resource group. Resources outside of groups have the key of a group without a name.
	byGroup map[string]map[string]struct{}
}

func newEntryTable() entryTable {
	return entryTable{byKey: map[string]Observation{}, byGroup: map[string]map[string]struct{}{}}
}

// store adds or replaces an observation.
func (t entryTable) store(key string, found Observation) {
	if _, has := t.byKey[key]; !has {
		group := resourceGroupOf(found.ID).Key()
		if t.byGroup[group] == nil {
			t.byGroup[group] = map[string]struct{}{}
		}
		t.byGroup[group][key] = struct{}{}
	}
	t.byKey[key] = found
}

// deleteFunc deletes the observations for which drop returns true.
func (t entryTable) deleteFunc(drop func(found Observation) bool) {
	maps.DeleteFunc(t.byKey, func(key string, found Observation) bool {
		if !drop(found) {
			return false
		}
		group := resourceGroupOf(found.ID).Key()
		if delete(t.byGroup[group], key); len(t.byGroup[group]) == 0 {
			delete(t.byGroup, group)
		}
		return true
	})
}

// near returns the observations in the resource group of id, or all if id is in none. Everything below id is among them.
func (t entryTable) near(id arm.ID) iter.Seq[Observation] {
	if id.ResourceGroup() == "" {
		return maps.Values(t.byKey)
	}
	return func(yield func(Observation) bool) {
		for key := range t.byGroup[resourceGroupOf(id).Key()] {
			if !yield(t.byKey[key]) {
				return
			}
		}
	}
}
