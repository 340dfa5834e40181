// Package memory remembers between plans which resources earlier ones had, so that what a spec no longer wants can be
// taken away. The memory is a JSON list of resource IDs without the subscription, kept in an annotation: it survives a
// move and a restore, which status does not.
//
// It is pure: it names resources, and deletes nothing.
package memory

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// PlannedAnnotation is where the memory is stored. What is in it and no longer planned is deleted: a spec that shrinks
// must not leave anything behind.
const PlannedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-planned"

// Memory is what was remembered for one object.
type Memory struct {
	// SubscriptionID is the subscription that the IDs are in.
	SubscriptionID string
	// Stored is the value of PlannedAnnotation.
	Stored string
	// MayPrune tells whether a resource may be taken away because a plan wants it no more.
	MayPrune func(arm.ID) bool
}

// Groups are the conditions that resources report into once no plan has them any more, by resource type.
type Groups map[string]string

// Of is the condition for a resource, "" when its type is not among them.
func (g Groups) Of(id arm.ID) string {
	for resourceType, group := range g {
		if strings.EqualFold(id.Type(), resourceType) {
			return group
		}
	}
	return ""
}

// Recall are the IDs that are stored. One that cannot be read names none: then nothing of it is deleted. Among them may be
// parts of a resource that are no resources of their own, as rules of a load balancer: they have the ID that Azure gives
// them, and go with the next write of the document that they are in.
func (m Memory) Recall() []arm.ID {
	var short []string
	if json.Unmarshal([]byte(m.Stored), &short) != nil {
		return nil
	}
	var out []arm.ID
	for _, s := range short {
		id := arm.SubscriptionID(m.SubscriptionID) + arm.ID(s)
		_, err := types.Of(id)
		if (err == nil || IsPart(id)) && strings.HasPrefix(s, "/resourceGroups/") && m.MayPrune(id) {
			out = append(out, id)
		}
	}
	return out
}

// IsPart tells whether an ID is that of a part of a resource and not that of a resource of its own.
func IsPart(id arm.ID) bool {
	_, err := types.Of(id)
	_, parentErr := types.Of(id.Parent())
	return err != nil && parentErr == nil
}

// Prune are the resources among the candidates, each once, that are neither wanted nor in the plan.
func Prune(candidates, wanted []arm.ID, g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, id := range candidates {
		if !IsPart(id) && !g.Has(id) && !slices.ContainsFunc(wanted, id.Equal) && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	return out
}

// Remember is the value to store before a plan that wants these resources is converged: everything that was planned
// before and is now, so that nothing is forgotten when a process dies in between.
func (m Memory) Remember(wanted []arm.ID) string {
	return m.Settled(append(m.Recall(), wanted...))
}

// Settled is the value to store once a plan that wants these resources has been converged and what was to be pruned is
// gone.
func (m Memory) Settled(wanted []arm.ID) string {
	ids := map[string]bool{}
	for _, id := range wanted {
		// IDs of other subscriptions there are none.
		ids[strings.TrimPrefix(string(id), string(arm.SubscriptionID(m.SubscriptionID)))] = true
	}
	raw, _ := json.Marshal(append([]string{}, slices.Sorted(maps.Keys(ids))...)) // A list of strings always marshals.
	return string(raw)
}
