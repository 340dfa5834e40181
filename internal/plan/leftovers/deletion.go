package leftovers

import (
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// AddToDeletion adds the leftovers that are proven to be the cluster's to the graph of a deletion, if the user asks for
// it. They are deleted before the network, which they may use. It returns the leftovers that are deleted and those that
// stay.
func AddToDeletion(azureCluster *infrav1.AzureCluster, graph *arm.Graph, found []Leftover) (deleted []arm.ID, kept []Leftover) {
	requested := IsDeletionRequested(azureCluster)
	var network []arm.ID
	for _, node := range graph.Nodes() {
		if node.Policy != arm.Observe {
			network = append(network, node.ID)
		}
	}
	for _, one := range found {
		if !requested || one.UnprovenReason != "" {
			kept = append(kept, one)
			continue
		}
		deleted = append(deleted, one.ID)
	}
	for _, id := range deleted {
		node := arm.Node{ID: id, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: infrav1.LeftoversCondition}
		for _, other := range network {
			if !id.IsWithin(other) {
				node.After = append(node.After, other)
			}
		}
		if strings.EqualFold(id.Type(), types.LoadBalancer) {
			for _, other := range deleted {
				if strings.EqualFold(other.Type(), types.PublicIPAddress) {
					node.After = append(node.After, other)
				}
			}
		}
		graph.Add(node)
	}
	return deleted, kept
}
