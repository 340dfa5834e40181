package defaults

import (
	"cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// FillAzureClusterTemplate fills in the fields that do not depend on the name of a cluster. Subnets that are not listed are added to the
// AzureClusters made from the template, where they get names.
func FillAzureClusterTemplate(t *infrav1.AzureClusterTemplate) {
	spec := &t.Spec.Template.Spec
	spec.AzureEnvironment = cmp.Or(spec.AzureEnvironment, infrav1.PublicCloud)
	network := &spec.NetworkSpec
	fillCIDR(&network.Vnet.CIDRBlocks, defaultVnetCIDR)

	if bastion := spec.BastionSpec.AzureBastion; bastion != nil {
		fillBastionSubnet(&bastion.Subnet.SubnetClassSpec, bastion.Subnet.SecurityGroup.SecurityRules)
	}

	ranges := make([]subnetRange, len(network.Subnets))
	for i := range network.Subnets {
		subnet := &network.Subnets[i]
		ranges[i] = subnetRange{subnet.Role, &subnet.CIDRBlocks}
		fillDirections(subnet.SecurityGroup.SecurityRules)
	}
	fillRanges(ranges)

	fillLBClass(&network.APIServerLB)
	if network.NodeOutboundLB == nil && network.APIServerLB.Type == infrav1.Public && plan.TemplateNodesHaveIPv6(network.Subnets) {
		network.NodeOutboundLB = &infrav1.LoadBalancerClassSpec{}
	}
	for _, lb := range []*infrav1.LoadBalancerClassSpec{network.NodeOutboundLB, network.ControlPlaneOutboundLB} {
		if lb != nil {
			lb.Type, lb.SKU = infrav1.Public, infrav1.SKUStandard
			fillLBClass(lb)
		}
	}
}
