package cluster

import (
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/network"
)

// addSubnets plans the subnets. In a network that the user brought, subnets that exist are looked for and used as they are,
// and only missing ones are made.
func addSubnets(in plan.ClusterInput, g *arm.Graph) {
	for _, subnet := range listSubnets(in) {
		id := plan.SubnetID(in, subnet.Name)
		if _, exists := existingSubnetPrefixes(in, subnet.Name); exists {
			g.Add(arm.Node{ID: id, Policy: arm.Observe, Group: infrav1.SubnetsReadyCondition})
			continue
		}
		g.Add(buildSubnet(in, g, id, subnet))
	}
}

// buildSubnet plans one subnet. It references only what the plan has, so that a subnet made in a foreign network has no
// security group or route table that nobody makes.
func buildSubnet(in plan.ClusterInput, g *arm.Graph, id arm.ID, subnet infrav1.SubnetSpec) arm.Node {
	properties := &armnetwork.SubnetPropertiesFormat{ServiceEndpoints: network.BuildServiceEndpoints(subnet.ServiceEndpoints)}
	// Azure answers a single prefix in the singular property and several in the plural one.
	if len(subnet.CIDRBlocks) == 1 {
		properties.AddressPrefix = new(subnet.CIDRBlocks[0])
	} else {
		properties.AddressPrefixes = plan.ToPointers(subnet.CIDRBlocks)
	}
	var after []arm.ID
	if nsg := plan.SecurityGroupID(in, subnet.SecurityGroup.Name); subnet.SecurityGroup.Name != "" && g.Has(nsg) {
		properties.NetworkSecurityGroup = &armnetwork.SecurityGroup{ID: plan.ToIDPointer(nsg)}
		after = append(after, nsg)
	}
	if table := plan.RouteTableID(in, subnet.RouteTable.Name); subnet.RouteTable.Name != "" && g.Has(table) {
		properties.RouteTable = &armnetwork.RouteTable{ID: plan.ToIDPointer(table)}
		after = append(after, table)
	}
	if gateway := plan.NATGatewayID(in, subnet.NatGateway.Name); subnet.NatGateway.Name != "" && g.Has(gateway) {
		properties.NatGateway = &armnetwork.SubResource{ID: plan.ToIDPointer(gateway)}
		after = append(after, gateway)
	}
	return arm.Node{
		ID:     id,
		Body:   armnetwork.Subnet{Properties: properties},
		After:  after,
		Policy: arm.Repair,
		Group:  infrav1.SubnetsReadyCondition,
	}
}

// listSubnets are the subnets of the spec, the one of the bastion host last.
func listSubnets(in plan.ClusterInput) []infrav1.SubnetSpec {
	out := slices.Clone(in.AzureCluster.Spec.NetworkSpec.Subnets)
	if bastion := in.AzureCluster.Spec.BastionSpec.AzureBastion; bastion != nil {
		out = append(out, buildBastionSubnet(bastion))
	}
	return out
}

// listManagedSubnets are the subnets that are made: all but those that exist in a network that the user brought, whose security
// group, route table and NAT gateway are the user's business.
func listManagedSubnets(in plan.ClusterInput) []infrav1.SubnetSpec {
	return slices.DeleteFunc(listSubnets(in), func(subnet infrav1.SubnetSpec) bool {
		_, exists := existingSubnetPrefixes(in, subnet.Name)
		return exists
	})
}

// existingSubnetPrefixes are the prefixes of a subnet of a network that the user brought; ok is false when it is not there, or was
// made there for the cluster.
func existingSubnetPrefixes(in plan.ClusterInput, name string) (prefixes []string, ok bool) {
	return plan.BYOSubnetPrefixes(in, in.Facts.VNet, name)
}
