// Package compute simulates Microsoft.Compute: virtual machines with their extensions and disks, scale sets,
// availability sets, proximity placement groups, images and galleries, disk encryption sets, capacity reservations,
// sizes and quotas.
//
// Its promise: a virtual machine is only accepted when its size, zone, quota, image, disks, security profile, OS
// profile, placement and network interfaces would be accepted by Azure, and when everything it refers to exists and
// is in its region and edge zone; custom data and passwords are never returned; disks are created and deleted by
// their deleteOption.
package compute

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// Full names of the types.
const (
	VirtualMachines  = "Microsoft.Compute/virtualMachines"
	Extensions       = "Microsoft.Compute/virtualMachines/extensions"
	Disks            = "Microsoft.Compute/disks"
	AvailabilitySets = "Microsoft.Compute/availabilitySets"
	PlacementGroups  = "Microsoft.Compute/proximityPlacementGroups"
	ScaleSetVMs      = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
)

// etagSince is the first api-version with etags. Source: change log of SDK module armcompute, version 5.4.0.
const etagSince = "2023-09-01"

// Provider returns the resource provider.
func Provider() *provider.Provider {
	return &provider.Provider{
		Namespace: "Microsoft.Compute",
		Types: slices.Concat([]*provider.Type{virtualMachineType(), extensionType(), diskType(), encryptionSetType(), availabilitySetType(),
			placementGroupType()},
			scaleSetTypes(), imageTypes(), reservationTypes()),
		Regional: map[string]func(*provider.Call, string, []string) (*provider.Reply, error){
			"usages": listUsages, "vmsizes": vmSizes, "publishers": listMarketplace, "virtualmachines": regionalVMs,
		},
		Subscription: map[string]func(*provider.Call) (*provider.Reply, error){"skus": listSKUs},
	}
}

func regionalVMs(c *provider.Call, location string, _ []string) (*provider.Reply, error) {
	c.Type = c.TypeOf(VirtualMachines)
	out := []any{}
	for _, r := range c.List(VirtualMachines, "/subscriptions/"+c.ID.Subscription) {
		if r.Location == location {
			out = append(out, c.RenderResource(r))
		}
	}
	return provider.OK(out), nil
}

// GuestStatus is the lab's report about the operating system inside a VM. It ends bootstrapping extensions.
type GuestStatus struct {
	Phase    string `json:"phase"` // Booting, Running or Failed
	Message  string `json:"message,omitempty"`
	NodeName string `json:"nodeName,omitempty"`
}

// GuestKey returns the key of the status of a VM's guest, by its vmId.
func GuestKey(vmID string) string { return "guest/" + vmID }

// LabKey is set once a lab has asked for guests: from then on bootstrapping extensions wait for it.
const LabKey = "labAttached"
