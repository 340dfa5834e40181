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
package memory

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
	// Lasting tells that what never goes stays remembered when no plan has it any more, with its tags: until the object goes, or a plan has
	// it again.
	Lasting bool
	// Leaves tells that every leaf path is remembered, whatever the type: plans are not total, and what one leaves out that an
	// earlier one sent is to go back to what it is by default.
	Leaves bool
	// Named is the plan of what the spec names whatever Azure is like; it is not pruned. Nil adds nothing to the plan at hand.
	Named func() (*arm.Graph, error)

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
	condition, _ := t.of(id)
	return condition
}

func (t Types) of(id arm.ID) (condition string, known bool) {
	if row, ok := rowOf(id); ok {
		condition, known = t[row.Name]
	}
	return condition, known
}

// Memory is what was remembered for one object.
type Memory struct {
	Scope
	sent set

	// final is a plan that does not change any more, and sends what it sends.
	final *arm.Graph
	sends set
}

// Of reads the memory of an object. An annotation that cannot be read names nothing: then nothing of it is removed.
func Of(annotations map[string]string, scope Scope) Memory {
	return Memory{Scope: scope, sent: read(annotations, scope)}
}

// For is the memory for a plan that does not change any more, of which it is worked out once what it sends.
func (m Memory) For(final *arm.Graph) Memory {
	final.SealBodies()
	m.sends, m.final = m.sentBy(final), final
	return m
}

// Remember are the annotations to store before a plan is converged, none when they are stored already: everything that was
// sent before and is now, so that nothing is forgotten when a process dies in between. "" is for one to take away.
//
// Tags alone of an object that has nothing stored need no write before the first pass.
func (m Memory) Remember(g *arm.Graph) map[string]string {
	if m.sent.covers(m.sentBy(g)) {
		return nil
	}
	all := m.sent.union(m.planned(g, func(string, string) bool { return false }))
	remembered := slices.ContainsFunc(all.sorted(), func(e *entry) bool {
		_, known := m.Types.of(m.full(e.id))
		return known && e.id != everything
	})
	if len(m.sent) == 0 && !remembered {
		return nil
	}
	return m.annotations(all)
}

// Settled are the annotations to store after a pass: what is sent from now on when everything is in place, else what
// Remember has, and which of it was seen in Azure as the object's own. "" is for one to take away.
func (m Memory) Settled(g *arm.Graph, outcome arm.Outcome) map[string]string {
	all := m.sentBy(g)
	if outcome.IsDone() {
		for _, node := range g.Nodes() {
			result, _ := outcome.Result(node.ID)
			for _, path := range result.UnremovablePaths {
				if id := short(node.ID); m.sent.hasConfirmed(id, path) {
					all.add(id, path)
				} else {
					all.addPending(id, path)
				}
			}
		}
		m.keep(all, g)
	} else {
		all = m.sent.union(m.planned(g, shownBy(g, outcome, m.full)))
	}
	for _, node := range g.Nodes() {
		// Whatever carries tags is recorded once it was seen: without the record, a resource that loses them would be nobody's.
		if row, _ := rowOf(node.ID); row.Taggable && (node.Policy == arm.Repair || node.Policy == arm.CreateOnly) && short(node.ID) != "" {
			result, _ := outcome.Result(node.ID)
			if m.Made(node.ID) || result.Owned && len(result.Observed) > 0 {
				all.add(short(node.ID), made)
			}
		}
	}
	for _, entry := range all {
		result, _ := outcome.Result(m.full(entry.id))
		if entry.id != everything && (m.sent.has(entry.id, made) || result.Owned && len(result.Observed) > 0) {
			all.add(entry.id, made)
		}
	}
	return m.annotations(all)
}

// keep adds what was sent of resources that the plan does not have and that never go. One that it only reads has been let go.
func (m Memory) keep(all set, g *arm.Graph) {
	for _, entry := range m.sent {
		id := m.full(entry.id)
		if !m.Lasting || entry.id == everything || g.Has(id) || !m.lasts(id) {
			continue
		}
		all.addFrom(entry.id, entry)
		if row, _ := rowOf(id); row.Taggable {
			all.addFrom(entry.id, m.sent[everything])
		}
	}
}

func (m Memory) lasts(id arm.ID) bool {
	condition, known := m.Types.of(id)
	return known && condition == ""
}

// Left are the resources that were sent, that never go without the object, and that a plan does not have. What was to stay is none of
// them.
func (m Memory) Left(g *arm.Graph) (out []arm.ID) {
	for _, entry := range m.sent.sorted() {
		if id := m.full(entry.id); entry.id != everything && m.lasts(id) && !g.Has(id) && !entry.has(detached) {
			out = append(out, id)
		}
	}
	return out
}

// Made tells whether a resource was seen in Azure as the object's own.
func (m Memory) Made(id arm.ID) bool { return m.sent.has(short(id), made) }

// Made are the resources in an object's annotations that were seen in Azure as its own, without the subscription.
func Made(annotations map[string]string) []arm.ID {
	var out []arm.ID
	for _, entry := range read(annotations, Scope{}).sorted() {
		if entry.has(made) {
			out = append(out, arm.ID(groups+entry.id))
		}
	}
	return out
}

// Remembered are all resources that an object's annotations name.
func Remembered(annotations map[string]string, subscriptionID string) []arm.ID {
	scope := Scope{SubscriptionID: subscriptionID, Leaves: true}
	var out []arm.ID
	for _, entry := range read(annotations, scope).sorted() {
		if entry.id != everything {
			out = append(out, Memory{Scope: scope}.full(entry.id))
		}
	}
	return out
}

// Stored tells whether an object's annotations say that there was a plan, of this provider or the established one.
func Stored(annotations map[string]string) bool {
	return slices.ContainsFunc(append([]string{infrav1.LastAppliedAnnotation}, earlier...), func(key string) bool { return annotations[key] != "" })
}

func (m Memory) annotations(all set) map[string]string {
	out := map[string]string{infrav1.LastAppliedAnnotation: all.encode()}
	for _, annotation := range ours {
		out[annotation] = ""
	}
	return out
}

const groups = "/resourceGroups/"

// short is an ID without the subscription, "" for one that is in no resource group.
func short(id arm.ID) string {
	text := string(id)
	if i := strings.Index(strings.ToLower(text), strings.ToLower(groups)); i >= 0 {
		return text[i+len(groups):]
	}
	return ""
}

func (m Memory) full(short string) arm.ID {
	return arm.SubscriptionID(m.SubscriptionID) + arm.ID(groups+short)
}

// read is the set in the annotations, without what a plan cannot have sent.
func read(annotations map[string]string, scope Scope) set {
	stored := annotations[infrav1.LastAppliedAnnotation]
	if stored == "" {
		return legacy(annotations, scope).moveIntoParents(scope)
	}
	var lists map[string][]string
	if json.Unmarshal([]byte(stored), &lists) != nil {
		return set{}
	}
	out := set{}
	for id, paths := range lists {
		if id == everything || plain(id) {
			out.add(id)
			for _, stored := range paths {
				if path, isPending := strings.CutPrefix(stored, pending); !scope.sendable(id, path) {
					continue
				} else if isPending {
					out.addPending(id, path)
				} else {
					out.add(id, path)
				}
			}
		}
	}
	return out.moveIntoParents(scope)
}

// plain tells whether an ID has nothing in it by which a request would go anywhere else.
func plain(id string) bool {
	for segment := range strings.SplitSeq(id, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return !strings.ContainsAny(id, `?#%\`)
}
