package plan

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// BuildDeletion returns the nodes of a plan for deletion: in the same order and without bodies. It leaves out nodes whose
// ID has an empty segment because of an incomplete spec. Foreign resources do not block the deletion.
func BuildDeletion(wanted *arm.Graph) (*arm.Graph, error) {
	named := &arm.Graph{}
	for _, node := range wanted.Nodes() {
		if hasName(node.ID) {
			named.Add(arm.Node{ID: node.ID, Policy: node.Policy, Foreign: node.Foreign, Group: node.Group})
		}
	}
	for _, node := range named.Nodes() {
		for _, id := range wanted.Node(node.ID).After {
			if named.Has(id) {
				node.After = append(node.After, id)
			}
		}
	}
	return named, named.Validate()
}

// hasName returns true if no segment of the ID is empty. The ID of a load balancer without a name in the spec has an empty
// segment.
func hasName(id arm.ID) bool {
	return id.Type() != "" && !strings.HasSuffix(string(id), "/") && !strings.Contains(string(id), "//")
}

// IsDeletedWithGroup returns true if all nodes of a deletion are in the cluster's resource group, so that deleting the
// group deletes them. A network in another group has to be deleted by itself once its subnets are empty, and may delay the
// deletion of the group.
func IsDeletedWithGroup(in ClusterInput, g *arm.Graph) bool {
	group := ResourceGroupID(in)
	return VNetID(in).IsWithin(group) && !slices.ContainsFunc(g.Nodes(), func(node *arm.Node) bool { return !node.ID.IsWithin(group) })
}
