package defaults

import (
	"cmp"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const (
	defaultVnetCIDR         = "10.0.0.0/8"
	defaultSubnetCIDRFormat = "10.%d.0.0/16"
	// Microsoft supports bastion hosts that were deployed since November 2021 only in subnets with 64 addresses or more:
	// https://learn.microsoft.com/en-us/azure/bastion/bastion-faq#subnet. The range contains the default of the established provider,
	// 10.255.255.224/27, so that no other one becomes taken.
	defaultBastionCIDR   = "10.255.255.192/26"
	IdleTimeoutInMinutes = int32(4)
)

// FillAzureCluster fills in fields that the user left out. It keeps set fields, with two exceptions that follow from
// other fields: the frontends of outbound load balancers come from their number, and a cluster without a control plane
// has no API server load balancer.
func FillAzureCluster(c *infrav1.AzureCluster) {
	spec := &c.Spec
	spec.AzureEnvironment = cmp.Or(spec.AzureEnvironment, infrav1.PublicCloud)
	spec.ResourceGroup = cmp.Or(spec.ResourceGroup, c.Name)
	fillVNet(c)
	fillBastion(c)
	fillSubnets(c)
	fillAPIServerLB(c)
	fillNodeOutboundLB(c)
	fillControlPlaneOutboundLB(c)
}

func fillVNet(c *infrav1.AzureCluster) {
	vnet := &c.Spec.NetworkSpec.Vnet
	vnet.ResourceGroup = cmp.Or(vnet.ResourceGroup, c.Spec.ResourceGroup)
	vnet.Name = cmp.Or(vnet.Name, c.Name+"-vnet")
	fillCIDR(&vnet.CIDRBlocks, defaultVnetCIDR)
	for i := range vnet.Peerings {
		vnet.Peerings[i].ResourceGroup = cmp.Or(vnet.Peerings[i].ResourceGroup, c.Spec.ResourceGroup)
	}
}

func fillBastion(c *infrav1.AzureCluster) {
	bastion := c.Spec.BastionSpec.AzureBastion
	if bastion == nil {
		return
	}
	bastion.Name = cmp.Or(bastion.Name, c.Name+"-azure-bastion")
	bastion.PublicIP.Name = cmp.Or(bastion.PublicIP.Name, c.Name+"-azure-bastion-pip")
	bastion.Subnet.Name = cmp.Or(bastion.Subnet.Name, plan.BastionSubnet)
	fillBastionSubnet(&bastion.Subnet.SubnetClassSpec, bastion.Subnet.SecurityGroup.SecurityRules)
}

// fillBastionSubnet fills in the fields of the bastion host's subnet that clusters and templates have in common.
func fillBastionSubnet(subnet *infrav1.SubnetClassSpec, rules infrav1.SecurityRules) {
	subnet.Role = cmp.Or(subnet.Role, infrav1.SubnetBastion)
	fillCIDR(&subnet.CIDRBlocks, defaultBastionCIDR)
	fillDirections(rules)
}

// fillSubnets fills in the subnets, and adds one for the control plane and one for nodes where neither they nor a subnet
// for both are listed. The default names of a listed node subnet end in its number, those of an added one do not: existing clusters
// have both forms.
func fillSubnets(c *infrav1.AzureCluster) {
	subnets := &c.Spec.NetworkSpec.Subnets
	hasCluster := plan.HasSubnetRole(*subnets, infrav1.SubnetCluster)
	if c.Spec.ControlPlaneEnabled && !hasCluster && !plan.HasSubnetRole(*subnets, infrav1.SubnetControlPlane) {
		*subnets = append(*subnets, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetControlPlane}})
	}
	if !hasCluster && !plan.HasSubnetRole(*subnets, infrav1.SubnetNode) {
		node := infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetNode, Name: c.Name + "-node-subnet"}}
		node.NatGateway.Name = c.Name + "-node-natgw"
		*subnets = append(*subnets, node)
	}

	ranges := make([]subnetRange, len(*subnets))
	for i := range *subnets {
		if subnet := &(*subnets)[i]; subnet.Role != infrav1.SubnetControlPlane || c.Spec.ControlPlaneEnabled {
			ranges[i] = subnetRange{subnet.Role, &subnet.CIDRBlocks}
		}
	}
	fillRanges(ranges)

	nodes := 0
	for i := range *subnets {
		subnet := &(*subnets)[i]
		switch subnet.Role {
		case infrav1.SubnetCluster:
			fillSubnet(subnet, c.Name+"-subnet", c.Name+"-nsg")
			subnet.RouteTable.Name = cmp.Or(subnet.RouteTable.Name, c.Name+"-routetable")
			fillNATGateway(c, subnet, c.Name+"-natgw")
		case infrav1.SubnetControlPlane:
			if c.Spec.ControlPlaneEnabled {
				fillSubnet(subnet, c.Name+"-controlplane-subnet", c.Name+"-controlplane-nsg")
			}
		case infrav1.SubnetNode:
			nodes++
			fillSubnet(subnet, fmt.Sprintf("%s-node-subnet-%d", c.Name, nodes), c.Name+"-node-nsg")
			subnet.RouteTable.Name = cmp.Or(subnet.RouteTable.Name, c.Name+"-node-routetable")
			fillNATGateway(c, subnet, fmt.Sprintf("%s-node-natgw-%d", c.Name, nodes))
		}
		fillDirections(subnet.SecurityGroup.SecurityRules)
	}

	if c.Spec.ControlPlaneEnabled {
		shareRouteTable(*subnets)
	}
}

func fillSubnet(subnet *infrav1.SubnetSpec, name, securityGroup string) {
	subnet.Name = cmp.Or(subnet.Name, name)
	subnet.SecurityGroup.Name = cmp.Or(subnet.SecurityGroup.Name, securityGroup)
}

// fillNATGateway gives a subnet a NAT gateway. Azure's NAT gateways do IPv4 only, so a subnet with IPv6 goes out
// through a load balancer. A subnet with any id gets no NAT gateway, except one that was created before: the established provider
// writes IDs into the spec later.
func fillNATGateway(c *infrav1.AzureCluster, subnet *infrav1.SubnetSpec, name string) {
	if plan.HasIPv6Range(subnet.CIDRBlocks) || subnet.ID != "" && !plan.HasAppliedNATGateway(c, cmp.Or(subnet.NatGateway.Name, name)) {
		return
	}
	subnet.NatGateway.Name = cmp.Or(subnet.NatGateway.Name, name)
	subnet.NatGateway.NatGatewayIP.Name = cmp.Or(subnet.NatGateway.NatGatewayIP.Name, "pip-"+subnet.NatGateway.Name)
}

// shareRouteTable gives control-plane subnets without a route table the one of the nodes, where cloud-provider-azure
// writes the routes of pods.
func shareRouteTable(subnets infrav1.Subnets) {
	i := slices.IndexFunc(subnets, func(s infrav1.SubnetSpec) bool { return plan.IsNodeSubnet(s.Role) })
	if i < 0 {
		return
	}
	for j := range subnets {
		if subnets[j].Role == infrav1.SubnetControlPlane {
			subnets[j].RouteTable.Name = cmp.Or(subnets[j].RouteTable.Name, subnets[i].RouteTable.Name)
		}
	}
}

func fillDirections(rules infrav1.SecurityRules) {
	for i := range rules {
		rules[i].Direction = cmp.Or(rules[i].Direction, infrav1.SecurityRuleDirectionInbound)
	}
}

func fillCIDR(blocks *[]string, cidr string) {
	if len(*blocks) == 0 {
		*blocks = []string{cidr}
	}
}
