package cluster

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// DeletePlan names everything that the spec may have made in Azure. It needs no facts and takes a spec that Check refuses:
// what cannot be named is left out. The engine deletes of it what carries the ownership tag, is below something that does,
// or is in the inventory; what is somebody else's is no obstacle.
func DeletePlan(in plan.ClusterInput) (*arm.Graph, error) {
	in.Facts = plan.ClusterFacts{}
	in.AzureCluster = in.AzureCluster.DeepCopy()
	// A control plane that was turned off later may have left its load balancers.
	in.AzureCluster.Spec.ControlPlaneEnabled = true
	wanted := &arm.Graph{}
	for _, feature := range features {
		feature(in, wanted)
	}
	named := &arm.Graph{}
	for _, node := range wanted.Nodes() {
		if hasName(node.ID) {
			named.Add(arm.Node{ID: node.ID, Policy: node.Policy, Foreign: arm.UseForeign, Group: node.Group})
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
