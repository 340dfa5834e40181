package webhook

import (
	"cmp"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// DefaultAzureClusterTemplate fills in what does not depend on the name of a cluster. Subnets that are not listed are
// added to the AzureClusters made from the template, where they get names.
func DefaultAzureClusterTemplate(t *infrav1.AzureClusterTemplate) {
	spec := &t.Spec.Template.Spec
	spec.AzureEnvironment = cmp.Or(spec.AzureEnvironment, infrav1.PublicCloud)
	network := &spec.NetworkSpec
	defaultCIDR(&network.Vnet.CIDRBlocks, defaultVnetCIDR)

	if bastion := spec.BastionSpec.AzureBastion; bastion != nil {
		bastion.Subnet.Role = cmp.Or(bastion.Subnet.Role, infrav1.SubnetBastion)
		defaultCIDR(&bastion.Subnet.CIDRBlocks, defaultBastionCIDR)
		defaultDirections(bastion.Subnet.SecurityGroup.SecurityRules)
	}

	ranges := make([]subnetRange, len(network.Subnets))
	for i := range network.Subnets {
		subnet := &network.Subnets[i]
		ranges[i] = subnetRange{subnet.Role, &subnet.CIDRBlocks}
		defaultDirections(subnet.SecurityGroup.SecurityRules)
	}
	defaultRanges(ranges)

	defaultLBClass(&network.APIServerLB)
	if network.NodeOutboundLB == nil && network.APIServerLB.Type == infrav1.Public && templateNodesHaveIPv6(network.Subnets) {
		network.NodeOutboundLB = &infrav1.LoadBalancerClassSpec{}
	}
	for _, lb := range []*infrav1.LoadBalancerClassSpec{network.NodeOutboundLB, network.ControlPlaneOutboundLB} {
		if lb != nil {
			lb.Type, lb.SKU = infrav1.Public, infrav1.SKUStandard
			defaultLBClass(lb)
		}
	}
}

func templateNodesHaveIPv6(subnets infrav1.SubnetTemplatesSpec) bool {
	return slices.ContainsFunc(subnets, func(s infrav1.SubnetTemplateSpec) bool {
		return (s.Role == infrav1.SubnetNode || s.Role == infrav1.SubnetCluster) && hasIPv6(s.CIDRBlocks)
	})
}
