package v1beta1

// Subnets are the subnets of a virtual network.
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:items:XValidation:rule=`oldSelf.?securityGroup.?name.orValue("") == "" || self.?securityGroup.?name.orValue("") == oldSelf.securityGroup.name`,message="the security group of a subnet cannot change after the subnet was created; add a subnet with another name",fieldPath=".securityGroup.name",reason="FieldValueForbidden"
// +kubebuilder:validation:items:XValidation:rule=`oldSelf.?routeTable.?name.orValue("") == "" || self.?routeTable.?name.orValue("") == oldSelf.routeTable.name`,message="the route table of a subnet cannot change after the subnet was created; add a subnet with another name",fieldPath=".routeTable.name",reason="FieldValueForbidden"
// +kubebuilder:validation:items:XValidation:rule=`oldSelf.?natGateway.?name.orValue("") == "" || self.?natGateway.?name.orValue("") == oldSelf.natGateway.name`,message="the NAT gateway of a subnet cannot change after the subnet was created; add a subnet with another name",fieldPath=".natGateway.name",reason="FieldValueForbidden"
// +kubebuilder:validation:MaxItems=3000
type Subnets []SubnetSpec

// SubnetTemplatesSpec are the subnets of the virtual network of clusters that are created from a template.
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MaxItems=3000
type SubnetTemplatesSpec []SubnetTemplateSpec

// SubnetRole is the purpose of a subnet.
// +kubebuilder:validation:Enum=node;control-plane;bastion;cluster
type SubnetRole string

const (
	// SubnetNode is a subnet for nodes.
	SubnetNode SubnetRole = "node"
	// SubnetControlPlane is a subnet for control-plane machines.
	SubnetControlPlane SubnetRole = "control-plane"
	// SubnetBastion is the subnet of the bastion host.
	SubnetBastion SubnetRole = "bastion"
	// SubnetCluster is a subnet for control-plane machines and nodes.
	SubnetCluster SubnetRole = "cluster"
)

// SubnetClassSpec is the part of a subnet that all clusters of a ClusterClass have in common.
type SubnetClassSpec struct {
	// name is the name of the subnet, at most 80 characters.
	// +required
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:Pattern=`^[-\w._]+$`
	Name string `json:"name"`

	// role is the purpose of the subnet: node, control-plane, bastion, or cluster for control-plane machines and nodes.
	// +required
	Role SubnetRole `json:"role"`

	// cidrBlocks are the address ranges of the subnet, within those of the virtual network. At most 1000.
	// +optional
	// +kubebuilder:validation:items:Format=cidr
	// +kubebuilder:validation:MaxItems=1000
	CIDRBlocks []string `json:"cidrBlocks,omitempty"`

	// serviceEndpoints are the Azure services to which the subnet has a direct route. At most 100.
	// +optional
	ServiceEndpoints ServiceEndpoints `json:"serviceEndpoints,omitempty"`

	// privateEndpoints are the private endpoints in the subnet. At most 1000.
	// +optional
	PrivateEndpoints PrivateEndpoints `json:"privateEndpoints,omitempty"`
}

// SubnetSpec describes a subnet.
type SubnetSpec struct {
	// id is the Azure resource ID of an existing subnet. A subnet with an id gets no default NAT gateway, even if the
	// value is not a valid ID.
	// +optional
	ID string `json:"id,omitempty"`

	// securityGroup is the network security group of the subnet.
	// +optional
	SecurityGroup SecurityGroup `json:"securityGroup,omitempty,omitzero"`

	// routeTable is the route table of the subnet.
	// +optional
	RouteTable RouteTable `json:"routeTable,omitempty,omitzero"`

	// natGateway is the NAT gateway of the subnet.
	// +optional
	NatGateway NatGateway `json:"natGateway,omitempty,omitzero"`

	SubnetClassSpec `json:",inline"`
}

// SubnetTemplateSpec describes a subnet of clusters that are created from a template.
type SubnetTemplateSpec struct {
	SubnetClassSpec `json:",inline"`

	// securityGroup is the network security group of the subnet.
	// +optional
	SecurityGroup SecurityGroupClass `json:"securityGroup,omitempty,omitzero"`

	// natGateway is the NAT gateway of the subnet.
	// +optional
	NatGateway NatGatewayClassSpec `json:"natGateway,omitempty,omitzero"`
}

// RouteTable identifies a route table.
type RouteTable struct {
	// id is the Azure resource ID of an existing route table. It has to match the name of the route table.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the route table, at most 80 characters. The default is derived from the name of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Name string `json:"name"`
}

// NatGatewayClassSpec is the part of a NAT gateway that all clusters of a ClusterClass have in common.
type NatGatewayClassSpec struct {
	// name is the name of the NAT gateway, at most 80 characters. The default is derived from the name of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Name string `json:"name"`
}

// NatGateway describes a NAT gateway.
type NatGateway struct {
	// id is the Azure resource ID of an existing NAT gateway. It has to match the name of the NAT gateway.
	// +optional
	ID string `json:"id,omitempty"`

	// ip is the public IP address of the NAT gateway.
	// +optional
	NatGatewayIP PublicIPSpec `json:"ip,omitempty,omitzero"`

	// zones has the availability zone of the NAT gateway, for example ["1"]. Azure allows one zone.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	Zones []string `json:"zones,omitempty"`

	NatGatewayClassSpec `json:",inline"`
}

// ServiceEndpoints are the service endpoints of a subnet.
// +listType=map
// +listMapKey=service
// +kubebuilder:validation:MaxItems=100
type ServiceEndpoints []ServiceEndpointSpec

// ServiceEndpointSpec describes a virtual network service endpoint.
type ServiceEndpointSpec struct {
	// service is the name of the Azure service, for example Microsoft.Storage.
	// +required
	Service string `json:"service"`

	// locations are the Azure regions of the service, or "*" for all. At most 100.
	// +required
	// +kubebuilder:validation:MaxItems=100
	Locations []string `json:"locations"`
}

// PrivateEndpoints are the private endpoints of a subnet.
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MaxItems=1000
type PrivateEndpoints []PrivateEndpointSpec

// PrivateEndpointSpec describes a private endpoint.
type PrivateEndpointSpec struct {
	// name is the name of the private endpoint.
	// +required
	// +kubebuilder:validation:Pattern=`^[-\w._]+$`
	Name string `json:"name"`

	// location is the Azure region of the private endpoint. The default is the location of the cluster.
	// +optional
	Location string `json:"location,omitempty"`

	// privateLinkServiceConnections are the services to which the endpoint connects. At most 100.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	PrivateLinkServiceConnections []PrivateLinkServiceConnection `json:"privateLinkServiceConnections,omitempty"`

	// customNetworkInterfaceName is the name of the endpoint's network interface. By default Azure generates one.
	// +optional
	CustomNetworkInterfaceName string `json:"customNetworkInterfaceName,omitempty"`

	// privateIPAddresses are static IP addresses of the endpoint, within the range of the subnet. By default Azure
	// assigns them. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	PrivateIPAddresses []string `json:"privateIPAddresses,omitempty"`

	// applicationSecurityGroups are the Azure resource IDs of the application security groups of the endpoint. At most
	// 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ApplicationSecurityGroups []string `json:"applicationSecurityGroups,omitempty"`

	// manualApproval requires the owner of the service to approve the connection. The default is false.
	// +optional
	ManualApproval bool `json:"manualApproval,omitempty"`
}

// PrivateLinkServiceConnection describes the connection of a private endpoint to a service.
type PrivateLinkServiceConnection struct {
	// name is the name of the connection.
	// +optional
	// +kubebuilder:validation:Pattern=`^[-\w._]*$`
	Name string `json:"name,omitempty"`

	// privateLinkServiceID is the Azure resource ID of the service.
	// +required
	// +kubebuilder:validation:Pattern=`(?i)subscriptions/.+/resourceGroups/.+/providers/.+/.+/.+`
	PrivateLinkServiceID string `json:"privateLinkServiceID,omitempty"`

	// groupIDs are the sub-resources of the service to connect to, for example blob of a storage account. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	GroupIDs []string `json:"groupIDs,omitempty"`

	// requestMessage is a text for the owner of the service, who has to approve the connection, at most 140 characters.
	// +optional
	// +kubebuilder:validation:MaxLength=140
	RequestMessage string `json:"requestMessage,omitempty"`
}
