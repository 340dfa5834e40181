package takenover

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// upkeep is what the established provider does about a resource that exists.
type upkeep int

const (
	// Types that are not in the table are kept in line whole, so that a difference is a change of the spec that is still to come.
	_ upkeep = iota
	// butTags means the same of all but its tags, which it gets when it is made.
	butTags
	// newElements means that list elements which are not there are added, and nothing else is changed.
	newElements
	// model means that a scale set gets another image or size, and nothing else that has no other cause. Of its VMs the image
	// alone counts.
	model
	// none means that it is made once and not looked at again.
	none
)

// upkeeps are by resource type, from what the established provider leaves in Azure. Types that are not here are kept in line
// whole: groups, subnets, NAT gateways, private endpoints, DNS records, AKS clusters and what is in them, and the tags of
// VMs, which is all that is written of a VM here.
var upkeeps = map[string]upkeep{
	types.VirtualNetwork: butTags,
	types.LoadBalancer:   butTags,
	types.BastionHost:    butTags,
	// A rule with the name and port of one in the spec is not changed.
	types.NetworkSecurityGroup:    newElements,
	types.RouteTable:              none,
	types.ScaleSet:                model,
	types.PublicIPAddress:         none,
	types.NetworkInterface:        none,
	types.InboundNATRule:          none,
	types.AvailabilitySet:         none,
	types.Disk:                    none,
	types.VirtualMachineExtension: none,
	types.VirtualNetworkPeering:   none,
	types.PrivateDNSZone:          none,
	types.VirtualNetworkLink:      none,
}

// keptInLine tells whether the established provider would have brought a difference in line itself.
func keptInLine(id arm.ID, path, have string) bool {
	row, _ := types.ForID(id)
	switch upkeeps[row.Name] {
	case none:
		return false
	case model:
		return path == "sku.name" || slices.Contains(strings.Split(path, "."), "imageReference")
	case newElements:
		return have == absent && strings.HasSuffix(path, "]")
	case butTags:
		return !strings.HasPrefix(path, "tags.")
	}
	return true
}

// absent is how a comparison writes that there is nothing.
const absent = "(absent)"
