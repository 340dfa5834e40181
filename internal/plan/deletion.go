package plan

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// BuildDeletion names what is in a plan, in its order and without bodies: what a broken spec gives no name is left out, and
// what is somebody else's is no obstacle.
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

// hasName tells whether no segment of the ID is empty, as in the ID of a load balancer whose spec has no name.
func hasName(id arm.ID) bool {
	return id.Type() != "" && !strings.HasSuffix(string(id), "/") && !strings.Contains(string(id), "//")
}

// IsDeletedWithGroup tells whether the deletion of the cluster's resource group, if it goes as a whole, takes along everything of
// the plan of a deletion. A network in another group waits until nothing is in its subnets, and may hold the group up itself.
func IsDeletedWithGroup(in ClusterInput, g *arm.Graph) bool {
	group := ResourceGroupID(in)
	return VNetID(in).IsWithin(group) && !slices.ContainsFunc(g.Nodes(), func(node *arm.Node) bool { return !node.ID.IsWithin(group) })
}
