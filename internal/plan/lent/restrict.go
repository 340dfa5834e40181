package lent

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Input is what the restrictions of a plan are computed from.
type Input struct {
	Grants
	// Owner is whose resources are the Cluster's.
	Owner ownership.Owner
	// Facts are what Azure shows of the resources that Missing returned, by the key of their ID.
	Facts map[string]Fact
	// Field returns the field of a spec that names a text, "" if no field does.
	Field func(id arm.ID) string
}

// Fact is what Azure shows of a resource. The zero value is that it does not exist.
type Fact struct {
	Exists bool
	// Unreadable tells that Azure does not show it to the identity.
	Unreadable bool
	Tags       map[string]string
}

// Missing returns the resources that Restrict has to know more about. It has to be called again when they are known, until it
// returns none.
func Missing(g *arm.Graph, in Input) []arm.ID {
	p := &restriction{Input: in, graph: g, missing: map[string]arm.ID{}}
	for _, node := range g.Nodes() {
		p.restrict(node)
	}
	out := make([]arm.ID, 0, len(p.missing))
	for _, id := range p.missing {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Restrict has the nodes of the graph deny what the identity may not be used for, and returns these denials.
func Restrict(g *arm.Graph, in Input) []arm.Denial {
	p := &restriction{Input: in, graph: g, missing: map[string]arm.ID{}}
	var out []arm.Denial
	for _, node := range g.Nodes() {
		found := p.restrict(node)
		node.Denials = append(node.Denials, found.denied...)
		if node.Blocked == "" {
			node.Blocked = found.waits
		}
		if found.refuseForeign {
			node.Foreign = arm.RefuseForeign
		}
		out = append(out, found.denied...)
	}
	return out
}

// restriction restricts the nodes of one graph.
type restriction struct {
	Input
	graph   *arm.Graph
	missing map[string]arm.ID
}

// finding is what is wrong with one node.
type finding struct {
	denied []arm.Denial
	// waits says which resource the node waits for because its owner cannot be known before it exists.
	waits         string
	refuseForeign bool
}

func (p *restriction) restrict(node *arm.Node) finding {
	var out finding
	if node.Policy == arm.Observe || node.Body == nil && node.Blocked == "" {
		return out
	}
	if reason := arm.MisreadReason(string(node.ID)); reason != "" {
		p.deny(&out, node, arm.Reference{}, node.ID, "is not an ID that Azure reads as it is written: "+reason, "use another name")
		return out
	}
	row, known := effects[strings.ToLower(node.ID.Type())]
	if !known {
		row = effect{reaches: anything, reason: "the provider does not know what it changes"}
	}
	if row.reaches == anything {
		p.deny(&out, node, arm.Reference{}, node.ID, "may change what it does not name: "+row.reason, "")
		return out
	}
	p.placed(node, row, &out)
	p.foreign(node, &out)
	body, err := p.graph.DecodedBody(node)
	if err != nil {
		p.deny(&out, node, arm.Reference{}, node.ID, "has a body that cannot be read: "+err.Error(), "")
		return out
	}
	for _, reference := range arm.FindReferences(body) {
		p.named(node, row, reference, &out)
	}
	for _, path := range urls(body) {
		p.deny(&out, node, arm.Reference{}, node.ID, path+" names a file or an account by a URL, which does not say whose it is", "use a resource ID, and for boot diagnostics an account that Azure manages")
	}
	return out
}

// placed judges where a node is.
func (p *restriction) placed(node *arm.Node, row effect, out *finding) {
	parent := node.ID.Parent()
	switch {
	case row.reaches == rights:
		verdict := p.judge(parent, false)
		if within(parent, p.RoleScopes) || verdict == allowed {
			return
		}
		p.unlessAbsent(verdict, node, parent, out, func() {
			p.deny(out, node, arm.Reference{}, parent, "would give rights outside of the resource groups that were created for the Cluster",
				"use a scope at or below the Cluster's resource group, or have the owner of the identity add the scope to its spec.allowedRoleScopes")
		})
	case parent.Type() == arm.ResourceGroupType && !types.IsExtension(node.ID.Type()) || parent == "":
		// A resource group, or a resource in one. A group of others is used or refused by the rules of ownership.
	case row.reaches == joined && isNetwork(node.ID):
	default:
		verdict := p.judge(parent, true)
		p.unlessAbsent(verdict, node, parent, out, func() {
			p.deny(out, node, arm.Reference{}, parent, "is not the Cluster's, so nothing is created below it", listing)
		})
	}
}

// foreign has a node that would use or adopt what exists refuse what is neither the Cluster's nor listed.
func (p *restriction) foreign(node *arm.Node, out *finding) {
	switch {
	case node.Foreign == arm.RefuseForeign, node.ID.Type() == arm.ResourceGroupType, isNetwork(node.ID), effects[strings.ToLower(node.ID.Type())].reaches == rights:
	case within(node.ID, p.Resources):
	default:
		group := arm.ResourceGroupID(node.ID.Subscription(), node.ID.ResourceGroup())
		out.refuseForeign = p.own(group) != allowed || node.Foreign == arm.AdoptForeign
	}
}

// named judges an ID that a body names.
func (p *restriction) named(node *arm.Node, row effect, reference arm.Reference, out *finding) {
	id := reference.ID
	switch {
	case !reference.Plain:
		p.deny(out, node, arm.Reference{}, id, "is not an ID that Azure reads as it is written: "+arm.MisreadReason(string(id)), "write the ID of the resource itself")
		return
	case id.IsWithin(node.ID), strings.EqualFold(id.Type(), "Microsoft.Authorization/roleDefinitions"):
		return
	case row.reaches == joined && isNetwork(id):
		return
	}
	verdict := p.judge(id, true)
	p.unlessAbsent(verdict, node, id, out, func() {
		p.deny(out, node, reference, id, "is named by "+reference.Path+" and is not the Cluster's", listing)
	})
}

const listing = "use a resource of the Cluster or an identity of the namespace, or have the owner of the identity add the resource to its spec.allowedResources"

// unlessAbsent denies what is foreign, and waits for what does not exist yet.
func (p *restriction) unlessAbsent(verdict verdict, node *arm.Node, id arm.ID, out *finding, deny func()) {
	switch verdict {
	case foreign, unknown:
		deny()
	case absent:
		if out.waits == "" {
			out.waits = fmt.Sprintf("waits for %s: it does not exist, so it is not known whether it is the Cluster's. %s of another namespace may only use that", id, p.Identity)
		}
	}
}

// deny adds a denial: what is wrong about an ID, and what to do.
func (p *restriction) deny(out *finding, node *arm.Node, reference arm.Reference, id arm.ID, wrong, remedy string) {
	denial := arm.Denial{Reference: reference, Field: p.Field(id), Message: fmt.Sprintf("%s %s. %s belongs to another namespace and does not allow that", id, wrong, p.Identity)}
	if denial.Field == "" {
		denial.Field = node.ID.ShortName()
	}
	if remedy != "" {
		denial.Message += ": " + remedy
	}
	out.denied = append(out.denied, denial)
}
