package types

import "net/url"

// Names of the types of Microsoft.Compute.
const (
	VirtualMachine          = "Microsoft.Compute/virtualMachines"
	VirtualMachineExtension = "Microsoft.Compute/virtualMachines/extensions"
	Disk                    = "Microsoft.Compute/disks"
	AvailabilitySet         = "Microsoft.Compute/availabilitySets"
	ScaleSet                = "Microsoft.Compute/virtualMachineScaleSets"
)

const computeAPIVersion = "2025-04-01"

// The network interfaces in the template of a scale set, and their addresses.
const (
	templateInterfaces = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations"
	templateAddresses  = templateInterfaces + "[].properties.ipConfigurations"
)

// ScaleSetAPIVersion is the api-version for lists of scale sets. Those of AKS are only read.
const ScaleSetAPIVersion = computeAPIVersion

var computeTypes = []Type{
	// Forced deletion halves the time until a machine is gone; disks and interfaces are kept unless their own delete option is set:
	// https://learn.microsoft.com/en-us/azure/virtual-machines/delete
	// The power state of a machine is in its instance view, which a GET and a list return on request. The page on lists allows that
	// with a filter for one scale set only; Azure accepts it without, as recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient
	// v0.26.1, virtualmachineclient/testdata, where cloud-provider-azure lists the machines of a group that way.
	// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/list
	{Name: VirtualMachine, APIVersion: computeAPIVersion, Put: PutPatches, VolatileState: true, Taggable: true,
		UsedResources: []string{"properties.networkProfile.networkInterfaces[].id"}, DeleteRank: 10, DeleteWhileBusy: true,
		KeepFailed: true, CreatesTypes: []string{Disk},
		GetQuery: url.Values{"$expand": {"instanceView"}}, ListQuery: url.Values{"$expand": {"instanceView"}},
		DeleteQuery: url.Values{"forceDeletion": {"true"}},
		// The CSI driver attaches a disk for each volume, users attach interfaces.
		SharedLists: []string{"properties.storageProfile.dataDisks", "properties.networkProfile.networkInterfaces"},
		// Azure Policy assigns identities: https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/how-to-assign-managed-identity-via-azure-policy
		SharedIdentity: true,
		// Names of images, plans and disks are not case-sensitive.
		CaseInsensitivePaths: []string{"plan.name", "plan.product", "plan.publisher",
			"properties.storageProfile.imageReference.communityGalleryImageId",
			"properties.storageProfile.imageReference.offer", "properties.storageProfile.imageReference.publisher",
			"properties.storageProfile.imageReference.sku", "properties.storageProfile.osDisk.name"},
		CaseInsensitiveKeys: []string{"identity.userAssignedIdentities"},
		WriteOnlyPaths: []string{"properties.osProfile.adminPassword", "properties.osProfile.customData",
			"properties.osProfile.secrets", "properties.userData", "properties.osProfile.windowsConfiguration.additionalUnattendContent"}},
	// The agent in the machine has to answer a PUT: https://learn.microsoft.com/en-us/azure/virtual-machines/extensions/overview
	{Name: VirtualMachineExtension, APIVersion: computeAPIVersion, Put: PutPatches, Taggable: true, TagsWrittenSeparately: true,
		SerialLevel: 1, DeletedWithParent: true, DeleteRank: 8,
		ReplacedMaps:         []string{"properties.settings"},
		CaseInsensitivePaths: []string{"properties.publisher", "properties.type"},
		WriteOnlyPaths:       []string{"properties.protectedSettings"}},
	// An autoscaler may have set the capacity, and a PUT with an older one would revert it: it is sent as observed, with If-Match. A
	// forced deletion does not wait for the VMs to shut down, and deletes their disks:
	// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/delete
	{Name: ScaleSet, APIVersion: computeAPIVersion, Put: PutPatches, Taggable: true,
		UsedResources: []string{"properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[].properties.ipConfigurations[].properties.subnet.id", "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[].properties.ipConfigurations[].properties.loadBalancerBackendAddressPools[].id", "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[].properties.networkSecurityGroup.id"}, SendsIfMatch: true, DeleteRank: 10, CreatesTypes: []string{Disk}, DeleteQuery: url.Values{"forceDeletion": {"true"}},
		PreservedOnceSet: []string{"sku.capacity"},
		// cloud-provider-azure adds its backend pools, so that new instances serve from their start (EnsureHostsInPool in pkg/provider/azure_vmss.go
		// of sigs.k8s.io/cloud-provider-azure v1.36.5). Azure Policy, Defender and backup add extensions. The Azure CLI adds them the way a PUT
		// here does, with those that exist as a GET shows them, without protected settings: "az vmss extension set".
		SharedLists: []string{templateAddresses + "[].properties.loadBalancerBackendAddressPools",
			templateAddresses + "[].properties.applicationGatewayBackendAddressPools",
			templateAddresses + "[].properties.applicationSecurityGroups", "properties.virtualMachineProfile.extensionProfile.extensions"},
		// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update: elements of lists cannot be patched.
		SharedIdentity: true, CompletedElements: []string{templateInterfaces, templateAddresses},
		// "when a property is left out or a null value is passed, it will remain unchanged":
		// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update
		KeptSettings: []string{"plan", "properties.additionalCapabilities", "properties.virtualMachineProfile", "properties.zoneBalance"},
		ReplacedMaps: []string{"properties.virtualMachineProfile.extensionProfile.extensions[].properties.settings"},
		CaseInsensitivePaths: []string{"plan.name", "plan.product", "plan.publisher",
			"properties.virtualMachineProfile.storageProfile.imageReference.communityGalleryImageId",
			"properties.virtualMachineProfile.storageProfile.imageReference.offer",
			"properties.virtualMachineProfile.storageProfile.imageReference.publisher",
			"properties.virtualMachineProfile.storageProfile.imageReference.sku",
			"properties.virtualMachineProfile.extensionProfile.extensions[].properties.publisher",
			"properties.virtualMachineProfile.extensionProfile.extensions[].properties.type"},
		CaseInsensitiveKeys: []string{"identity.userAssignedIdentities"},
		WriteOnlyPaths: []string{"properties.virtualMachineProfile.osProfile.adminPassword",
			"properties.virtualMachineProfile.osProfile.customData",
			"properties.virtualMachineProfile.osProfile.secrets",
			"properties.virtualMachineProfile.osProfile.windowsConfiguration.additionalUnattendContent",
			"properties.virtualMachineProfile.userData",
			"properties.virtualMachineProfile.extensionProfile.extensions[].properties.protectedSettings"}},
	{Name: Disk, APIVersion: "2025-01-02", ChangesOnlyOnWrite: true, Put: PutPatches, FullyListed: true, Taggable: true, DeleteRank: 20},
	{Name: AvailabilitySet, APIVersion: computeAPIVersion, ChangesOnlyOnWrite: true, Put: PutPatches, Taggable: true, DeleteRank: 25,
		CaseInsensitivePaths: []string{"sku.name"}},
}
