package plan

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Deletion names what is in a plan, in its order and without bodies: what a broken spec gives no name is left out, and
// what is somebody else's is no obstacle.
func Deletion(wanted *arm.Graph) (*arm.Graph, error) {
	named := &arm.Graph{}
	for _, node := range wanted.Nodes() {
		if hasName(node.ID) {
			foreign := arm.UseForeign
			if node.Foreign == arm.AdoptForeign {
				foreign = node.Foreign
			}
			named.Add(arm.Node{ID: node.ID, Policy: node.Policy, Foreign: foreign, Group: node.Group})
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
