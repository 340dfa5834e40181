package types

import "net/url"

// Names of the types of Microsoft.Network.
const (
	VirtualNetwork        = "Microsoft.Network/virtualNetworks"
	Subnet                = "Microsoft.Network/virtualNetworks/subnets"
	VirtualNetworkPeering = "Microsoft.Network/virtualNetworks/virtualNetworkPeerings"
	NetworkSecurityGroup  = "Microsoft.Network/networkSecurityGroups"
	SecurityRule          = "Microsoft.Network/networkSecurityGroups/securityRules"
	RouteTable            = "Microsoft.Network/routeTables"
	Route                 = "Microsoft.Network/routeTables/routes"
	PublicIPAddress       = "Microsoft.Network/publicIPAddresses"
	NATGateway            = "Microsoft.Network/natGateways"
	LoadBalancer          = "Microsoft.Network/loadBalancers"
	InboundNATRule        = "Microsoft.Network/loadBalancers/inboundNatRules"
	BackendAddressPool    = "Microsoft.Network/loadBalancers/backendAddressPools"
	NetworkInterface      = "Microsoft.Network/networkInterfaces"
	PrivateEndpoint       = "Microsoft.Network/privateEndpoints"
	BastionHost           = "Microsoft.Network/bastionHosts"
)

const networkAPIVersion = "2025-05-01"

var networkTypes = []Type{
	// A PUT with a subnet list replaces all subnets, and with an older API version a PUT without one does, too. One etag covers the
	// network and its children, and it changes with every change of state: recordings Test_Networking_VirtualNetwork_CRUD,
	// Test_Networking_Subnet_CRUD. https://learn.microsoft.com/en-us/azure/virtual-network/faq-vnet-subnet-put
	// armnetwork uses the same models for children in the bodies of their parents and for the children's own requests.
	{Name: VirtualNetwork, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true, SendsIfMatch: true, DeleteRank: 70,
		EmbeddedChildren: map[string]string{"subnets": "properties.subnets", "virtualnetworkpeerings": "properties.virtualNetworkPeerings"},
		ChildLists:       []string{"properties.subnets", "properties.virtualNetworkPeerings"},
		BackReferences:   []string{"properties.subnets[].properties.ipConfigurations"},
		// Users set DNS servers, protection and encryption on the network.
		PreservedPaths: []string{"properties.dhcpOptions", "properties.ddosProtectionPlan", "properties.enableDdosProtection",
			"properties.enableVmProtection",
			"properties.encryption", "properties.flowTimeoutInMinutes", "properties.bgpCommunities", "properties.ipAllocations",
			"properties.privateEndpointVNetPolicies"}},
	// Azure answers concurrent writes to one network with AnotherOperationInProgress. Users add service endpoints for workloads beside
	// the cluster. They and Azure Policy set properties of a subnet that the spec does not have.
	{Name: Subnet, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, SerialLevel: 1, DeletedWithParent: true, DeleteRank: 65,
		BackReferences:       []string{"properties.ipConfigurations"},
		OwnerReferences:      []string{"properties.networkSecurityGroup.id", "properties.routeTable.id", "properties.natGateway.id"},
		SharedLists:          []string{"properties.serviceEndpoints"},
		CaseInsensitivePaths: []string{"properties.delegations[].properties.serviceName"},
		PreservedPaths: []string{"properties.delegations", "properties.privateEndpointNetworkPolicies",
			"properties.privateLinkServiceNetworkPolicies",
			"properties.serviceEndpointPolicies", "properties.defaultOutboundAccess", "properties.sharingScope", "properties.ipAllocations",
			"properties.serviceGateway", "properties.networkSecurityGroup", "properties.routeTable", "properties.natGateway"}},
	// A peering is disconnected when the peering of the other network or that network was deleted, and no peering can be created there until a
	// PUT has initiated this one again: hashicorp/terraform-provider-azurerm#14051, Azure/bicep-registry-modules#6556.
	{Name: VirtualNetworkPeering, APIVersion: networkAPIVersion, SerialLevel: 1, DeletedWithParent: true, DeleteRank: 60,
		RenewedStates: map[string][]string{"properties.peeringState": {"Disconnected"},
			"properties.peeringSyncLevel": {"LocalNotInSync", "LocalAndRemoteNotInSync"}},
		// A PUT without it keeps the address ranges that the peering has of the other network: Azure/bicep#18379,
		// https://learn.microsoft.com/en-us/rest/api/virtualnetwork/virtual-network-peerings/create-or-update
		PutQuery:        url.Values{"syncRemoteAddressSpace": {"true"}},
		OwnerReferences: []string{"properties.remoteVirtualNetwork.id"}, MayReferenceForeign: true},
	// cloud-provider-azure writes rules for services of type LoadBalancer into the node security group, and routes into the node route
	// table: both lists are shared. Service tags, as in "Internet", are not case-sensitive.
	{Name: NetworkSecurityGroup, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true, SendsIfMatch: true,
		DeleteRank: 75,
		CaseInsensitivePaths: []string{"properties.securityRules[].properties.sourceAddressPrefix",
			"properties.securityRules[].properties.sourceAddressPrefixes[]",
			"properties.securityRules[].properties.destinationAddressPrefix",
			"properties.securityRules[].properties.destinationAddressPrefixes[]"},
		SharedLists: []string{"properties.securityRules"}, PreservedPaths: []string{"properties.flushConnection"},
		CreatesTypes:   []string{SecurityRule},
		BackReferences: []string{"properties.networkInterfaces"}},
	{Name: SecurityRule, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, WrittenWithParent: true, SerialLevel: 1,
		DeletedWithParent: true, DeleteRank: 74,
		CaseInsensitivePaths: []string{"properties.sourceAddressPrefix", "properties.sourceAddressPrefixes[]",
			"properties.destinationAddressPrefix", "properties.destinationAddressPrefixes[]"}},
	{Name: RouteTable, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true, SendsIfMatch: true, DeleteRank: 75,
		SharedLists: []string{"properties.routes"}, PreservedPaths: []string{"properties.disableBgpRoutePropagation"}},
	{Name: Route, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, SerialLevel: 1, DeletedWithParent: true, DeleteRank: 74},
	{Name: PublicIPAddress, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true, DeleteRank: 72,
		CaseInsensitivePaths: []string{"properties.dnsSettings.domainNameLabel", "properties.ipTags[].ipTagType",
			"properties.ipTags[].tag"}},
	// Users give a gateway further addresses, for more ports.
	{Name: NATGateway, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true,
		UsedResources: []string{"properties.publicIpAddresses[].id"}, DeleteRank: 68,
		SharedLists: []string{"properties.publicIpAddresses"},
		PreservedPaths: []string{"properties.idleTimeoutInMinutes", "properties.publicIpPrefixes", "properties.publicIpAddressesV6",
			"properties.publicIpPrefixesV6",
			"properties.serviceGateway", "properties.sourceVirtualNetwork"}},
	// Machines write inbound NAT rules, cloud-provider-azure adds its own members to every other list.
	{Name: LoadBalancer, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true,
		UsedResources: []string{"properties.frontendIPConfigurations[].properties.publicIPAddress.id",
			"properties.frontendIPConfigurations[].properties.subnet.id"}, SendsIfMatch: true, DeleteRank: 50,
		DetachesTypes:    []string{NetworkInterface},
		EmbeddedChildren: map[string]string{"inboundnatrules": "properties.inboundNatRules"},
		ChildLists:       []string{"properties.inboundNatRules"},
		SharedLists: []string{"properties.frontendIPConfigurations", "properties.backendAddressPools", "properties.loadBalancingRules",
			"properties.probes", "properties.outboundRules"},
		// Users set these members of rules and probes, whose other members the plan has.
		PreservedPaths: []string{"properties.outboundRules[].properties.allocatedOutboundPorts", "properties.outboundRules[].properties.enableTcpReset",
			"properties.loadBalancingRules[].properties.enableTcpReset", "properties.loadBalancingRules[].properties.enableConnectionTracking",
			"properties.probes[].properties.probeThreshold", "properties.probes[].properties.noHealthyBackendsBehavior"},
		BackReferences: []string{"properties.backendAddressPools[].properties.backendIPConfigurations"}},
	{Name: InboundNATRule, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, SerialLevel: 1, DeletedWithParent: true,
		DeleteRank: 35},
	{Name: BackendAddressPool, APIVersion: networkAPIVersion, SerialLevel: 1, DeletedWithParent: true, DeleteRank: 36,
		BackReferences: []string{"properties.backendIPConfigurations"}},
	// cloud-provider-azure adds interfaces of machines outside of scale sets to the pools of its services; users give them addresses
	// and security groups.
	{Name: NetworkInterface, APIVersion: networkAPIVersion, ChangesOnlyOnWrite: true, Taggable: true,
		UsedResources: []string{"properties.ipConfigurations[].properties.subnet.id",
			"properties.ipConfigurations[].properties.loadBalancerBackendAddressPools[].id", "properties.networkSecurityGroup.id"},
		SendsIfMatch: true, DeleteRank: 30,
		SharedLists: []string{"properties.ipConfigurations", "properties.ipConfigurations[].properties.loadBalancerBackendAddressPools",
			"properties.ipConfigurations[].properties.applicationSecurityGroups",
			"properties.ipConfigurations[].properties.applicationGatewayBackendAddressPools"},
		PreservedPaths: []string{"properties.networkSecurityGroup", "properties.auxiliaryMode", "properties.auxiliarySku",
			"properties.disableTcpStateTracking"}},
	{Name: PrivateEndpoint, APIVersion: networkAPIVersion, Taggable: true,
		UsedResources: []string{"properties.subnet.id"}, CreatesTypes: []string{NetworkInterface}, DeleteRank: 40,
		ConnectionLists: []string{"properties.privateLinkServiceConnections", "properties.manualPrivateLinkServiceConnections"},
		CaseInsensitivePaths: []string{"properties.customNetworkInterfaceName",
			"properties.privateLinkServiceConnections[].properties.groupIds[]",
			"properties.manualPrivateLinkServiceConnections[].properties.groupIds[]"}},
	// Azure takes minutes for a PUT.
	{Name: BastionHost, APIVersion: networkAPIVersion, Taggable: true,
		UsedResources: []string{"properties.ipConfigurations[].properties.subnet.id",
			"properties.ipConfigurations[].properties.publicIPAddress.id"}, TagsWrittenSeparately: true, DeleteRank: 40,
		PreservedPaths: []string{"properties.scaleUnits", "properties.disableCopyPaste", "properties.enableFileCopy",
			"properties.enableIpConnect",
			"properties.enableKerberos", "properties.enableSessionRecording", "properties.enableShareableLink"}},
}
