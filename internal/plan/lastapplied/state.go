// Package memory remembers what plans of an object have sent to Azure, because what was sent and is no longer wanted goes. It
// is a set of resource IDs and leaf paths in one annotation, which survives a move and a restore, as status does not.
//
// A write takes out of a resource what it leaves out. So only what a write would leave there is remembered: the resources
// themselves, tags, the elements of lists that others write into, too, settings that are kept where a plan says nothing, and
// of types that keep what a request leaves out every leaf.
//
// It is pure, and it removes nothing: it names what may go, which is never more than the object owns. Resources go by the
// ownership tag on them, which the engine looks at, or as children of what the plan has; everything else is named within
// resources of the plan.
package lastapplied

import (
	"encoding/json"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Scope says what of an object's plans is remembered.
type Scope struct {
	// SubscriptionID is the one that all resources are in; others cannot be named.
	SubscriptionID string
	// Types are the types that are remembered.
	Types Types
	// KeepsLasting tells that what never goes stays remembered when no plan has it any more, with its tags: until the object goes, or a plan has
	// it again.
	KeepsLasting bool
	// AllLeaves tells that every leaf path is remembered, whatever the type: plans are not total, and what one leaves out that an
	// earlier one sent is to go back to what it is by default.
	AllLeaves bool
	// PlanOfSpec is the plan of what the spec names whatever Azure is like; it is not pruned. Nil adds nothing to the plan at hand.
	PlanOfSpec func() (*arm.Graph, error)

	// Self is the resource that the paths in an annotation of an earlier release belong to.
	Self arm.ID
	// SecurityGroup is the ID of a security group by its name, and SecurityGroups are the names of those in the spec, for
	// annotations of the established provider and of earlier releases.
	SecurityGroup  func(name string) arm.ID
	SecurityGroups []string
}

// Types are the conditions that resources report into once no plan has them any more, by type. Those of a type with "" never
// go, because too much hangs on them for a name that was changed; what plans put into them does.
type Types map[string]string

// Condition is the condition for a resource, "" for one that never goes.
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

// State is what was remembered for one object.
type State struct {
	Scope
	applied pathSet

	// finalPlan is a plan that does not change any more, and sends what it sends.
	finalPlan  *arm.Graph
	finalPaths pathSet
}

// Read reads the memory of an object. An annotation that cannot be read names nothing: then nothing of it is removed.
func Read(annotations map[string]string, scope Scope) State {
	return State{Scope: scope, applied: readSet(annotations, scope)}
}

// ForFinalPlan is the memory for a plan that does not change any more, of which it is worked out once what it sends.
func (m State) ForFinalPlan(final *arm.Graph) State {
	final.SealBodies()
	m.finalPaths, m.finalPlan = m.pathsSentBy(final), final
	return m
}

// AnnotationsBefore are the annotations to store before a plan is converged, none when they are stored already: everything that was
// sent before and is now, so that nothing is forgotten when a process dies in between. "" is for one to take away.
//
// Tags alone of an object that has nothing stored need no write before the first pass.
func (m State) AnnotationsBefore(g *arm.Graph) map[string]string {
	if m.applied.containsAll(m.pathsSentBy(g)) {
		return nil
	}
	all := m.applied.unionWith(m.planned(g, func(string, string) bool { return false }))
	remembered := slices.ContainsFunc(all.sortedEntries(), func(e *entry) bool {
		_, known := m.Types.lookUp(m.toFullID(e.id))
		return known && e.id != allResources
	})
	if len(m.applied) == 0 && !remembered {
		return nil
	}
	return m.buildAnnotations(all)
}

// AnnotationsAfter are the annotations to store after a pass: what is sent from now on when everything is in place, else what
// Remember has, and which of it was seen in Azure as the object's own. "" is for one to take away.
func (m State) AnnotationsAfter(g *arm.Graph, outcome arm.Outcome) map[string]string {
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
		all = m.applied.unionWith(m.planned(g, shownBy(g, outcome, m.toFullID)))
	}
	for _, node := range g.Nodes() {
		// Whatever carries tags is recorded once it was seen: without the record, a resource that loses them would be nobody's.
		if row, _ := findRow(node.ID); row.Taggable && (node.Policy == arm.Repair || node.Policy == arm.CreateOnly) && trimSubscription(node.ID) != "" {
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
	return m.buildAnnotations(all)
}

// keepLasting adds what was sent of resources that the plan does not have and that never go. One that it only reads has been let go.
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

func (m State) isLasting(id arm.ID) bool {
	condition, known := m.Types.lookUp(id)
	return known && condition == ""
}

// ListAbandoned are the resources that were sent, that never go without the object, and that a plan does not have. What was to stay is none of
// them.
func (m State) ListAbandoned(g *arm.Graph) (out []arm.ID) {
	for _, entry := range m.applied.sortedEntries() {
		if id := m.toFullID(entry.id); entry.id != allResources && m.isLasting(id) && !g.Has(id) && !entry.hasPath(detached) {
			out = append(out, id)
		}
	}
	return out
}

// IsRecorded tells whether a resource was seen in Azure as the object's own.
func (m State) IsRecorded(id arm.ID) bool { return m.applied.hasPath(trimSubscription(id), recorded) }

// RecordedResources are the resources in an object's annotations that were seen in Azure as its own, without the subscription.
func RecordedResources(annotations map[string]string) []arm.ID {
	var out []arm.ID
	for _, entry := range readSet(annotations, Scope{}).sortedEntries() {
		if entry.hasPath(recorded) {
			out = append(out, arm.ID(groupsSegment+entry.id))
		}
	}
	return out
}

// AppliedResources are all resources that an object's annotations name.
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

// IsStored tells whether an object's annotations say that there was a plan, of this provider or the established one.
func IsStored(annotations map[string]string) bool {
	return slices.ContainsFunc(append([]string{infrav1.LastAppliedAnnotation}, otherAnnotations...), func(key string) bool { return annotations[key] != "" })
}

func (m State) buildAnnotations(all pathSet) map[string]string {
	out := map[string]string{infrav1.LastAppliedAnnotation: all.toJSON()}
	for _, annotation := range earlierAnnotations {
		out[annotation] = ""
	}
	return out
}

const groupsSegment = "/resourceGroups/"

// trimSubscription is an ID without the subscription, "" for one that is in no resource group.
func trimSubscription(id arm.ID) string {
	text := string(id)
	if i := strings.Index(strings.ToLower(text), strings.ToLower(groupsSegment)); i >= 0 {
		return text[i+len(groupsSegment):]
	}
	return ""
}

func (m State) toFullID(short string) arm.ID {
	return arm.SubscriptionID(m.SubscriptionID) + arm.ID(groupsSegment+short)
}

// readSet is the set in the annotations, without what a plan cannot have sent.
func readSet(annotations map[string]string, scope Scope) pathSet {
	stored := annotations[infrav1.LastAppliedAnnotation]
	if stored == "" {
		return readEarlier(annotations, scope).moveIntoParents(scope)
	}
	var lists map[string][]string
	if json.Unmarshal([]byte(stored), &lists) != nil {
		return pathSet{}
	}
	out := pathSet{}
	for id, paths := range lists {
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
	return out.moveIntoParents(scope)
}

// isPlainID tells whether an ID has nothing in it by which a request would go anywhere else.
func isPlainID(id string) bool {
	for segment := range strings.SplitSeq(id, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return !strings.ContainsAny(id, `?#%\`)
}
