package v1beta1

// NetworkPluginMode is the way in which the network plugin azure assigns addresses to pods.
// +kubebuilder:validation:Enum=overlay
type NetworkPluginMode string

// NetworkPluginModeOverlay assigns addresses of a separate range to pods.
const NetworkPluginModeOverlay NetworkPluginMode = "overlay"

// NetworkDataplaneType is the technology that forwards the traffic of pods.
// +kubebuilder:validation:Enum=azure;cilium
type NetworkDataplaneType string

const (
	// NetworkDataplaneTypeAzure is Azure's data plane.
	NetworkDataplaneTypeAzure NetworkDataplaneType = "azure"
	// NetworkDataplaneTypeCilium is Azure CNI Powered by Cilium.
	NetworkDataplaneTypeCilium NetworkDataplaneType = "cilium"
)

// Values of networkPlugin and networkPolicy.
const (
	// AzureNetworkPlugin is Azure CNI.
	AzureNetworkPlugin = "azure"
	// KubenetNetworkPlugin is kubenet.
	KubenetNetworkPlugin = "kubenet"
	// NoNetworkPlugin installs no network plugin. Users install one.
	NoNetworkPlugin = "none"
	// CiliumNetworkPolicy enforces network policies with Cilium.
	CiliumNetworkPolicy = "cilium"
)

// Values of loadBalancerSKU.
const (
	// ManagedLoadBalancerSKUStandard is the Standard SKU.
	ManagedLoadBalancerSKUStandard = "Standard"
	// ManagedLoadBalancerSKUBasic is the Basic SKU, which AKS has retired.
	ManagedLoadBalancerSKUBasic = "Basic"
)

// ManagedControlPlaneOutboundType is the way in which nodes connect to the internet.
// +kubebuilder:validation:Enum=loadBalancer;managedNATGateway;userAssignedNATGateway;userDefinedRouting
type ManagedControlPlaneOutboundType string

const (
	// ManagedControlPlaneOutboundTypeLoadBalancer is a load balancer that AKS creates.
	ManagedControlPlaneOutboundTypeLoadBalancer ManagedControlPlaneOutboundType = "loadBalancer"
	// ManagedControlPlaneOutboundTypeManagedNATGateway is a NAT gateway that AKS creates.
	ManagedControlPlaneOutboundTypeManagedNATGateway ManagedControlPlaneOutboundType = "managedNATGateway"
	// ManagedControlPlaneOutboundTypeUserAssignedNATGateway is a NAT gateway that users created and attached to the
	// subnet.
	ManagedControlPlaneOutboundTypeUserAssignedNATGateway ManagedControlPlaneOutboundType = "userAssignedNATGateway"
	// ManagedControlPlaneOutboundTypeUserDefinedRouting is a route in a route table that users attached to the subnet.
	ManagedControlPlaneOutboundTypeUserDefinedRouting ManagedControlPlaneOutboundType = "userDefinedRouting"
)

// ManagedControlPlaneVirtualNetwork describes the virtual network of an AKS cluster.
type ManagedControlPlaneVirtualNetwork struct {
	// name is the name of the virtual network. The default is the name of the AzureManagedControlPlane. An existing
	// virtual network is used and not changed.
	// +optional
	Name string `json:"name"`

	// resourceGroup is the name of the resource group of the virtual network. The default is the resource group of the
	// cluster.
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// cidrBlock is the address range of the virtual network. The default is 10.0.0.0/8.
	// +required
	// +kubebuilder:default="10.0.0.0/8"
	CIDRBlock string `json:"cidrBlock"`

	// subnet is the subnet of the nodes.
	// +optional
	Subnet ManagedControlPlaneSubnet `json:"subnet,omitempty,omitzero"`
}

// ManagedControlPlaneSubnet describes the subnet of an AKS cluster.
type ManagedControlPlaneSubnet struct {
	// name is the name of the subnet. The default is the name of the AzureManagedControlPlane.
	// +optional
	Name string `json:"name"`

	// cidrBlock is the address range of the subnet, within that of the virtual network. The default is 10.240.0.0/16.
	// +required
	// +kubebuilder:default="10.240.0.0/16"
	CIDRBlock string `json:"cidrBlock"`

	// serviceEndpoints are the virtual network service endpoints of the subnet. At most 100.
	// +optional
	ServiceEndpoints ServiceEndpoints `json:"serviceEndpoints,omitempty"`

	// privateEndpoints are the private endpoints in the subnet. At most 1000.
	// +optional
	PrivateEndpoints PrivateEndpoints `json:"privateEndpoints,omitempty"`
}

// LoadBalancerProfile describes the load balancer for outbound connections of an AKS cluster. At most one of
// managedOutboundIPs, outboundIPPrefixes and outboundIPs may be set.
type LoadBalancerProfile struct {
	// managedOutboundIPs is the number of public IP addresses that AKS creates, 1 to 100. The default is AKS's: 1.
	// +optional
	// +kubebuilder:validation:Maximum=100
	ManagedOutboundIPs *int `json:"managedOutboundIPs,omitempty"`

	// outboundIPPrefixes are the Azure resource IDs of public IP prefixes to use. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	OutboundIPPrefixes []string `json:"outboundIPPrefixes,omitempty"`

	// outboundIPs are the Azure resource IDs of public IP addresses to use. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	OutboundIPs []string `json:"outboundIPs,omitempty"`

	// allocatedOutboundPorts is the number of SNAT ports of each node, 0 to 64000. With 0, the default, Azure chooses
	// the number.
	// +optional
	// +kubebuilder:validation:Maximum=64000
	AllocatedOutboundPorts *int `json:"allocatedOutboundPorts,omitempty"`

	// idleTimeoutInMinutes is the time in minutes after which an idle outbound connection is closed, 4 to 120. The
	// default is AKS's: 30.
	// +optional
	// +kubebuilder:validation:Maximum=120
	IdleTimeoutInMinutes *int `json:"idleTimeoutInMinutes,omitempty"`
}

// APIServerAccessProfile restricts access to the API server of an AKS cluster.
type APIServerAccessProfile struct {
	// authorizedIPRanges are the address ranges from which a public API server accepts connections, for example
	// 203.0.113.0/24. By default it accepts connections from all addresses. At most 2000.
	// +optional
	// +kubebuilder:validation:MaxItems=2000
	AuthorizedIPRanges []string `json:"authorizedIPRanges,omitempty"`

	// enablePrivateCluster gives the API server a private address in the virtual network and no public one. The default
	// is false. It cannot change.
	// +optional
	EnablePrivateCluster *bool `json:"enablePrivateCluster,omitempty"`

	// privateDNSZone is the private DNS zone of a private cluster: System for a zone that AKS creates (the default),
	// None for no zone, or the Azure resource ID of an existing zone.
	// +optional
	PrivateDNSZone *string `json:"privateDNSZone,omitempty"`

	// enablePrivateClusterPublicFQDN gives the API server of a private cluster a public DNS name as well, which
	// resolves to its private address.
	// +optional
	EnablePrivateClusterPublicFQDN *bool `json:"enablePrivateClusterPublicFQDN,omitempty"`
}

// HTTPProxyConfig has the HTTP proxy settings of the nodes of an AKS cluster.
type HTTPProxyConfig struct {
	// httpProxy is the URL of the proxy for HTTP connections.
	// +optional
	HTTPProxy *string `json:"httpProxy,omitempty"`

	// httpsProxy is the URL of the proxy for HTTPS connections.
	// +optional
	HTTPSProxy *string `json:"httpsProxy,omitempty"`

	// noProxy lists the host names, domains and address ranges to which nodes connect without the proxy. At most 1000.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	NoProxy []string `json:"noProxy,omitempty"`

	// trustedCa is a CA certificate that the nodes trust, in base64.
	// +optional
	TrustedCA *string `json:"trustedCa,omitempty"`
}
