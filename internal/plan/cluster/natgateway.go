package cluster

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addNATGateways adds the NAT gateways of the subnets that are created, each once.
func addNATGateways(in plan.ClusterInput, g *arm.Graph) {
	for _, subnet := range listManagedSubnets(in) {
		gateway := subnet.NatGateway
		id := plan.NATGatewayID(in, gateway.Name)
		if gateway.Name == "" || g.Has(id) {
			continue
		}
		address := plan.PublicIPID(in, plan.NATGatewayIPName(gateway))
		g.Add(arm.Node{
			ID: id,
			Body: armnetwork.NatGateway{
				Location: new(plan.Location(in)),
				SKU:      &armnetwork.NatGatewaySKU{Name: new(armnetwork.NatGatewaySKUNameStandard)},
				Zones:    sortedZones(gateway.Zones),
				Tags:     plan.BuildTags(in, "", gateway.Name, in.AzureCluster.Spec.AdditionalTags),
				Properties: &armnetwork.NatGatewayPropertiesFormat{
					PublicIPAddresses: []*armnetwork.SubResource{{ID: plan.ToIDPointer(address)}},
				},
			},
			After:  []arm.ID{address},
			Policy: arm.Repair,
			Group:  infrav1.NATGatewaysReadyCondition,
		})
	}
}
