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
	lacksRange := func(s subnetRange) bool {
		return (s.role == infrav1.SubnetCluster || s.role == infrav1.SubnetControlPlane) && len(*s.blocks) == 0
	}
	if !slices.ContainsFunc(subnets, lacksRange) {
		return
	}
	free := newFreeRanges(subnets)
	for _, subnet := range subnets {
		if lacksRange(subnet) {
			fillCIDR(subnet.blocks, free.next())
		}
	}
}

// freeRanges are the ranges of the usual size that no subnet has.
type freeRanges struct {
	taken [254]bool // The bastion host is in the range with the number 255.
}

// newFreeRanges parses each range of the subnets once, because an object can have many thousands of ranges.
func newFreeRanges(subnets []subnetRange) *freeRanges {
	out := &freeRanges{}
	var candidates [len(out.taken)]netip.Prefix
	for i := range candidates {
		candidates[i] = netip.MustParsePrefix(fmt.Sprintf(defaultSubnetCIDRFormat, i))
	}
	for _, subnet := range subnets {
		for _, block := range *subnet.blocks {
			prefix, err := netip.ParsePrefix(block)
			if err != nil {
				continue
			}
			for i, candidate := range candidates {
				out.taken[i] = out.taken[i] || prefix.Overlaps(candidate)
			}
		}
	}
	return out
}

// next takes the first free range, or returns the range after the last one if none is free.
func (f *freeRanges) next() string {
	for i := range f.taken {
		if !f.taken[i] {
			f.taken[i] = true
			return fmt.Sprintf(defaultSubnetCIDRFormat, i)
		}
	}
	return fmt.Sprintf(defaultSubnetCIDRFormat, len(f.taken))
}
