package types

// Names of the types of private DNS.
const (
	PrivateDNSZone     = "Microsoft.Network/privateDnsZones"
	VirtualNetworkLink = "Microsoft.Network/privateDnsZones/virtualNetworkLinks"
	ARecord            = "Microsoft.Network/privateDnsZones/A"
	AAAARecord         = "Microsoft.Network/privateDnsZones/AAAA"
)

const dnsAPIVersion = "2024-06-01"

var dnsTypes = []Type{
	// A zone cannot be deleted while it is linked, and a link blocks the deletion of the network: recording
	// Test_Network_PrivateDnsZone_CRUD.
	{Name: PrivateDNSZone, APIVersion: dnsAPIVersion, Taggable: true, DeleteRank: 60},
	{Name: VirtualNetworkLink, APIVersion: dnsAPIVersion, Taggable: true, UsedResources: []string{"properties.virtualNetwork.id"},
		DeleteRank: 55},
	{Name: ARecord, APIVersion: dnsAPIVersion, DeletedWithParent: true, DeleteRank: 50},
	{Name: AAAARecord, APIVersion: dnsAPIVersion, DeletedWithParent: true, DeleteRank: 50},
}
