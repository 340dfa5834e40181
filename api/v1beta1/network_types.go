package v1beta1

// NetworkClassSpec is the part of a network that all clusters of a ClusterClass have in common.
type NetworkClassSpec struct {
	// privateDNSZoneName is the name of the private DNS zone that has the record of the API server of a cluster with an
	// internal API server load balancer, at most 253 characters. A zone that the provider creates has 2 to 34 labels. The
	// default is "<cluster>.capz.io". It cannot change.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || !isIP(self) && self.matches('^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}([.][a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$')",message="must be a DNS name, such as private.example.com"
	PrivateDNSZoneName string `json:"privateDNSZoneName,omitempty"`

	// privateDNSZoneResourceGroup is the name of the resource group of the private DNS zone. The default is the
	// resource group of the cluster. It cannot change.
	// +optional
	PrivateDNSZoneResourceGroup string `json:"privateDNSZoneResourceGroup,omitempty"`
}

// NetworkSpec describes the network of a cluster.
// +kubebuilder:validation:XValidation:rule=`self.?privateDNSZoneName.orValue("") == "" || self.?apiServerLB.?type.orValue('Internal') == 'Internal'`,message="is for clusters whose apiServerLB has the type Internal only: remove it, or change the type",fieldPath=".privateDNSZoneName"
// +kubebuilder:validation:XValidation:rule=`!has(self.apiServerLB) || self.?privateDNSZoneName.orValue("") == "" || self.?privateDNSZone.orValue("System") == "None" || !self.privateDNSZoneName.matches('^([a-zA-Z0-9_-]+|[^.]+([.][^.]+){34,})[.]?$') || oldSelf.?privateDNSZoneName.orValue("") == self.privateDNSZoneName`,message="a private DNS zone of Azure has 2 to 34 labels: set a name such as private.example.com, or provide the name resolution and set privateDNSZone to None",fieldPath=".privateDNSZoneName",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?privateDNSZoneResourceGroup.orValue("") == "" || self.?privateDNSZoneName.orValue("") != ""`,message="needs privateDNSZoneName",fieldPath=".privateDNSZoneResourceGroup"
// +kubebuilder:validation:XValidation:rule="!has(self.controlPlaneOutboundLB) || self.?apiServerLB.?type.orValue('Internal') == 'Internal'",message="is for clusters whose apiServerLB has the type Internal: remove it, a public one serves outbound connections too",fieldPath=".controlPlaneOutboundLB",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.apiServerLB) || self.?controlPlaneOutboundLB.?idleTimeoutInMinutes.orValue(4) <= 30",message="must be between 4 and 30 minutes",fieldPath=".controlPlaneOutboundLB.idleTimeoutInMinutes"
// +kubebuilder:validation:XValidation:rule="!has(self.apiServerLB) || self.?controlPlaneOutboundLB.?frontendIPsCount.orValue(1) <= 16",message="must be at most 16",fieldPath=".controlPlaneOutboundLB.frontendIPsCount"
type NetworkSpec struct {
	// vnet is the virtual network. An existing virtual network is used and not changed.
	// +optional
	Vnet VnetSpec `json:"vnet,omitempty,omitzero"`

	// subnets are the subnets of the virtual network, at most 3000. The default is one for the control plane and one
	// for nodes.
	// +optional
	Subnets Subnets `json:"subnets,omitempty"`

	// apiServerLB is the load balancer of the API server.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.?idleTimeoutInMinutes.orValue(4) <= 30",message="must be between 4 and 30 minutes",fieldPath=".idleTimeoutInMinutes"
	// +kubebuilder:validation:XValidation:rule="self.?type.orValue('') != 'Public' || !has(self.frontendIPs) || size(self.frontendIPs.filter(f, has(f.publicIP))) == 1",message="a public load balancer of the API server needs exactly one frontend with a publicIP",fieldPath=".frontendIPs"
	// +kubebuilder:validation:XValidation:rule="self.?type.orValue('') != 'Public' || self.?frontendIPsCount.orValue(1) == 1",message="must be 1 for the API server",fieldPath=".frontendIPsCount"
	// +kubebuilder:validation:XValidation:rule="self.?type.orValue('') != 'Internal' || !has(self.frontendIPs) || !self.frontendIPs.exists(f, has(f.publicIP))",message="an internal load balancer has no public address: remove publicIP",fieldPath=".frontendIPs",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="self.?type.orValue('') != 'Internal' || !has(self.frontendIPs) || size(self.frontendIPs.filter(f, f.?privateIP.orValue('') != '')) == 1",message="an internal load balancer of the API server needs exactly one frontend with a privateIP",fieldPath=".frontendIPs"
	// +kubebuilder:validation:XValidation:rule="oldSelf.?type.orValue('') == '' || has(self.type) && self.type == oldSelf.type",message="type cannot change after the cluster was created; create a new cluster",fieldPath=".type",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="oldSelf.?name.orValue('') == '' || has(self.name) && self.name == oldSelf.name",message="name cannot change after the cluster was created; create a new cluster",fieldPath=".name",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="!has(oldSelf.idleTimeoutInMinutes) || has(self.idleTimeoutInMinutes) && self.idleTimeoutInMinutes == oldSelf.idleTimeoutInMinutes",message="idleTimeoutInMinutes cannot change after the cluster was created; create a new cluster",fieldPath=".idleTimeoutInMinutes",reason="FieldValueForbidden"
	// +kubebuilder:validation:XValidation:rule="(has(self.availabilityZones) ? size(self.availabilityZones) : 0) == (has(oldSelf.availabilityZones) ? size(oldSelf.availabilityZones) : 0) && (!has(self.availabilityZones) || !has(oldSelf.availabilityZones) || self.availabilityZones == oldSelf.availabilityZones)",message="availabilityZones cannot change after the cluster was created, because frontends do not change zones; create a new cluster",fieldPath=".availabilityZones",reason="FieldValueForbidden"
	APIServerLB *LoadBalancerSpec `json:"apiServerLB,omitempty"`

	// nodeOutboundLB is the load balancer for outbound connections of nodes. By default nodes use a NAT gateway.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.availabilityZones) ? size(self.availabilityZones) : 0) == (has(oldSelf.availabilityZones) ? size(oldSelf.availabilityZones) : 0) && (!has(self.availabilityZones) || !has(oldSelf.availabilityZones) || self.availabilityZones == oldSelf.availabilityZones)",message="availabilityZones cannot change after the cluster was created, because frontends do not change zones; create a new cluster",fieldPath=".availabilityZones",reason="FieldValueForbidden"
	NodeOutboundLB *LoadBalancerSpec `json:"nodeOutboundLB,omitempty"`

	// controlPlaneOutboundLB is the load balancer for outbound connections of control-plane machines. It needs an
	// apiServerLB of type Internal.
	// +optional
	ControlPlaneOutboundLB *LoadBalancerSpec `json:"controlPlaneOutboundLB,omitempty"`

	// additionalAPIServerLBPorts are additional ports of the API server load balancer. It forwards each of them to the
	// same port of the control-plane machines. At most 500.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	AdditionalAPIServerLBPorts []LoadBalancerPort `json:"additionalAPIServerLBPorts,omitempty"`

	// privateDNSZone is System if the provider creates the private DNS zone of a cluster with an internal API server
	// load balancer. With None, users provide the name resolution. The default is System. It cannot change.
	// +optional
	PrivateDNSZone *PrivateDNSZoneMode `json:"privateDNSZone,omitempty"`

	NetworkClassSpec `json:",inline"`
}

// NetworkTemplateSpec describes the network of clusters that are created from a template.
// +kubebuilder:validation:XValidation:rule=`self.?privateDNSZoneName.orValue("") == "" || self.?apiServerLB.?type.orValue('Internal') == 'Internal'`,message="is for clusters whose apiServerLB has the type Internal only: remove it, or change the type",fieldPath=".privateDNSZoneName"
// +kubebuilder:validation:XValidation:rule=`!has(self.apiServerLB) || self.?privateDNSZoneName.orValue("") == "" || !self.privateDNSZoneName.matches('^([a-zA-Z0-9_-]+|[^.]+([.][^.]+){34,})[.]?$') || oldSelf.?privateDNSZoneName.orValue("") == self.privateDNSZoneName`,message="a private DNS zone of Azure has 2 to 34 labels: set a name such as private.example.com",fieldPath=".privateDNSZoneName",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.?privateDNSZoneResourceGroup.orValue("") == "" || self.?privateDNSZoneName.orValue("") != ""`,message="needs privateDNSZoneName",fieldPath=".privateDNSZoneResourceGroup"
// +kubebuilder:validation:XValidation:rule="!has(self.controlPlaneOutboundLB) || self.?apiServerLB.?type.orValue('Internal') == 'Internal'",message="is for clusters whose apiServerLB has the type Internal: remove it, a public one serves outbound connections too",fieldPath=".controlPlaneOutboundLB",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="!has(self.apiServerLB) || self.?controlPlaneOutboundLB.?idleTimeoutInMinutes.orValue(4) <= 30",message="must be between 4 and 30 minutes",fieldPath=".controlPlaneOutboundLB.idleTimeoutInMinutes"
type NetworkTemplateSpec struct {
	NetworkClassSpec `json:",inline"`

	// vnet is the virtual network.
	// +optional
	Vnet VnetTemplateSpec `json:"vnet,omitempty,omitzero"`

	// subnets are the subnets of the virtual network, at most 3000. The default is one for the control plane and one
	// for nodes.
	// +optional
	Subnets SubnetTemplatesSpec `json:"subnets,omitempty"`

	// apiServerLB is the load balancer of the API server.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.?idleTimeoutInMinutes.orValue(4) <= 30",message="must be between 4 and 30 minutes",fieldPath=".idleTimeoutInMinutes"
	APIServerLB LoadBalancerClassSpec `json:"apiServerLB,omitempty,omitzero"`

	// nodeOutboundLB is the load balancer for outbound connections of nodes. By default nodes use a NAT gateway.
	// +optional
	NodeOutboundLB *LoadBalancerClassSpec `json:"nodeOutboundLB,omitempty"`

	// controlPlaneOutboundLB is the load balancer for outbound connections of control-plane machines. It needs an
	// apiServerLB of type Internal.
	// +optional
	ControlPlaneOutboundLB *LoadBalancerClassSpec `json:"controlPlaneOutboundLB,omitempty"`

	// additionalAPIServerLBPorts are additional ports of the API server load balancer. It forwards each of them to the
	// same port of the control-plane machines. At most 500.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	AdditionalAPIServerLBPorts []LoadBalancerPort `json:"additionalAPIServerLBPorts,omitempty"`
}

// PrivateDNSZoneMode selects who provides the private DNS zone.
// +kubebuilder:validation:Enum=System;None
type PrivateDNSZoneMode string

const (
	// PrivateDNSZoneModeSystem means that the provider creates the zone, its links and its record.
	PrivateDNSZoneModeSystem PrivateDNSZoneMode = "System"
	// PrivateDNSZoneModeNone means that users provide the name resolution.
	PrivateDNSZoneModeNone PrivateDNSZoneMode = "None"
)

// VnetClassSpec is the part of a virtual network that all clusters of a ClusterClass have in common.
type VnetClassSpec struct {
	// cidrBlocks are the address ranges of the virtual network, at most 1000. The default is 10.0.0.0/8.
	// +optional
	// +kubebuilder:validation:items:Format=cidr
	// +kubebuilder:validation:MaxItems=1000
	CIDRBlocks []string `json:"cidrBlocks,omitempty"`

	// tags are the tags of an existing virtual network. The provider does not write them to Azure.
	// +optional
	Tags Tags `json:"tags,omitempty"`
}

// VnetSpec describes a virtual network.
type VnetSpec struct {
	// resourceGroup is the name of the resource group of the virtual network. The default is the resource group of the
	// cluster.
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// id is the Azure resource ID of an existing virtual network. It has to match name and resourceGroup. Values that
	// are not Azure resource IDs are ignored.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the virtual network. The default is "<cluster>-vnet".
	// +optional
	Name string `json:"name"`

	// peerings are the virtual networks to peer with. The provider creates both directions of each peering. At most
	// 500.
	// +optional
	Peerings VnetPeerings `json:"peerings,omitempty"`

	VnetClassSpec `json:",inline"`
}

// VnetTemplateSpec describes the virtual network of clusters that are created from a template.
type VnetTemplateSpec struct {
	VnetClassSpec `json:",inline"`

	// peerings are the virtual networks to peer with. The provider creates both directions of each peering. At most
	// 500.
	// +optional
	Peerings VnetPeeringsTemplateSpec `json:"peerings,omitempty"`
}

// VnetPeeringProperties are the settings of one direction of a peering. Settings that are left out have Azure's
// default.
type VnetPeeringProperties struct {
	// allowForwardedTraffic accepts traffic that the peered network forwards for other networks.
	// +optional
	AllowForwardedTraffic *bool `json:"allowForwardedTraffic,omitempty"`

	// allowGatewayTransit lets the peered network use the gateway of this network.
	// +optional
	AllowGatewayTransit *bool `json:"allowGatewayTransit,omitempty"`

	// allowVirtualNetworkAccess lets machines of this network and of the peered network connect to each other.
	// +optional
	AllowVirtualNetworkAccess *bool `json:"allowVirtualNetworkAccess,omitempty"`

	// useRemoteGateways makes this network use the gateway of the peered network.
	// +optional
	UseRemoteGateways *bool `json:"useRemoteGateways,omitempty"`
}

// VnetPeeringClassSpec describes a peering with another virtual network of the same subscription.
type VnetPeeringClassSpec struct {
	// resourceGroup is the name of the resource group of the other virtual network. The default is the resource group
	// of the cluster.
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// remoteVnetName is the name of the other virtual network.
	// +required
	// +kubebuilder:validation:MinLength=1
	RemoteVnetName string `json:"remoteVnetName"`

	// forwardPeeringProperties are the settings of the peering on the cluster's network.
	// +optional
	ForwardPeeringProperties VnetPeeringProperties `json:"forwardPeeringProperties,omitempty,omitzero"`

	// reversePeeringProperties are the settings of the peering on the other network.
	// +optional
	ReversePeeringProperties VnetPeeringProperties `json:"reversePeeringProperties,omitempty,omitzero"`
}

// VnetPeeringSpec describes a peering of a cluster's virtual network.
type VnetPeeringSpec struct {
	VnetPeeringClassSpec `json:",inline"`
}

// VnetPeerings are the peerings of a cluster's virtual network.
// +kubebuilder:validation:MaxItems=500
type VnetPeerings []VnetPeeringSpec

// VnetPeeringsTemplateSpec are the peerings of the virtual network of clusters that are created from a template.
// +kubebuilder:validation:MaxItems=500
type VnetPeeringsTemplateSpec []VnetPeeringClassSpec

// PublicIPSpec describes a public IP address.
type PublicIPSpec struct {
	// name is the name of the public IP address. It has a default for NAT gateways and the bastion host.
	// +optional
	Name string `json:"name"`

	// dnsName is the fully qualified DNS name of the address. Azure registers its first label.
	// +optional
	DNSName string `json:"dnsName,omitempty"`

	// ipTags are the IP tags of the address, for example to select its routing. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	IPTags []IPTag `json:"ipTags,omitempty"`
}

// IPTag is an IP tag of a public IP address.
type IPTag struct {
	// type is the type of the IP tag, for example FirstPartyUsage or RoutingPreference.
	// +required
	Type string `json:"type"`

	// tag is the value of the IP tag, for example Internet.
	// +required
	Tag string `json:"tag"`
}

// ExtendedLocationSpec places resources in an edge zone.
type ExtendedLocationSpec struct {
	// name is the name of the edge zone.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// type is the type of the extended location. Only edge zones are supported.
	// +required
	// +kubebuilder:validation:Enum=EdgeZone
	Type string `json:"type"`
}

// BastionSpec describes the bastion host of a cluster.
type BastionSpec struct {
	// azureBastion describes an Azure Bastion host.
	// +optional
	AzureBastion *AzureBastion `json:"azureBastion,omitempty"`
}

// BastionTemplateSpec describes the bastion host of clusters that are created from a template.
type BastionTemplateSpec struct {
	// azureBastion describes an Azure Bastion host.
	// +optional
	AzureBastion *AzureBastionTemplateSpec `json:"azureBastion,omitempty"`
}

// BastionHostSkuName is the SKU of an Azure Bastion host.
// +kubebuilder:validation:Enum=Basic;Standard
type BastionHostSkuName string

const (
	// BasicBastionHostSku is the SKU without tunnels.
	BasicBastionHostSku BastionHostSkuName = "Basic"
	// StandardBastionHostSku is the SKU that supports tunnels.
	StandardBastionHostSku BastionHostSkuName = "Standard"
)

// AzureBastion describes an Azure Bastion host.
// +kubebuilder:validation:XValidation:rule=`!self.?enableTunneling.orValue(false) || self.?sku.orValue("") == 'Standard'`,message="needs the sku Standard",fieldPath=".enableTunneling"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?name.orValue("") == "" || has(self.name) && self.name == oldSelf.name`,message="name cannot change: remove the bastion host, and add it again once it is deleted",fieldPath=".name",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?publicIP.?name.orValue("") == "" || has(self.publicIP) && has(self.publicIP.name) && self.publicIP.name == oldSelf.publicIP.name`,message="publicIP.name cannot change: remove the bastion host, and add it again once it is deleted",fieldPath=".publicIP.name",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?subnet.?name.orValue("") == "" || has(self.subnet) && has(self.subnet.name) && self.subnet.name == oldSelf.subnet.name`,message="subnet.name cannot change: remove the bastion host, and add it again once it is deleted",fieldPath=".subnet.name",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule="size(oldSelf.?subnet.?cidrBlocks.orValue([])) == 0 || has(self.subnet) && has(self.subnet.cidrBlocks) && self.subnet.cidrBlocks == oldSelf.subnet.cidrBlocks",message="subnet.cidrBlocks cannot change: remove the bastion host, and add it again once it is deleted",fieldPath=".subnet.cidrBlocks",reason="FieldValueForbidden"
// +kubebuilder:validation:XValidation:rule=`oldSelf.?sku.orValue("") != 'Standard' || self.?sku.orValue("") == 'Standard'`,message="sku cannot change from Standard to Basic: remove the bastion host, and add it again once it is deleted",fieldPath=".sku",reason="FieldValueForbidden"
type AzureBastion struct {
	// name is the name of the host. The default is "<cluster>-azure-bastion". It cannot change.
	// +optional
	Name string `json:"name,omitempty"`

	// subnet is the subnet of the host. Azure requires the name AzureBastionSubnet. It cannot change.
	// +optional
	Subnet SubnetSpec `json:"subnet,omitempty,omitzero"`

	// publicIP is the public IP address of the host. Its name cannot change.
	// +optional
	PublicIP PublicIPSpec `json:"publicIP,omitempty,omitzero"`

	// sku is the SKU of the host: Basic (the default) or Standard. It cannot be lowered.
	// +optional
	// +kubebuilder:default=Basic
	Sku BastionHostSkuName `json:"sku,omitempty"`

	// enableTunneling allows connections from native clients such as ssh. It needs the SKU Standard. The default is
	// false.
	// +optional
	// +kubebuilder:default=false
	EnableTunneling bool `json:"enableTunneling,omitempty"`
}

// AzureBastionTemplateSpec describes the Azure Bastion host of clusters that are created from a template.
type AzureBastionTemplateSpec struct {
	// subnet is the subnet of the host.
	// +optional
	Subnet SubnetTemplateSpec `json:"subnet,omitempty,omitzero"`
}
