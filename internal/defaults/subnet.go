package defaults

import (
	"fmt"
	"net/netip"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// subnetRange is the place of the ranges of a subnet of a role. One without a place gets none.
type subnetRange struct {
	role   infrav1.SubnetRole
	blocks *[]string
}

// fillRanges gives subnets ranges that have none: node subnets by their number among the node subnets, the first subnet with
// control-plane machines 10.0.0.0/16, and further ones the first that is free.
func fillRanges(subnets []subnetRange) {
	subnets = slices.DeleteFunc(subnets, func(s subnetRange) bool { return s.blocks == nil })
	nodes, first := 0, true
	for _, subnet := range subnets {
		switch subnet.role {
		case infrav1.SubnetNode:
			nodes++
			fillCIDR(subnet.blocks, fmt.Sprintf(defaultSubnetCIDRFormat, nodes))
		case infrav1.SubnetCluster, infrav1.SubnetControlPlane:
			if first {
				fillCIDR(subnet.blocks, fmt.Sprintf(defaultSubnetCIDRFormat, 0))
			}
			first = false
		}
	}
	for _, subnet := range subnets {
		if subnet.role == infrav1.SubnetCluster || subnet.role == infrav1.SubnetControlPlane {
			fillCIDR(subnet.blocks, freeRange(subnets))
		}
	}
}

// freeRange returns the first range of the usual size that overlaps none of the subnets, the last one where all do.
func freeRange(subnets []subnetRange) string {
	const last = 254 // The bastion host is in the one after it.
	for i := range last {
		candidate := netip.MustParsePrefix(fmt.Sprintf(defaultSubnetCIDRFormat, i))
		taken := slices.ContainsFunc(subnets, func(s subnetRange) bool {
			return slices.ContainsFunc(*s.blocks, func(block string) bool {
				prefix, err := netip.ParsePrefix(block)
				return err == nil && prefix.Overlaps(candidate)
			})
		})
		if !taken {
			return candidate.String()
		}
	}
	return fmt.Sprintf(defaultSubnetCIDRFormat, last)
}
