package v1beta1

// NetworkPluginMode is how the network plugin azure gives pods their addresses.
// +kubebuilder:validation:Enum=overlay
type NetworkPluginMode string

// NetworkPluginModeOverlay gives pods addresses from a range of their own.
const NetworkPluginModeOverlay NetworkPluginMode = "overlay"

// NetworkDataplaneType is what forwards the traffic of pods.
// +kubebuilder:validation:Enum=azure;cilium
type NetworkDataplaneType string

const (
	// NetworkDataplaneTypeAzure is Azure's own.
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
	// NoNetworkPlugin leaves the network plugin to the user.
	NoNetworkPlugin = "none"
	// CiliumNetworkPolicy has Cilium enforce network policies.
	CiliumNetworkPolicy = "cilium"
)

// Values of loadBalancerSKU.
const (
	// ManagedLoadBalancerSKUStandard is the Standard SKU.
	ManagedLoadBalancerSKUStandard = "Standard"
	// ManagedLoadBalancerSKUBasic is the Basic SKU, which AKS has retired.
	ManagedLoadBalancerSKUBasic = "Basic"
)

// ManagedControlPlaneOutboundType is how nodes reach the internet.
// +kubebuilder:validation:Enum=loadBalancer;managedNATGateway;userAssignedNATGateway;userDefinedRouting
type ManagedControlPlaneOutboundType string

const (
	// ManagedControlPlaneOutboundTypeLoadBalancer is a load balancer that AKS makes.
	ManagedControlPlaneOutboundTypeLoadBalancer ManagedControlPlaneOutboundType = "loadBalancer"
	// ManagedControlPlaneOutboundTypeManagedNATGateway is a NAT gateway that AKS makes.
	ManagedControlPlaneOutboundTypeManagedNATGateway ManagedControlPlaneOutboundType = "managedNATGateway"
	// ManagedControlPlaneOutboundTypeUserAssignedNATGateway is a NAT gateway that the user has put on the subnet.
	ManagedControlPlaneOutboundTypeUserAssignedNATGateway ManagedControlPlaneOutboundType = "userAssignedNATGateway"
	// ManagedControlPlaneOutboundTypeUserDefinedRouting is a route that the user has put on the subnet.
	ManagedControlPlaneOutboundTypeUserDefinedRouting ManagedControlPlaneOutboundType = "userDefinedRouting"
)

// ManagedControlPlaneVirtualNetwork describes the virtual network of an AKS cluster.
type ManagedControlPlaneVirtualNetwork struct {
	// name is the name of the virtual network. The default is the name of the AzureManagedControlPlane.
	// +optional
	Name string `json:"name"`

	// resourceGroup is the resource group of the virtual network. The default is the cluster's.
	// +optional
	ResourceGroup string `json:"resourceGroup,omitempty"`

	// cidrBlock is the address range of the virtual network.
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

	// cidrBlock is the address range of the subnet.
	// +required
	// +kubebuilder:default="10.240.0.0/16"
	CIDRBlock string `json:"cidrBlock"`

	// serviceEndpoints are the virtual network service endpoints of the subnet.
	// +optional
	ServiceEndpoints ServiceEndpoints `json:"serviceEndpoints,omitempty"`

	// privateEndpoints are the private endpoints in the subnet.
	// +optional
	PrivateEndpoints PrivateEndpoints `json:"privateEndpoints,omitempty"`
}

// LoadBalancerProfile describes an AKS cluster's load balancer for outbound connections. At most one of
// managedOutboundIPs, outboundIPPrefixes and outboundIPs is given.
type LoadBalancerProfile struct {
	// managedOutboundIPs is the number of public IP addresses that AKS makes, 1 to 100.
	// +optional
	// +kubebuilder:validation:Maximum=100
	ManagedOutboundIPs *int `json:"managedOutboundIPs,omitempty"`

	// outboundIPPrefixes are the Azure resource IDs of public IP prefixes to use.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	OutboundIPPrefixes []string `json:"outboundIPPrefixes,omitempty"`

	// outboundIPs are the Azure resource IDs of public IP addresses to use.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	OutboundIPs []string `json:"outboundIPs,omitempty"`

	// allocatedOutboundPorts is the number of SNAT ports of each node, 0 to 64000. Azure chooses with 0, the default.
	// +optional
	// +kubebuilder:validation:Maximum=64000
	AllocatedOutboundPorts *int `json:"allocatedOutboundPorts,omitempty"`

	// idleTimeoutInMinutes is how long an idle outbound connection is kept, 4 to 120. The default is AKS's: 30.
	// +optional
	// +kubebuilder:validation:Maximum=120
	IdleTimeoutInMinutes *int `json:"idleTimeoutInMinutes,omitempty"`
}

// APIServerAccessProfile tells who reaches the API server of an AKS cluster.
type APIServerAccessProfile struct {
	// authorizedIPRanges are the address ranges that reach a public API server, for example 203.0.113.0/24. The default is
	// everybody.
	// +optional
	// +kubebuilder:validation:MaxItems=2000
	AuthorizedIPRanges []string `json:"authorizedIPRanges,omitempty"`

	// enablePrivateCluster gives the API server an address in the virtual network only.
	// +optional
	EnablePrivateCluster *bool `json:"enablePrivateCluster,omitempty"`

	// privateDNSZone is who looks after the private DNS zone of a private cluster: System (AKS, the default), None, or the
	// Azure resource ID of a zone to use.
	// +optional
	PrivateDNSZone *string `json:"privateDNSZone,omitempty"`

	// enablePrivateClusterPublicFQDN gives the API server of a private cluster a public DNS name as well.
	// +optional
	EnablePrivateClusterPublicFQDN *bool `json:"enablePrivateClusterPublicFQDN,omitempty"`
}

// HTTPProxyConfig is the HTTP proxy of the nodes of an AKS cluster.
type HTTPProxyConfig struct {
	// httpProxy is the proxy for HTTP.
	// +optional
	HTTPProxy *string `json:"httpProxy,omitempty"`

	// httpsProxy is the proxy for HTTPS.
	// +optional
	HTTPSProxy *string `json:"httpsProxy,omitempty"`

	// noProxy are the destinations to reach without the proxy.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	NoProxy []string `json:"noProxy,omitempty"`

	// trustedCa is a CA certificate to trust, in base64.
	// +optional
	TrustedCA *string `json:"trustedCa,omitempty"`
}
