package vm

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// Network is the network of the interfaces of VMs of one role.
type Network struct {
	// ID is the virtual network.
	ID arm.ID
	// Role is the role of the subnets for VMs whose spec names no subnet.
	Role infrav1.SubnetRole
	// Subnets are the subnets that the cluster lists. Those that users brought have Azure's CIDR blocks. A NAT gateway is
	// named only if it exists for the subnet.
	Subnets []infrav1.SubnetSpec
	// OtherBlocks are the CIDR blocks of all subnets that exist in the network, by the lower-case name of the subnet.
	OtherBlocks map[string][]string
	// CIDRBlocks are the CIDR blocks of the network in the spec, for a subnet with unknown ranges.
	CIDRBlocks []string
	// OutboundPool is the backend pool for outbound connections of VMs of this role in a subnet without a NAT gateway; ""
	// for none.
	OutboundPool arm.ID
}

// BuildClusterNetwork returns the network of a self-managed cluster for VMs of a role. seen is the network in Azure, and
// annotations are those of the VM's object.
//
// The defaults also name a NAT gateway for subnets that users brought, but none is created for them. Their VMs use the
// user's own way out, or the outbound load balancer of the spec. Migrated VMs are not behind that load balancer, and are not
// added to it.
func BuildClusterNetwork(in plan.ClusterInput, seen plan.VNetFact, role infrav1.SubnetRole, annotations map[string]string) Network {
	spec := in.AzureCluster.Spec.NetworkSpec
	network := Network{ID: plan.VNetID(in), Role: role, OtherBlocks: seen.Subnets, CIDRBlocks: spec.Vnet.CIDRBlocks}
	for _, subnet := range spec.Subnets {
		if prefixes, brought := plan.BYOSubnetPrefixes(in, seen, subnet.Name); brought {
			subnet.CIDRBlocks = prefixes
			if !applied.ReadDifferences(annotations).IsMigrated() {
				subnet.NatGateway = infrav1.NatGateway{}
			}
		}
		network.Subnets = append(network.Subnets, subnet)
	}
	if lb := spec.NodeOutboundLB; lb != nil && role == infrav1.SubnetNode {
		network.OutboundPool = plan.PoolID(plan.LoadBalancerID(in, lb.Name), plan.NodeOutboundPoolName(lb))
	}
	return network
}

// ListInterfaces returns the network interfaces of the spec, at least one. Objects that were stored before the list
// existed have the deprecated fields.
func ListInterfaces(spec infrav1.VirtualMachineProfile) []infrav1.NetworkInterface {
	if len(spec.NetworkInterfaces) > 0 {
		return spec.NetworkInterfaces
	}
	return []infrav1.NetworkInterface{{SubnetName: spec.SubnetName, AcceleratedNetworking: spec.AcceleratedNetworking, PrivateIPConfigs: 1}}
}

// FindSubnet returns the subnet of an interface: the one that it names, else the only one of the VM's role, else the only
// one of the role cluster.
func FindSubnet(network Network, spec infrav1.NetworkInterface) (infrav1.SubnetSpec, error) {
	if spec.SubnetName != "" {
		for _, subnet := range network.Subnets {
			if strings.EqualFold(subnet.Name, spec.SubnetName) {
				return subnet, nil
			}
		}
		// A subnet that the cluster does not list may still be in the network.
		return infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: spec.SubnetName}}, nil
	}
	for _, wanted := range []infrav1.SubnetRole{network.Role, infrav1.SubnetCluster} {
		var hits []infrav1.SubnetSpec
		var names []string
		for _, subnet := range network.Subnets {
			if subnet.Role == wanted {
				hits, names = append(hits, subnet), append(names, subnet.Name)
			}
		}
		if len(hits) == 1 {
			return hits[0], nil
		}
		if len(hits) > 1 {
			return infrav1.SubnetSpec{},
				fmt.Errorf("the cluster has %d subnets with the role %s (%s): choose one of them", len(hits), wanted, strings.Join(names, ", "))
		}
	}
	return infrav1.SubnetSpec{},
		fmt.Errorf("the cluster has no subnet with the role %s or %s: add one to the AzureCluster, or set subnetName", network.Role,
			infrav1.SubnetCluster)
}

// SubnetID returns the ID of a subnet of the network.
func SubnetID(network Network, subnet infrav1.SubnetSpec) arm.ID {
	return network.ID.Child("subnets", subnet.Name)
}

// FindOutboundPool returns the backend pool that a VM in the subnet needs for outbound connections; "" for none.
func FindOutboundPool(network Network, subnet infrav1.SubnetSpec) arm.ID {
	if subnet.NatGateway.Name != "" {
		return ""
	}
	return network.OutboundPool
}

// HasIPv6 returns true if the subnet has an IPv6 range. The ranges are Azure's for a subnet that users brought or that the
// cluster does not list, else the spec's. For unknown ranges they are the network's.
func HasIPv6(network Network, subnet infrav1.SubnetSpec) bool {
	blocks := subnet.CIDRBlocks
	if len(blocks) == 0 {
		blocks = network.OtherBlocks[strings.ToLower(subnet.Name)]
	}
	if len(blocks) == 0 {
		blocks = network.CIDRBlocks
	}
	return plan.HasIPv6Range(blocks)
}

// UsesAcceleratedNetworking returns the spec's setting for an interface, else true if the VM size supports it. Nil leaves
// the setting of an existing VM as it is, if the catalog does not list its size.
func UsesAcceleratedNetworking(p Profile, spec infrav1.NetworkInterface) *bool {
	if spec.AcceleratedNetworking != nil {
		return spec.AcceleratedNetworking
	}
	if p.Size == nil {
		return nil
	}
	return new(p.Size.HasCapability(capabilityAccelerated))
}

// CheckSubnets checks that the subnet of every interface can be determined.
func CheckSubnets(p Profile, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, nic := range ListInterfaces(p.VirtualMachineProfile) {
		if _, err := FindSubnet(p.Network, nic); err != nil {
			errs = append(errs, field.Invalid(path.Child("networkInterfaces").Index(i).Child("subnetName"), nic.SubnetName, err.Error()))
		}
	}
	return errs
}
