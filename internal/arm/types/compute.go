package types

import "net/url"

// Names of the types of Microsoft.Compute.
const (
	VirtualMachine          = "Microsoft.Compute/virtualMachines"
	VirtualMachineExtension = "Microsoft.Compute/virtualMachines/extensions"
	Disk                    = "Microsoft.Compute/disks"
	AvailabilitySet         = "Microsoft.Compute/availabilitySets"
)

const computeAPIVersion = "2025-04-01"

// ScaleSet is the type of scale sets. They are only read: the pools of AKS are AKS's to write.
const (
	ScaleSet           = "Microsoft.Compute/virtualMachineScaleSets"
	ScaleSetAPIVersion = computeAPIVersion
)

var compute = []Type{
	// Forced deletion is what makes a machine go in half the time; disks and interfaces stay unless their own delete
	// option says otherwise: https://learn.microsoft.com/en-us/azure/virtual-machines/delete
	{Name: VirtualMachine, APIVersion: computeAPIVersion, Put: Patches, Taggable: true, DeleteRank: 10, DeleteWhileBusy: true, KeepFailed: true, Makes: []string{Disk},
		DeleteQuery: url.Values{"forceDeletion": {"true"}},
		WriteOnly:   []string{"properties.osProfile.adminPassword", "properties.osProfile.customData", "properties.osProfile.secrets", "properties.userData", "properties.osProfile.windowsConfiguration.additionalUnattendContent"}},
	{Name: VirtualMachineExtension, APIVersion: computeAPIVersion, Put: Patches, Taggable: true, Serial: 1, DiesWithParent: true, DeleteRank: 8,
		Whole:     []string{"properties.settings"},
		WriteOnly: []string{"properties.protectedSettings"}},
	{Name: Disk, APIVersion: "2025-01-02", Put: Patches, Taggable: true, DeleteRank: 20},
	{Name: AvailabilitySet, APIVersion: computeAPIVersion, Put: Patches, Taggable: true, DeleteRank: 25},
}
