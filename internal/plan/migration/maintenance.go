package migration

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// maintenance is what the established provider does about a resource that exists.
type maintenance int

const (
	// Types that are not in the table are kept in line whole, so that a difference is a change of the spec that is still to come.
	_ maintenance = iota
	// allButTags means the same of all but its tags, which it gets when it is made.
	allButTags
	// onlyNewElements means that list elements which are not there are added, and nothing else is changed.
	onlyNewElements
	// imageAndSize means that a scale set gets another image or size, and nothing else that has no other cause. Of its VMs the image
	// alone counts.
	imageAndSize
	// createOnly means that it is made once and not looked at again.
	createOnly
)

// maintenanceByType are by resource type, from what the established provider leaves in Azure. Types that are not here are kept in line
// whole: groups, subnets, NAT gateways, private endpoints, DNS records, AKS clusters and what is in them, and the tags of
// VMs, which is all that is written of a VM here.
var maintenanceByType = map[string]maintenance{
	types.VirtualNetwork: allButTags,
	types.LoadBalancer:   allButTags,
	types.BastionHost:    allButTags,
	// A rule with the name and port of one in the spec is not changed.
	types.NetworkSecurityGroup:    onlyNewElements,
	types.RouteTable:              createOnly,
	types.ScaleSet:                imageAndSize,
	types.PublicIPAddress:         createOnly,
	types.NetworkInterface:        createOnly,
	types.InboundNATRule:          createOnly,
	types.AvailabilitySet:         createOnly,
	types.Disk:                    createOnly,
	types.VirtualMachineExtension: createOnly,
	types.VirtualNetworkPeering:   createOnly,
	types.PrivateDNSZone:          createOnly,
	types.VirtualNetworkLink:      createOnly,
}

// isMaintained tells whether the established provider would have brought a difference in line itself.
func isMaintained(id arm.ID, path, have string) bool {
	row, _ := types.ForID(id)
	switch maintenanceByType[row.Name] {
	case createOnly:
		return false
	case imageAndSize:
		return path == "sku.name" || slices.Contains(strings.Split(path, "."), "imageReference")
	case onlyNewElements:
		return have == absent && strings.HasSuffix(path, "]")
	case allButTags:
		return !strings.HasPrefix(path, "tags.")
	}
	return true
}

// absent is how a comparison writes that there is nothing.
const absent = "(absent)"
