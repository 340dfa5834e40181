package cluster

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// BuildDeletePlan names everything that the spec may have made in Azure. It needs no facts and takes a spec that Check refuses:
// what cannot be named is left out. The engine deletes of it what carries the ownership tag, is below something that does,
// or is in the inventory; what is somebody else's is no obstacle.
func BuildDeletePlan(in plan.ClusterInput) (*arm.Graph, error) {
	in.Facts = plan.ClusterFacts{}
	in.AzureCluster = in.AzureCluster.DeepCopy()
	// A control plane that was turned off later may have left its load balancers.
	in.AzureCluster.Spec.ControlPlaneEnabled = true
	wanted := &arm.Graph{}
	for _, feature := range addFeatures {
		feature(in, wanted)
	}
	return plan.BuildDeletion(wanted)
}
