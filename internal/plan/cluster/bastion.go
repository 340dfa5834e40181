package cluster

import (
	"cmp"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addBastion adds the bastion host. addSubnets and addPublicIPs add its subnet and address.
func addBastion(in plan.ClusterInput, g *arm.Graph) {
	spec := in.AzureCluster.Spec.BastionSpec.AzureBastion
	if spec == nil {
		return
	}
	subnet := plan.SubnetID(in, buildBastionSubnet(spec).Name)
	address := plan.PublicIPID(in, spec.PublicIP.Name)
	g.Add(arm.Node{
		ID: plan.BastionID(in, spec.Name),
		Body: armnetwork.BastionHost{
			Location: new(plan.Location(in)),
			SKU:      &armnetwork.SKU{Name: new(armnetwork.BastionHostSKUName(cmp.Or(spec.Sku, infrav1.BasicBastionHostSku)))},
			Tags:     plan.BuildTags(in, infrav1.RoleBastion, spec.Name, in.AzureCluster.Spec.AdditionalTags),
			Properties: &armnetwork.BastionHostPropertiesFormat{
				EnableTunneling: new(spec.EnableTunneling),
				IPConfigurations: []*armnetwork.BastionHostIPConfiguration{{
					Name: new(spec.Name + "-bastionIP"),
					Properties: &armnetwork.BastionHostIPConfigurationPropertiesFormat{
						PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic),
						PublicIPAddress:           toSubResource(address),
						Subnet:                    toSubResource(subnet),
					},
				}},
			},
		},
		After:  []arm.ID{subnet, address},
		Policy: arm.Repair,
		Group:  infrav1.BastionHostReadyCondition,
	})
}

// buildBastionSubnet returns the subnet of the bastion host. Azure does not allow a NAT gateway in it. Defaulting has given it name, role and
// range.
func buildBastionSubnet(spec *infrav1.AzureBastion) infrav1.SubnetSpec {
	subnet := spec.Subnet
	subnet.NatGateway = infrav1.NatGateway{}
	return subnet
}
