package cluster

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addPrivateEndpoints adds the private endpoints of all subnets.
func addPrivateEndpoints(in plan.ClusterInput, g *arm.Graph) {
	for _, subnet := range listSubnets(in) {
		id := plan.SubnetID(in, subnet.Name)
		for _, endpoint := range subnet.PrivateEndpoints {
			tags := plan.BuildTags(in, "", endpoint.Name, in.AzureCluster.Spec.AdditionalTags)
			g.Add(arm.Node{
				ID:     plan.PrivateEndpointID(in, endpoint.Name),
				Body:   plan.BuildPrivateEndpoint(endpoint, id, in.AzureCluster.Spec.Location, tags),
				After:  []arm.ID{id},
				Policy: arm.Repair,
				Group:  infrav1.PrivateEndpointsReadyCondition,
			})
		}
	}
}
