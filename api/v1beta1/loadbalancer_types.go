package v1beta1

// LBType is Public for a load balancer with public addresses, or Internal for one with private addresses.
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

// SKUStandard is the only supported SKU of load balancers.
const SKUStandard SKU = "Standard"

// LoadBalancerClassSpec is the part of a load balancer that all clusters of a ClusterClass have in common.
type LoadBalancerClassSpec struct {
	// sku is the SKU of the load balancer. Only Standard is supported.
	// +optional
	SKU SKU `json:"sku,omitempty"`

	// type is Public or Internal. It cannot change.
	// +optional
	Type LBType `json:"type,omitempty"`

	// idleTimeoutInMinutes is the time in minutes after which an idle TCP connection is closed: 4 to 30, or up to 120
	// for outbound connections of nodes without IPv6. It cannot change.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=120
	IdleTimeoutInMinutes *int32 `json:"idleTimeoutInMinutes,omitempty"`
}

// LoadBalancerSpec describes a load balancer.
type LoadBalancerSpec struct {
	// id is the Azure resource ID of the load balancer. It has to match the name of the load balancer and the resource
	// group of the cluster.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the load balancer.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[-\w._]*$`
	Name string `json:"name,omitempty"`

	// frontendIPs are the frontend IP configurations, at most 600. The API server load balancer has exactly one.
	// +optional
	// +kubebuilder:validation:MaxItems=600
	FrontendIPs []FrontendIP `json:"frontendIPs,omitempty"`

	// frontendIPsCount is the number of frontends of an outbound load balancer, 0 to 600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	FrontendIPsCount *int32 `json:"frontendIPsCount,omitempty"`

	// backendPool is the backend pool with the VMs behind the load balancer.
	// +optional
	BackendPool BackendPool `json:"backendPool,omitempty,omitzero"`

	// availabilityZones are the availability zones of an internal load balancer's frontend, or of the public IP
	// addresses of a public one. The default is all zones of the region for public addresses, and no zone for internal
	// frontends. At most 3. It cannot change.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:Pattern=`^[1-3]$`
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	LoadBalancerClassSpec `json:",inline"`
}

// FrontendIPClass is the part of a frontend that all clusters of a ClusterClass have in common.
type FrontendIPClass struct {
	// privateIP is the private IP address of an internal frontend, within the range of its subnet.
	// +optional
	PrivateIPAddress string `json:"privateIP,omitempty"`
}

// FrontendIP describes a frontend IP configuration of a load balancer.
type FrontendIP struct {
	// name is the name of the frontend.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// publicIP is the public IP address of a public frontend.
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

// LoadBalancerPort describes an additional port of the API server load balancer.
type LoadBalancerPort struct {
	// name is the name of the load-balancing rule.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// port is the TCP port of the frontend and of the control-plane machines, 1 to 65534.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65534
	Port int32 `json:"port"`
}
