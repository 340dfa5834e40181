package aks

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// defaultSubnetRanges are the CIDR blocks that defaulting sets for the subnet. They are not compared with an existing subnet.
var defaultSubnetRanges = []string{"10.240.0.0/16", "10.224.0.0/16"}

// checkNetwork checks that the subnet fits into the virtual network: the one of the spec, or the existing one, which has to be in
// the region of the cluster.
func checkNetwork(in Input, path *field.Path) field.ErrorList {
	if hasNetworkOfAKS(in) {
		if len(in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints) > 0 {
			return field.ErrorList{field.Forbidden(path.Child("subnet", "privateEndpoints"),
				"the cluster uses a network that AKS created and that the provider does not manage: create the private endpoints with another tool, and remove this field")}
		}
		return nil
	}
	if have, want := in.Facts.VNet, Location(in); have.IsInOtherRegion(want) {
		return field.ErrorList{field.Invalid(path, VNetID(in).Name(),
			fmt.Sprintf("is in region %s, and spec.location is %s: an AKS cluster has to be in the region of its network; "+
				"neither can change, so delete the cluster and create it again with a network in %s, or with spec.location %s", have.Location, want, want,
				have.Location))}
	}
	spec := in.ControlPlane.Spec.VirtualNetwork
	here := path.Child("subnet", "cidrBlock")
	if have, exists := existingSubnetPrefixes(in); exists {
		if slices.Contains(defaultSubnetRanges, spec.Subnet.CIDRBlock) ||
			slices.ContainsFunc(have, func(h string) bool { return isSamePrefix(h, spec.Subnet.CIDRBlock) }) {
			return nil
		}
		return field.ErrorList{field.Invalid(here, spec.Subnet.CIDRBlock,
			fmt.Sprintf("the existing subnet %q of network %q has the range %s: set cidrBlock to it",
				SubnetName(in), VNetID(in).Name(), plan.ListRanges(have)))}
	}
	prefix, err := netip.ParsePrefix(spec.Subnet.CIDRBlock)
	if err != nil {
		return field.ErrorList{field.Invalid(here, spec.Subnet.CIDRBlock, "is not a CIDR block such as 10.240.0.0/16")}
	}
	ranges := []string{spec.CIDRBlock}
	if in.Facts.VNet.IsForeign() {
		ranges = in.Facts.VNet.AddressPrefixes
	} else if _, err := netip.ParsePrefix(spec.CIDRBlock); err != nil {
		return field.ErrorList{field.Invalid(path.Child("cidrBlock"), spec.CIDRBlock, "is not a CIDR block such as 10.0.0.0/8")}
	}
	if !slices.ContainsFunc(ranges, func(outer string) bool { return containsPrefix(outer, prefix) }) {
		return field.ErrorList{field.Invalid(here, spec.Subnet.CIDRBlock,
			fmt.Sprintf("is not within the network %q, which has %s: choose a range in it",
				VNetID(in).Name(), plan.ListRanges(ranges)))}
	}
	var errs field.ErrorList
	for name, blocks := range in.Facts.VNet.Subnets {
		for _, block := range blocks {
			if other, err := netip.ParsePrefix(block); err == nil && !strings.EqualFold(name, SubnetName(in)) && other.Overlaps(prefix) {
				errs = append(errs, field.Invalid(here, spec.Subnet.CIDRBlock,
					fmt.Sprintf("overlaps %s of subnet %q: subnets of a network must not share addresses", block, name)))
			}
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Detail, b.Detail) })
	return errs
}

func containsPrefix(outer string, inner netip.Prefix) bool {
	prefix, err := netip.ParsePrefix(outer)
	return err == nil && prefix.Bits() <= inner.Bits() && prefix.Masked().Contains(inner.Addr())
}

func isSamePrefix(a, b string) bool {
	x, errX := netip.ParsePrefix(a)
	y, errY := netip.ParsePrefix(b)
	return errX == nil && errY == nil && x.Masked() == y.Masked()
}
