package cluster

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// reservedAddresses is the number of addresses that Azure keeps at the start of a subnet. It also keeps the last one:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq
const reservedAddresses = 4

// subnetPrefix is one address range of a subnet.
type subnetPrefix struct {
	prefix netip.Prefix
	subnet string
	path   *field.Path // nil for a subnet that the spec does not list
}

// checkSubnets refuses subnets without a range, ranges outside of the network, and ranges that overlap.
func checkSubnets(in plan.ClusterInput) field.ErrorList {
	errs := checkSubnetNames(in)
	vnet, bad := vnetPrefixes(in)
	errs = append(errs, bad...)
	network, ranges := plan.NewRangeSet(vnet), joinPrefixes(vnet)
	var blocks []subnetPrefix
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		// The ranges of a subnet that users brought are Azure's, not the spec's.
		if _, exists := existingSubnetPrefixes(in, subnet.Name); exists {
			return
		}
		if len(subnet.CIDRBlocks) == 0 {
			errs = append(errs, field.Required(path.Child("cidrBlocks"),
				fmt.Sprintf("set the address range of subnet %q, which the provider creates", subnet.Name)))
		}
		for i, cidr := range subnet.CIDRBlocks {
			here := path.Child("cidrBlocks").Index(i)
			prefix, err := netip.ParsePrefix(cidr)
			if err != nil {
				errs = append(errs, field.Invalid(here, cidr, "is not a CIDR block such as 10.1.0.0/16"))
				continue
			}
			blocks = append(blocks, subnetPrefix{prefix.Masked(), subnet.Name, here})
			if len(bad) == 0 && !network.Contains(prefix) {
				errs = append(errs, field.Invalid(here, cidr,
					fmt.Sprintf("is not within the network %q, which has %s: choose a range in it, or extend the network", plan.VNetName(in), ranges)))
			}
		}
	})
	blocks = append(blocks, otherSubnetPrefixes(in)...)
	return append(errs, checkOverlaps(blocks)...)
}

// checkSubnetNames demands unique names, and a subnet for the control plane.
func checkSubnetNames(in plan.ClusterInput) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		switch name := strings.ToLower(subnet.Name); {
		case name == "":
			errs = append(errs, field.Required(path.Child("name"), "set the name of the subnet"))
		case seen[name]:
			errs = append(errs, field.Duplicate(path.Child("name"), subnet.Name))
		default:
			seen[name] = true
		}
	})
	if _, ok := plan.ControlPlaneSubnet(in); !ok && in.AzureCluster.Spec.ControlPlaneEnabled {
		errs = append(errs, field.Required(field.NewPath("spec", "networkSpec", "subnets"), plan.NoControlPlaneSubnet))
	}
	return errs
}

// vnetPrefixes returns the address ranges of the network: the spec's, or Azure's for a network that users brought.
func vnetPrefixes(in plan.ClusterInput) ([]netip.Prefix, field.ErrorList) {
	var errs field.ErrorList
	blocks := in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks
	if plan.IsBYONetwork(in, in.Facts.VNet) {
		blocks = in.Facts.VNet.AddressPrefixes
	}
	var out []netip.Prefix
	for i, cidr := range blocks {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath("spec", "networkSpec", "vnet", "cidrBlocks").Index(i), cidr,
				"is not a CIDR block such as 10.0.0.0/8"))
			continue
		}
		out = append(out, prefix)
	}
	return out, errs
}

// otherSubnetPrefixes returns the ranges of existing subnets that the plan does not write: those that the spec does not
// list, and those that users brought.
func otherSubnetPrefixes(in plan.ClusterInput) []subnetPrefix {
	planned := map[string]bool{}
	for _, subnet := range listManagedSubnets(in) {
		planned[strings.ToLower(subnet.Name)] = true
	}
	var out []subnetPrefix
	for name, prefixes := range in.Facts.VNet.Subnets {
		if planned[name] {
			continue
		}
		for _, cidr := range prefixes {
			if prefix, err := netip.ParsePrefix(cidr); err == nil {
				out = append(out, subnetPrefix{prefix: prefix.Masked(), subnet: name})
			}
		}
	}
	slices.SortFunc(out, func(a, b subnetPrefix) int {
		return strings.Compare(a.subnet+a.prefix.String(), b.subnet+b.prefix.String())
	})
	return out
}

func joinPrefixes(prefixes []netip.Prefix) string {
	var out []string
	for _, prefix := range prefixes {
		out = append(out, prefix.String())
	}
	return plan.ListRanges(out)
}
