package cluster

import (
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addSubnets adds the subnets. In a network that users brought, existing subnets are only read, and missing ones are
// created.
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

// buildSubnet returns the node of one subnet. It references only resources of the graph, so that a subnet in a network
// that users brought does not reference a security group or route table that does not exist.
func buildSubnet(in plan.ClusterInput, g *arm.Graph, id arm.ID, subnet infrav1.SubnetSpec) arm.Node {
	properties := &armnetwork.SubnetPropertiesFormat{ServiceEndpoints: plan.BuildServiceEndpoints(subnet.ServiceEndpoints)}
	// Azure answers one prefix in the singular property, and several in the plural one.
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

// listSubnets returns the subnets of the spec, the bastion host's last.
func listSubnets(in plan.ClusterInput) (out []infrav1.SubnetSpec) {
	visitSubnets(in, func(_ *field.Path, subnet infrav1.SubnetSpec) { out = append(out, subnet) })
	return out
}

// listManagedSubnets returns the subnets that are created: all but those that users brought, whose security group, route
// table and NAT gateway belong to their user.
func listManagedSubnets(in plan.ClusterInput) []infrav1.SubnetSpec {
	return slices.DeleteFunc(listSubnets(in), func(subnet infrav1.SubnetSpec) bool {
		_, exists := existingSubnetPrefixes(in, subnet.Name)
		return exists
	})
}

// existingSubnetPrefixes returns the prefixes of a subnet that users brought. ok is false if it does not exist, or was
// created for the cluster.
func existingSubnetPrefixes(in plan.ClusterInput, name string) (prefixes []string, ok bool) {
	return plan.BYOSubnetPrefixes(in, in.Facts.VNet, name)
}
