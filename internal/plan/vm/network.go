package vm

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/migration"
)

// Network is what the interfaces of VMs of one role are in.
type Network struct {
	// ID is the virtual network.
	ID arm.ID
	// Role is that of the subnets that the VM goes into where its spec names none.
	Role infrav1.SubnetRole
	// Subnets are those that the cluster lists. Their CIDR blocks are what Azure has of subnets that users brought, and
	// they name a NAT gateway only where there is one.
	Subnets []infrav1.SubnetSpec
	// OtherBlocks are the CIDR blocks of subnets that the network has, by the lower-case name of the subnet.
	OtherBlocks map[string][]string
	// CIDRBlocks are those of the network as the spec has them, for a subnet of which nothing is known.
	CIDRBlocks []string
	// FindOutboundPool is the backend pool through which VMs of this role reach the internet from a subnet without a NAT
	// gateway; "" is none.
	OutboundPool arm.ID
}

// BuildClusterNetwork is the network of a self-managed cluster for VMs of a role. Seen is the network as Azure has it, and
// annotations are those of the object that the VM is made for.
//
// Defaulting names a NAT gateway for subnets that users brought, too, and none is made for them: their way out is the
// user's, or the outbound load balancer that the spec asks for. VMs that were taken over are not behind that one, and stay so.
func BuildClusterNetwork(in plan.ClusterInput, seen plan.VNetFact, role infrav1.SubnetRole, annotations map[string]string) Network {
	spec := in.AzureCluster.Spec.NetworkSpec
	network := Network{ID: plan.VNetID(in), Role: role, OtherBlocks: seen.Subnets, CIDRBlocks: spec.Vnet.CIDRBlocks}
	for _, subnet := range spec.Subnets {
		if prefixes, brought := plan.BYOSubnetPrefixes(in, seen, subnet.Name); brought {
			subnet.CIDRBlocks = prefixes
			if !migration.Read(annotations).IsMigrated() {
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

// ListInterfaces are the network interfaces of the spec, at least one. Objects from before the list existed have its fields
// beside it.
func ListInterfaces(spec infrav1.VirtualMachineProfile) []infrav1.NetworkInterface {
	if len(spec.NetworkInterfaces) > 0 {
		return spec.NetworkInterfaces
	}
	return []infrav1.NetworkInterface{{SubnetName: spec.SubnetName, AcceleratedNetworking: spec.AcceleratedNetworking, PrivateIPConfigs: 1}}
}

// FindSubnet is the subnet of an interface: the one it names, else the only one for VMs of the role, else the one for the whole
// cluster.
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
			return infrav1.SubnetSpec{}, fmt.Errorf("the cluster has %d subnets with the role %s (%s): name one of them", len(hits), wanted, strings.Join(names, ", "))
		}
	}
	return infrav1.SubnetSpec{}, fmt.Errorf("the cluster has no subnet with the role %s or %s: add one to the AzureCluster or name a subnet", network.Role, infrav1.SubnetCluster)
}

// SubnetID is the ID of a subnet of the network.
func SubnetID(network Network, subnet infrav1.SubnetSpec) arm.ID {
	return network.ID.Child("subnets", subnet.Name)
}

// FindOutboundPool is the backend pool that a VM in the subnet needs to reach the internet; "" is none.
func FindOutboundPool(network Network, subnet infrav1.SubnetSpec) arm.ID {
	if subnet.NatGateway.Name != "" {
		return ""
	}
	return network.OutboundPool
}

// HasIPv6 tells whether the subnet has IPv6 addresses. What counts for a subnet that users brought, and for one that the
// cluster does not list, is what Azure has; else the spec, and for a subnet of unknown ranges that of the network.
func HasIPv6(network Network, subnet infrav1.SubnetSpec) bool {
	blocks := subnet.CIDRBlocks
	if len(blocks) == 0 {
		blocks = network.OtherBlocks[strings.ToLower(subnet.Name)]
	}
	if len(blocks) == 0 {
		blocks = network.CIDRBlocks
	}
	return slices.ContainsFunc(blocks, func(block string) bool {
		prefix, err := netip.ParsePrefix(block)
		return err == nil && prefix.Addr().Is6()
	})
}

// UsesAcceleratedNetworking tells whether an interface has accelerated networking: what the spec says, else whether the VM size can.
// Nil leaves it as it is, when the catalog does not know the size of a VM that exists.
func UsesAcceleratedNetworking(p Profile, spec infrav1.NetworkInterface) *bool {
	if spec.AcceleratedNetworking != nil {
		return spec.AcceleratedNetworking
	}
	if p.Size == nil {
		return nil
	}
	return new(p.Size.HasCapability(capabilityAccelerated))
}

// CheckSubnets checks that every interface finds its subnet.
func CheckSubnets(p Profile, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, nic := range ListInterfaces(p.VirtualMachineProfile) {
		if _, err := FindSubnet(p.Network, nic); err != nil {
			errs = append(errs, field.Invalid(path.Child("networkInterfaces").Index(i).Child("subnetName"), nic.SubnetName, err.Error()))
		}
	}
	return errs
}
