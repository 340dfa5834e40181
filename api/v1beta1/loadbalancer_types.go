package v1beta1

// LBType tells whether a load balancer has public or private addresses.
// +kubebuilder:validation:Enum=Public;Internal
type LBType string

const (
	// Internal is a load balancer with private addresses.
	Internal LBType = "Internal"
	// Public is a load balancer with public addresses.
	Public LBType = "Public"
)

// SKU is the SKU of a load balancer.
// +kubebuilder:validation:Enum=Standard
type SKU string

// SKUStandard is the only SKU of load balancers that is supported.
const SKUStandard SKU = "Standard"

// LoadBalancerClassSpec is the part of a load balancer that clusters of one class share.
type LoadBalancerClassSpec struct {
	// sku is the SKU of the load balancer: Standard.
	// +optional
	SKU SKU `json:"sku,omitempty"`

	// type is Public or Internal.
	// +optional
	Type LBType `json:"type,omitempty"`

	// idleTimeoutInMinutes is how long an idle TCP connection is kept: 4 to 30 minutes, and up to 120 for outbound
	// connections of nodes without IPv6.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=120
	IdleTimeoutInMinutes *int32 `json:"idleTimeoutInMinutes,omitempty"`
}

// LoadBalancerSpec describes a load balancer.
type LoadBalancerSpec struct {
	// id is the Azure resource ID of the load balancer.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the load balancer.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[-\w._]*$`
	Name string `json:"name,omitempty"`

	// frontendIPs are the frontend IP configurations.
	// Azure takes 600 for a load balancer.
	// +optional
	// +kubebuilder:validation:MaxItems=600
	FrontendIPs []FrontendIP `json:"frontendIPs,omitempty"`

	// frontendIPsCount is the number of frontends of an outbound load balancer. A load balancer has at most 600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	FrontendIPsCount *int32 `json:"frontendIPsCount,omitempty"`

	// backendPool is the backend pool.
	// +optional
	BackendPool BackendPool `json:"backendPool,omitempty,omitzero"`

	// availabilityZones are the zones of an internal load balancer's frontend and of the public IP addresses of a public
	// one. The default is every zone of the region for public addresses and none for internal frontends.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Pattern=`^[1-3]$`
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	LoadBalancerClassSpec `json:",inline"`
}

// FrontendIPClass is the part of a frontend that clusters of one class share.
type FrontendIPClass struct {
	// privateIP is the private address of an internal frontend.
	// +optional
	PrivateIPAddress string `json:"privateIP,omitempty"`
}

// FrontendIP describes a frontend IP configuration of a load balancer.
type FrontendIP struct {
	// name is the name of the frontend.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// publicIP is the public address of a public frontend.
	// +optional
	PublicIP *PublicIPSpec `json:"publicIP,omitempty"`

	FrontendIPClass `json:",inline"`
}

// BackendPool describes a backend pool of a load balancer.
type BackendPool struct {
	// name is the name of the pool.
	// +optional
	Name string `json:"name,omitempty"`
}

// LoadBalancerPort describes a further port of the API server load balancer.
type LoadBalancerPort struct {
	// name is the name of the load-balancing rule.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// port is the port of the frontend and of the machines.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65534
	Port int32 `json:"port"`
}
