package lent

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Input is the input of the restrictions of a plan.
type Input struct {
	Grants
	// Owner identifies the Cluster's resources.
	Owner ownership.Owner
	// Facts are Azure's answers for the resources of ListMissingFacts, by the key of their ID.
	Facts map[string]Fact
	// Field returns the field of the spec that names an ID, "" if no field does or the search would take too long. ListMissingFacts does not
	// call it.
	Field func(id arm.ID) string
}

// maxFaults is how many references of one node may be denied, wait for a resource or need a fact. A body can name fifty thousand resources.
const maxFaults = 20

// Fact is Azure's answer for a resource. The zero value is a resource that does not exist.
type Fact struct {
	Exists bool
	// Unreadable means that the identity may not read the resource.
	Unreadable bool
	Tags       map[string]string
}

// ListMissingFacts returns the resources whose facts RestrictGraph needs. New facts can make others necessary, so it has
// to be called again until it returns none.
func ListMissingFacts(g *arm.Graph, in Input) []arm.ID {
	in.Field = func(arm.ID) string { return "" } // The denials of this pass are not used.
	p := &restrictor{Input: in, graph: g, missing: map[string]arm.ID{}}
	for _, node := range g.Nodes() {
		p.restrictNode(node)
	}
	out := make([]arm.ID, 0, len(p.missing))
	for _, id := range p.missing {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// RestrictGraph adds denials to the nodes of the graph that the identity must not be used for, and returns these denials.
func RestrictGraph(g *arm.Graph, in Input) []arm.Denial {
	p := &restrictor{Input: in, graph: g, missing: map[string]arm.ID{}}
	var out []arm.Denial
	for _, node := range g.Nodes() {
		found := p.restrictNode(node)
		node.Denials = append(node.Denials, found.denials...)
		if node.Blocked == "" {
			node.Blocked = found.waitsFor
		}
		if found.refuseForeign {
			node.Foreign = arm.RefuseForeign
		}
		out = append(out, found.denials...)
	}
	return out
}

// restrictor restricts the nodes of one graph.
type restrictor struct {
	Input
	graph   *arm.Graph
	missing map[string]arm.ID
}

// nodeFinding are the faults of one node.
type nodeFinding struct {
	denials []arm.Denial
	// faults counts the references that are denied, wait for a resource or need a fact.
	faults int
	// waitsFor is the message of a node that names a resource whose owner is unknown until the resource exists.
	waitsFor      string
	refuseForeign bool
}

// restrictNode applies all rules to one node.
func (p *restrictor) restrictNode(node *arm.Node) nodeFinding {
	var out nodeFinding
	if node.Policy == arm.Observe || node.Body == nil && node.Blocked == "" {
		return out
	}
	if reason := arm.MisreadReason(string(node.ID)); reason != "" {
		p.addDenial(&out, node, arm.Reference{}, node.ID, "is not an ID that Azure reads as it is written: "+reason, "use another name")
		return out
	}
	row, known := effects[strings.ToLower(node.ID.Type())]
	if !known {
		row = typeEffect{scope: unbounded, reason: "the provider does not know what it changes"}
	}
	if row.scope == unbounded {
		p.addDenial(&out, node, arm.Reference{}, node.ID, "may change resources that it does not name: "+row.reason, "")
		return out
	}
	p.checkParent(node, row, &out)
	p.checkForeign(node, &out)
	body, err := p.graph.DecodedBody(node)
	if err != nil {
		p.addDenial(&out, node, arm.Reference{}, node.ID, "has a body that cannot be read: "+err.Error(), "")
		return out
	}
	for _, reference := range arm.FindReferences(body) {
		if out.faults >= maxFaults {
			// The other denials allow references that the resource in Azure has already. This denial refuses every write, because the remaining
			// references are not checked.
			p.addDenial(&out, node, arm.Reference{}, node.ID, fmt.Sprintf("names %d resources or more that are not known to be the Cluster's", maxFaults), "name fewer of them")
			return out
		}
		p.checkReference(node, row, reference, &out)
	}
	if files := findFileURLs(body); len(files) > 0 {
		p.addDenial(&out, node, arm.Reference{}, node.ID, files[0]+" names a file, an account or a shared gallery in a form that does not show its owner",
			"use a resource ID, and for boot diagnostics an account that Azure manages")
	}
	return out
}

// checkParent checks the place of a node: its parent or its scope.
func (p *restrictor) checkParent(node *arm.Node, row typeEffect, out *nodeFinding) {
	parent := node.ID.Parent()
	switch {
	case row.scope == atAndBelowScope:
		verdict := p.permissionFor(parent, false)
		if isWithinAny(parent, p.RoleScopes) || verdict == allowedUse {
			return
		}
		p.denyUnlessAbsent(verdict, parent, out, func() {
			p.addDenial(out, node, arm.Reference{}, parent, "would give rights outside of the resource groups that were created for the Cluster",
				"use a scope at or below the Cluster's resource group, or have the owner of the identity add the scope to its spec.allowedRoleScopes")
		})
	case parent.Type() == arm.ResourceGroupType && !types.IsExtension(node.ID.Type()) || parent == "":
		// A resource group, or a resource in one. The rules of ownership decide about groups of others.
	case row.scope == namedAndNetworks && isNetwork(node.ID):
	default:
		verdict := p.permissionFor(parent, true)
		p.denyUnlessAbsent(verdict, parent, out, func() {
			p.addDenial(out, node, arm.Reference{}, parent, "is not the Cluster's, so nothing is created below it", listingRemedy)
		})
	}
}

// checkForeign makes a node that would use or adopt an existing resource refuse resources that are neither the Cluster's
// nor listed.
func (p *restrictor) checkForeign(node *arm.Node, out *nodeFinding) {
	switch {
	case node.Foreign == arm.RefuseForeign, node.ID.Type() == arm.ResourceGroupType, isNetwork(node.ID),
		effects[strings.ToLower(node.ID.Type())].scope == atAndBelowScope:
	case isWithinAny(node.ID, p.Resources):
	default:
		group := arm.ResourceGroupID(node.ID.Subscription(), node.ID.ResourceGroup())
		out.refuseForeign = p.permissionByTags(group) != allowedUse || node.Foreign == arm.AdoptForeign
	}
}

// checkReference checks an ID that a body names.
func (p *restrictor) checkReference(node *arm.Node, row typeEffect, reference arm.Reference, out *nodeFinding) {
	id := reference.ID
	switch {
	case !reference.Plain:
		p.addDenial(out, node, arm.Reference{}, id, "is not an ID that Azure reads as it is written: "+arm.MisreadReason(string(id)),
			"write the ID of the resource itself")
		return
	case id.IsWithin(node.ID), strings.EqualFold(id.Type(), "Microsoft.Authorization/roleDefinitions"):
		return
	case row.scope == namedAndNetworks && isNetwork(id):
		return
	}
	verdict := p.permissionFor(id, true)
	p.denyUnlessAbsent(verdict, id, out, func() {
		p.addDenial(out, node, reference, id, "is named by "+reference.Path+" and is not the Cluster's", listingRemedy)
	})
}

const listingRemedy = "use a resource of the Cluster or an identity of the namespace, or have the owner of the identity add the resource to its spec.allowedResources"

// denyUnlessAbsent calls deny for a foreign resource, and makes the node wait for a resource that does not exist yet.
func (p *restrictor) denyUnlessAbsent(verdict permission, id arm.ID, out *nodeFinding, deny func()) {
	switch verdict {
	case deniedForeign, missingFact:
		deny()
	case unknownOwner:
		out.faults++
		if out.waitsFor == "" {
			out.waitsFor = fmt.Sprintf("waits for %s: it does not exist, so it is not known whether it is the Cluster's. %s of another namespace may only use that", id, p.Identity)
		}
	}
}

// addDenial adds a denial: the fault of an ID, and the remedy.
func (p *restrictor) addDenial(out *nodeFinding, node *arm.Node, reference arm.Reference, id arm.ID, wrong, remedy string) {
	denial := arm.Denial{Reference: reference, Field: p.Field(id),
		Message: fmt.Sprintf("%s %s. %s belongs to another namespace and does not allow that", id, wrong, p.Identity)}
	if denial.Field == "" {
		denial.Field = node.ID.ShortName()
	}
	if remedy != "" {
		denial.Message += ": " + remedy
	}
	out.denials = append(out.denials, denial)
	out.faults++
}
