package types

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

var network = []Type{
	// A PUT that shows a subnet list replaces all subnets, and an older API version does so for an absent one, too. One
	// etag covers the network and its children, and it changes with every change of state: recordings
	// Test_Networking_VirtualNetwork_CRUD, Test_Networking_Subnet_CRUD.
	// https://learn.microsoft.com/en-us/azure/virtual-network/faq-vnet-subnet-put
	// The models of armnetwork have children in the documents of their parents as they are by themselves.
	{Name: VirtualNetwork, APIVersion: networkAPIVersion, Steady: true, Taggable: true, ETag: true, DeleteRank: 70,
		Holds:      map[string]string{"subnets": "properties.subnets", "virtualnetworkpeerings": "properties.virtualNetworkPeerings"},
		CarryWhole: []string{"properties.subnets", "properties.virtualNetworkPeerings"},
		Users:      []string{"properties.subnets[].properties.ipConfigurations"},
		// People set DNS servers, protection and encryption on the network.
		Keep: []string{"properties.dhcpOptions", "properties.ddosProtectionPlan", "properties.enableDdosProtection", "properties.enableVmProtection",
			"properties.encryption", "properties.flowTimeoutInMinutes", "properties.bgpCommunities", "properties.ipAllocations", "properties.privateEndpointVNetPolicies"}},
	// Concurrent writes to one network answer AnotherOperationInProgress. People add service endpoints for what they run
	// beside the cluster, and they and Azure Policy give a subnet what the spec gives it none of.
	{Name: Subnet, APIVersion: networkAPIVersion, Steady: true, Serial: 1, DiesWithParent: true, DeleteRank: 65,
		Users: []string{"properties.ipConfigurations"},
		Ties:  []string{"properties.networkSecurityGroup.id", "properties.routeTable.id", "properties.natGateway.id"},
		Carry: []string{"properties.serviceEndpoints"}, Fold: []string{"properties.delegations[].properties.serviceName"},
		Keep: []string{"properties.delegations", "properties.privateEndpointNetworkPolicies", "properties.privateLinkServiceNetworkPolicies",
			"properties.serviceEndpointPolicies", "properties.defaultOutboundAccess", "properties.sharingScope", "properties.ipAllocations",
			"properties.serviceGateway", "properties.networkSecurityGroup", "properties.routeTable", "properties.natGateway"}},
	{Name: VirtualNetworkPeering, APIVersion: networkAPIVersion, Serial: 1, DiesWithParent: true, DeleteRank: 60,
		Ties: []string{"properties.remoteVirtualNetwork.id"}, Loose: true},
	// cloud-provider-azure writes rules for services of type LoadBalancer into the node security group, and routes into
	// the node route table: both lists are others', too.
	// Service tags, as in "Internet", have no case.
	{Name: NetworkSecurityGroup, APIVersion: networkAPIVersion, Steady: true, Taggable: true, ETag: true, DeleteRank: 75,
		Fold: []string{"properties.securityRules[].properties.sourceAddressPrefix", "properties.securityRules[].properties.sourceAddressPrefixes[]",
			"properties.securityRules[].properties.destinationAddressPrefix", "properties.securityRules[].properties.destinationAddressPrefixes[]"},
		Carry: []string{"properties.securityRules"}, Keep: []string{"properties.flushConnection"}, Makes: []string{SecurityRule},
		Users: []string{"properties.networkInterfaces"}},
	{Name: SecurityRule, APIVersion: networkAPIVersion, Steady: true, WrittenWithParent: true, Serial: 1, DiesWithParent: true, DeleteRank: 74,
		Fold: []string{"properties.sourceAddressPrefix", "properties.sourceAddressPrefixes[]", "properties.destinationAddressPrefix", "properties.destinationAddressPrefixes[]"}},
	{Name: RouteTable, APIVersion: networkAPIVersion, Steady: true, Taggable: true, ETag: true, DeleteRank: 75,
		Carry: []string{"properties.routes"}, Keep: []string{"properties.disableBgpRoutePropagation"}},
	{Name: Route, APIVersion: networkAPIVersion, Steady: true, Serial: 1, DiesWithParent: true, DeleteRank: 74},
	{Name: PublicIPAddress, APIVersion: networkAPIVersion, Steady: true, Taggable: true, DeleteRank: 72,
		Fold: []string{"properties.dnsSettings.domainNameLabel", "properties.ipTags[].ipTagType", "properties.ipTags[].tag"}},
	// People give a gateway further addresses, for more ports.
	{Name: NATGateway, APIVersion: networkAPIVersion, Steady: true, Taggable: true,
		Uses: []string{"properties.publicIpAddresses[].id"}, DeleteRank: 68,
		Carry: []string{"properties.publicIpAddresses"},
		Keep: []string{"properties.idleTimeoutInMinutes", "properties.publicIpPrefixes", "properties.publicIpAddressesV6", "properties.publicIpPrefixesV6",
			"properties.serviceGateway", "properties.sourceVirtualNetwork"}},
	// Machines write inbound NAT rules, cloud-provider-azure adds its own members to every other list.
	{Name: LoadBalancer, APIVersion: networkAPIVersion, Steady: true, Taggable: true,
		Uses: []string{"properties.frontendIPConfigurations[].properties.publicIPAddress.id", "properties.frontendIPConfigurations[].properties.subnet.id"}, ETag: true, DeleteRank: 50, Frees: []string{NetworkInterface},
		Holds:      map[string]string{"inboundnatrules": "properties.inboundNatRules"},
		CarryWhole: []string{"properties.inboundNatRules"},
		Carry: []string{"properties.frontendIPConfigurations", "properties.backendAddressPools", "properties.loadBalancingRules",
			"properties.probes", "properties.outboundRules"},
		Users: []string{"properties.backendAddressPools[].properties.backendIPConfigurations"}},
	{Name: InboundNATRule, APIVersion: networkAPIVersion, Steady: true, Serial: 1, DiesWithParent: true, DeleteRank: 35},
	{Name: BackendAddressPool, APIVersion: networkAPIVersion, Serial: 1, DiesWithParent: true, DeleteRank: 36, Users: []string{"properties.backendIPConfigurations"}},
	// cloud-provider-azure puts interfaces of machines outside of scale sets into the pools of its services; people give
	// them addresses and security groups.
	{Name: NetworkInterface, APIVersion: networkAPIVersion, Steady: true, Taggable: true,
		Uses: []string{"properties.ipConfigurations[].properties.subnet.id", "properties.ipConfigurations[].properties.loadBalancerBackendAddressPools[].id", "properties.networkSecurityGroup.id"}, ETag: true, DeleteRank: 30,
		Carry: []string{"properties.ipConfigurations", "properties.ipConfigurations[].properties.loadBalancerBackendAddressPools",
			"properties.ipConfigurations[].properties.applicationSecurityGroups", "properties.ipConfigurations[].properties.applicationGatewayBackendAddressPools"},
		Keep: []string{"properties.networkSecurityGroup", "properties.auxiliaryMode", "properties.auxiliarySku", "properties.disableTcpStateTracking"}},
	{Name: PrivateEndpoint, APIVersion: networkAPIVersion, Taggable: true,
		Uses: []string{"properties.subnet.id"}, Makes: []string{NetworkInterface}, DeleteRank: 40,
		Fold: []string{"properties.customNetworkInterfaceName", "properties.privateLinkServiceConnections[].properties.groupIds[]",
			"properties.manualPrivateLinkServiceConnections[].properties.groupIds[]"}},
	// A PUT takes Azure minutes.
	{Name: BastionHost, APIVersion: networkAPIVersion, Taggable: true,
		Uses: []string{"properties.ipConfigurations[].properties.subnet.id", "properties.ipConfigurations[].properties.publicIPAddress.id"}, TagsApart: true, DeleteRank: 40,
		Keep: []string{"properties.scaleUnits", "properties.disableCopyPaste", "properties.enableFileCopy", "properties.enableIpConnect",
			"properties.enableKerberos", "properties.enableSessionRecording", "properties.enableShareableLink"}},
}
