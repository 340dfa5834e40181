package applied

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// maintenance is the part of an existing resource that the established provider keeps as planned.
type maintenance int

const (
	// All of the resource, for types that are not in the table. A difference is then a change of the spec that was not applied yet.
	_ maintenance = iota
	// allButTags is all of the resource except its tags, which are set at creation.
	allButTags
	// allButNameTags is all of the resource except the tags with its name and role, which are set at creation. Additional tags follow
	// the spec.
	allButNameTags
	// onlyNewElements means that missing list elements are added, and nothing else is changed.
	onlyNewElements
	// loadBalancerParts means that missing frontends, backend pools and outbound rules are added, and that existing ones are neither changed
	// nor removed, because clients see their addresses. Everything else is as in allButTags.
	loadBalancerParts
	// imageAndSize means that a scale set gets another image, size of VMs or number of VMs, and no other change that has no other cause. Of
	// its VMs only the image counts.
	imageAndSize
	// createOnly means that the resource is created and never read again.
	createOnly
)

// maintenanceByType is derived from the resources that the established provider leaves in Azure. Types that are not in the
// table are maintained completely: subnets, NAT gateways, private endpoints, DNS records, AKS clusters and their child resources.
var maintenanceByType = map[string]maintenance{
	// The tag Name of a network's group is not always its name there.
	types.ResourceGroup:  allButNameTags,
	types.VirtualMachine: allButNameTags,
	types.VirtualNetwork: allButTags,
	types.LoadBalancer:   loadBalancerParts,
	types.BastionHost:    allButTags,
	// A rule with the name and port of a rule in the spec is not changed.
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

// onlyAdded are the lists of a load balancer to which the established provider only adds.
var onlyAdded = []string{"properties.frontendIPConfigurations", "properties.backendAddressPools", "properties.outboundRules"}

// isMaintained returns true if the established provider would have removed a difference itself.
func isMaintained(id arm.ID, path, have string) bool {
	row, _ := types.ForID(id)
	switch maintenanceByType[row.Name] {
	case createOnly:
		return false
	case imageAndSize:
		return path == "sku.name" || path == "sku.capacity" || strings.EqualFold(path, "tags."+infrav1.CustomDataHashTag) || slices.Contains(strings.Split(path, "."), "imageReference")
	case onlyNewElements:
		return have == absent && strings.HasSuffix(path, "]")
	case loadBalancerParts:
		if slices.ContainsFunc(onlyAdded, func(list string) bool { return strings.HasPrefix(path, list+"[") }) {
			return have == absent && strings.HasSuffix(path, "]")
		}
		return !strings.HasPrefix(path, "tags.")
	case allButTags:
		return !strings.HasPrefix(path, "tags.")
	case allButNameTags:
		return !strings.EqualFold(path, "tags."+infrav1.NameTag) && !strings.EqualFold(path, "tags."+infrav1.RoleTag)
	}
	return true
}

// absent is a comparison's text for a missing value.
const absent = "(absent)"
