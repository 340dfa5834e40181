package leftovers

import (
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Collect adds to the plan of a deletion what is proven to be left by the cluster, if the user asks for it: it goes before the network, which it
// may be in. It returns what goes and what stays.
func Collect(azureCluster *infrav1.AzureCluster, graph *arm.Graph, found []Leftover) (goes []arm.ID, stays []Leftover) {
	requested := Requested(azureCluster)
	var network []arm.ID
	for _, node := range graph.Nodes() {
		if node.Policy != arm.Observe {
			network = append(network, node.ID)
		}
	}
	for _, one := range found {
		if !requested || one.Unproven != "" {
			stays = append(stays, one)
			continue
		}
		goes = append(goes, one.ID)
	}
	for _, id := range goes {
		node := arm.Node{ID: id, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: infrav1.LeftoversCondition}
		for _, other := range network {
			if !id.IsWithin(other) {
				node.After = append(node.After, other)
			}
		}
		if strings.EqualFold(id.Type(), types.LoadBalancer) {
			for _, other := range goes {
				if strings.EqualFold(other.Type(), types.PublicIPAddress) {
					node.After = append(node.After, other)
				}
			}
		}
		graph.Add(node)
	}
	return goes, stays
}
