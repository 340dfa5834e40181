package importing

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"

// anyValue stands for every value: Azure chooses it.
const anyValue = "*"

// documentedDefault is a value that Azure fills in.
type documentedDefault struct {
	resourceType, path string
	value              any
}

// knownDefaults are values that Azure fills in where a request leaves them out, or derives from other values, by the REST references
// https://learn.microsoft.com/en-us/rest/api/compute, https://learn.microsoft.com/en-us/rest/api/virtualnetwork and
// https://learn.microsoft.com/en-us/rest/api/load-balancer. Values that no reference has are from the answers of the simulator's recordings.
// Only values that are written here count: another one is listed.
var knownDefaults = []documentedDefault{
	{types.PublicIPAddress, "properties.idleTimeoutInMinutes", 4},
	{types.PublicIPAddress, "properties.ddosSettings.protectionMode", "VirtualNetworkInherited"},
	{types.PublicIPAddress, "properties.dnsSettings.fqdn", anyValue},
	{types.PublicIPAddress, "properties.ipAddress", anyValue},
	{types.PublicIPAddress, "properties.natGateway.id", anyValue},
	{types.PublicIPAddress, "sku.tier", "Regional"},
	{types.NATGateway, "properties.idleTimeoutInMinutes", 4},
	{types.BastionHost, "properties.dnsName", anyValue},
	{types.BastionHost, "properties.scaleUnits", 2},
	{types.LoadBalancer, "sku.tier", "Regional"},
	{types.LoadBalancer, "properties.frontendIPConfigurations[].properties.privateIPAllocationMethod", "Dynamic"},
	{types.LoadBalancer, "properties.backendAddressPools[].properties.loadBalancerBackendAddresses[].name", anyValue},
	{types.LoadBalancer, "properties.probes[].properties.noHealthyBackendsBehavior", "AllProbedDown"},
	{types.LoadBalancer, "properties.probes[].properties.numberOfProbes", 2},
	{types.VirtualNetwork, "properties.privateEndpointVNetPolicies", "Disabled"},
	{types.VirtualNetwork, "properties.subnets[].properties.privateEndpointNetworkPolicies", "Disabled"},
	{types.VirtualNetwork, "properties.subnets[].properties.privateLinkServiceNetworkPolicies", "Enabled"},
	{types.NetworkInterface, "properties.auxiliaryMode", "None"},
	{types.NetworkInterface, "properties.auxiliarySku", "None"},
	{types.NetworkInterface, "properties.nicType", "Standard"},
	{types.NetworkInterface, "properties.ipConfigurations[].properties.privateIPAddress", anyValue},
	{types.VirtualMachine, "properties.osProfile.requireGuestProvisionSignal", true},
	{types.VirtualMachine, "properties.osProfile.linuxConfiguration.provisionVMAgent", true},
	{types.VirtualMachine, "properties.osProfile.windowsConfiguration.provisionVMAgent", true},
	{types.VirtualMachine, "properties.osProfile.linuxConfiguration.patchSettings.assessmentMode", "ImageDefault"},
	{types.VirtualMachine, "properties.osProfile.linuxConfiguration.patchSettings.patchMode", "ImageDefault"},
	{types.VirtualMachine, "properties.storageProfile.diskControllerType", "SCSI"},
	{types.VirtualMachine, "properties.storageProfile.osDisk.deleteOption", "Detach"},
	{types.VirtualMachine, "properties.storageProfile.dataDisks[].deleteOption", "Detach"},
	{types.VirtualMachine, "properties.storageProfile.osDisk.managedDisk.id", anyValue},
	{types.VirtualMachine, "properties.storageProfile.dataDisks[].managedDisk.id", anyValue},
	{types.ScaleSet, "properties.virtualMachineProfile.osProfile.requireGuestProvisionSignal", true},
	{types.ScaleSet, "properties.virtualMachineProfile.osProfile.linuxConfiguration.provisionVMAgent", true},
	{types.ScaleSet, "properties.virtualMachineProfile.osProfile.windowsConfiguration.provisionVMAgent", true},
	{types.ScaleSet, "properties.virtualMachineProfile.storageProfile.diskControllerType", "SCSI"},
	{types.Disk, "properties.networkAccessPolicy", "AllowAll"},
	{types.Disk, "properties.publicNetworkAccess", "Enabled"},
	{types.Disk, "properties.tier", anyValue},
	{types.Disk, "properties.diskIOPSReadWrite", anyValue},
	{types.Disk, "properties.diskMBpsReadWrite", anyValue},
	{types.Disk, "properties.hyperVGeneration", anyValue},
}

// diskFields are the properties of a machine's disk that Azure takes from the virtual machine and its image, which the AzureMachine has.
var diskFields = []string{"location", "extendedLocation.name", "extendedLocation.type", "zones[]", "sku.name", "properties.diskSizeGB", "properties.osType",
	"properties.creationData.createOption", "properties.creationData.imageReference.id",
	"properties.creationData.imageReference.communityGalleryImageId"}
