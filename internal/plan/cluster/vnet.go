package cluster

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// virtualNetwork plans the network, or looks for the one that the user brought.
func virtualNetwork(in plan.ClusterInput, g *arm.Graph) {
	node := arm.Node{
		ID:      plan.VNetID(in),
		Policy:  arm.Observe,
		Foreign: arm.UseForeign,
		Group:   infrav1.VNetReadyCondition,
	}
	if !in.Facts.VNet.Foreign() {
		node.Policy = arm.Repair
		node.Body = armnetwork.VirtualNetwork{
			Location:         new(plan.Location(in)),
			ExtendedLocation: extendedLocation(in),
			Tags:             plan.Tags(in, infrav1.RoleCommon, plan.VNetName(in), in.AzureCluster.Spec.AdditionalTags),
			Properties: &armnetwork.VirtualNetworkPropertiesFormat{
				AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: plan.Pointers(in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks)},
			},
		}
	}
	g.Add(node)
}

func extendedLocation(in plan.ClusterInput) *armnetwork.ExtendedLocation {
	location := in.AzureCluster.Spec.ExtendedLocation
	if location == nil {
		return nil
	}
	return &armnetwork.ExtendedLocation{Name: new(location.Name), Type: new(armnetwork.ExtendedLocationTypes(location.Type))}
}
