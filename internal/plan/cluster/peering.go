package cluster

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addPeerings adds both directions of each peering. A peering changes both networks, so the reverse direction follows the
// forward one.
func addPeerings(in plan.ClusterInput, g *arm.Graph) {
	local := plan.VNetID(in)
	for _, peering := range in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings {
		remote := plan.RemoteVNetID(in, peering)
		forward, reverse := plan.PeeringID(local, remote), plan.PeeringID(remote, local)
		there, back := buildPeering(forward, remote, peering.ForwardPeeringProperties),
			buildPeering(reverse, local, peering.ReversePeeringProperties, local, forward)
		there.OtherHalf, back.OtherHalf = reverse, forward
		g.Add(there, back)
	}
}

func buildPeering(id, to arm.ID, properties infrav1.VnetPeeringProperties, after ...arm.ID) arm.Node {
	return arm.Node{
		ID: id,
		Body: armnetwork.VirtualNetworkPeering{
			Properties: &armnetwork.VirtualNetworkPeeringPropertiesFormat{
				RemoteVirtualNetwork:      &armnetwork.SubResource{ID: plan.ToIDPointer(to)},
				AllowForwardedTraffic:     properties.AllowForwardedTraffic,
				AllowGatewayTransit:       properties.AllowGatewayTransit,
				AllowVirtualNetworkAccess: properties.AllowVirtualNetworkAccess,
				UseRemoteGateways:         properties.UseRemoteGateways,
			},
		},
		After:  after,
		Policy: arm.Repair,
		Group:  infrav1.VnetPeeringReadyCondition,
	}
}
