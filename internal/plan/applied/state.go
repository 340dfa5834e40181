package applied

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Scope configures the entries for the plans of one kind.
type Scope struct {
	// SubscriptionID is the subscription of all resources. Annotations cannot name others.
	SubscriptionID string
	// Types are the resource types that get entries.
	Types Types
	// KeepsLasting keeps the entries, with tags, of resources that are never pruned and no longer planned: until the
	// object is deleted, or a plan has the resource again.
	KeepsLasting bool
	// AllLeaves adds every leaf path, whatever the type. It is for plans that do not set every property: a property that
	// an earlier plan sent and this one leaves out has to return to its default.
	AllLeaves bool
	// PlanOfSpec returns the plan of the spec without facts about Azure. Its resources are not pruned. Nil stands for the
	// plan at hand.
	PlanOfSpec func() (*arm.Graph, error)

	// SecurityGroup returns the ID of a security group by its name. It is nil for plans without security groups. CAPZ stored security
	// rules by the names of their groups.
	SecurityGroup func(name string) arm.ID
}

// Types maps resource types to the condition types that report resources which are no longer planned. Resources of a type
// with "" are never pruned, because too much depends on them to delete them after a change of a name. The parts of them
// that plans sent are removed.
type Types map[string]string

// Condition returns the condition type for a resource, "" for one that is never pruned.
func (t Types) Condition(id arm.ID) string {
	condition, _ := t.lookUp(id)
	return condition
}

func (t Types) lookUp(id arm.ID) (condition string, known bool) {
	if row, ok := findRow(id); ok {
		condition, known = t[row.Name]
	}
	return condition, known
}

// State is lastApplied of one object.
type State struct {
	Scope
	applied pathSet

	// finalPlan is a plan that does not change any more, and finalPaths are the paths that it sends.
	finalPlan  *arm.Graph
	finalPaths pathSet
}

// ReadState returns lastApplied of an object.
func ReadState(annotations map[string]string, scope Scope) State {
	return State{Scope: scope, applied: readSet(annotations, scope)}
}

// ForFinalPlan returns the state with the paths of a plan that does not change any more, so that they are computed only
// once.
func (m State) ForFinalPlan(final *arm.Graph) State {
	final.SealBodies()
	m.finalPaths, m.finalPlan = m.pathsSentBy(final), final
	return m
}

// PathsBefore returns the paths to store before a plan is converged, nil if they are stored already: the entries of earlier plans and
// of this one, so that none is lost if the process dies in between.
//
// For an object without entries whose plan sends only tags, nothing is stored before the first convergence.
func (m State) PathsBefore(g *arm.Graph) Paths {
	if m.applied.containsAll(m.pathsSentBy(g)) {
		return nil
	}
	all := m.unionWithPlan(g, func(string, string) bool { return false })
	remembered := slices.ContainsFunc(all.sortedEntries(), func(e *entry) bool {
		_, known := m.Types.lookUp(m.toFullID(e.id))
		return known && e.id != allResources
	})
	if len(m.applied) == 0 && !remembered {
		return nil
	}
	return all.toPaths()
}

// PathsAfter returns the paths to store after a convergence: the entries of this plan if all resources are as planned, else those
// of PathsBefore, and in both cases the record of resources that Azure showed as the object's own. Nil means no entries.
func (m State) PathsAfter(g *arm.Graph, outcome arm.Outcome) Paths {
	all := m.pathsSentBy(g)
	if outcome.IsDone() {
		for _, node := range g.Nodes() {
			result, _ := outcome.Result(node.ID)
			for _, path := range result.UnremovablePaths {
				if id := trimSubscription(node.ID); m.applied.hasConfirmed(id, path) {
					all.addPaths(id, path)
				} else {
					all.addPending(id, path)
				}
			}
		}
		m.keepLasting(all, g)
	} else {
		all = m.unionWithPlan(g, shownBy(g, outcome, m.toFullID))
	}
	for _, node := range g.Nodes() {
		// Every resource with tags is recorded once Azure showed it. Without the record, a resource without its tags would have no owner.
		if row, _ := findRow(node.ID); row.Taggable && (node.Policy == arm.Repair || node.Policy == arm.CreateOnly) &&
			trimSubscription(node.ID) != "" {
			result, _ := outcome.Result(node.ID)
			if m.IsRecorded(node.ID) || result.Owned && len(result.Observed) > 0 {
				all.addPaths(trimSubscription(node.ID), recorded)
			}
		}
	}
	for _, entry := range all {
		result, _ := outcome.Result(m.toFullID(entry.id))
		if entry.id != allResources && (m.applied.hasPath(entry.id, recorded) || result.Owned && len(result.Observed) > 0) {
			all.addPaths(entry.id, recorded)
		}
	}
	return all.toPaths()
}

// unionWithPlan returns the entries of earlier plans and of this one. Resources that the plan only reads were released, so their entries are
// dropped, although other resources of the plan are not in place yet.
func (m State) unionWithPlan(g *arm.Graph, shown func(id, path string) bool) pathSet {
	all := m.applied.unionWith(m.planned(g, shown))
	for _, node := range g.Nodes() {
		if node.Policy == arm.Observe {
			delete(all, strings.ToLower(trimSubscription(node.ID)))
		}
	}
	return all
}

// keepLasting adds the entries of resources that are never pruned and that the plan does not have. Resources that the plan
// only reads were released, so their entries are dropped.
func (m State) keepLasting(all pathSet, g *arm.Graph) {
	for _, entry := range m.applied {
		id := m.toFullID(entry.id)
		if !m.KeepsLasting || entry.id == allResources || g.Has(id) || !m.isLasting(id) {
			continue
		}
		all.addFrom(entry.id, entry)
		if row, _ := findRow(id); row.Taggable {
			all.addFrom(entry.id, m.applied[allResources])
		}
	}
}

// isLasting returns true for a resource of a type that is never pruned.
func (m State) isLasting(id arm.ID) bool {
	condition, known := m.Types.lookUp(id)
	return known && condition == ""
}

// ListAbandoned returns the resources that were sent, that are deleted only together with the object, and that the plan
// does not have. It leaves out resources that were released to stay in Azure.
func (m State) ListAbandoned(g *arm.Graph) (out []arm.ID) {
	for _, entry := range m.applied.sortedEntries() {
		if id := m.toFullID(entry.id); entry.id != allResources && m.isLasting(id) && !g.Has(id) && !entry.hasPath(detached) {
			out = append(out, id)
		}
	}
	return out
}

// IsRecorded returns true if Azure showed the resource as the object's own once.
func (m State) IsRecorded(id arm.ID) bool { return m.applied.hasPath(trimSubscription(id), recorded) }

// RecordedResources returns the resources that Azure showed as the object's own once, without the subscription.
func RecordedResources(annotations map[string]string) []arm.ID {
	var out []arm.ID
	for _, entry := range readSet(annotations, Scope{}).sortedEntries() {
		if entry.hasPath(recorded) {
			out = append(out, arm.ID(groupsSegment+entry.id))
		}
	}
	return out
}

// AppliedResources returns all resources in an object's annotations.
func AppliedResources(annotations map[string]string, subscriptionID string) []arm.ID {
	scope := Scope{SubscriptionID: subscriptionID, AllLeaves: true}
	var out []arm.ID
	for _, entry := range readSet(annotations, scope).sortedEntries() {
		if entry.id != allResources {
			out = append(out, State{Scope: scope}.toFullID(entry.id))
		}
	}
	return out
}

const groupsSegment = "/resourceGroups/"

// trimSubscription returns an ID without the subscription and "/resourceGroups/"; "" for an ID outside of resource groups.
func trimSubscription(id arm.ID) string {
	text := string(id)
	if i := strings.Index(strings.ToLower(text), strings.ToLower(groupsSegment)); i >= 0 {
		return text[i+len(groupsSegment):]
	}
	return ""
}

// toFullID returns the ID of a resource from the result of trimSubscription.
func (m State) toFullID(short string) arm.ID {
	return arm.SubscriptionID(m.SubscriptionID) + arm.ID(groupsSegment+short)
}

// readSet returns the set in the annotations, without entries that no plan can have sent.
func readSet(annotations map[string]string, scope Scope) pathSet {
	stored := Read(annotations).Applied
	if stored == nil {
		return readEstablished(annotations, scope)
	}
	out := pathSet{}
	for id, paths := range stored {
		if id == allResources || isPlainID(id) {
			out.addPaths(id)
			for _, stored := range paths {
				if path, isPending := strings.CutPrefix(stored, pending); !scope.canSend(id, path) {
					continue
				} else if isPending {
					out.addPending(id, path)
				} else {
					out.addPaths(id, path)
				}
			}
		}
	}
	return out
}

// isPlainID returns true for an ID without segments or characters that would lead a request elsewhere.
func isPlainID(id string) bool {
	for segment := range strings.SplitSeq(id, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return !strings.ContainsAny(id, `?#%\`)
}
