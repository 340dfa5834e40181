package cluster

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// BuildDeletePlan returns a node for everything that plans of the spec may have created in Azure. It needs no facts and
// accepts a spec that CheckSpec refuses: resources without a name are left out. The engine deletes those that carry the
// ownership tag, are below a resource that does, or are in the inventory. Foreign resources do not block the deletion.
func BuildDeletePlan(in plan.ClusterInput) (*arm.Graph, error) {
	in.Facts = plan.ClusterFacts{}
	in.AzureCluster = in.AzureCluster.DeepCopy()
	// The load balancers of a control plane that was turned off later may still exist.
	in.AzureCluster.Spec.ControlPlaneEnabled = true
	wanted := &arm.Graph{}
	for _, feature := range addFeatures {
		feature(in, wanted)
	}
	return plan.BuildDeletion(wanted)
}
