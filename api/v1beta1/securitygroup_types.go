package v1beta1

// SecurityGroupClass is the part of a network security group that clusters of one class share.
type SecurityGroupClass struct {
	// securityRules are the rules of the group. Rules that others add in Azure are left alone.
	// +optional
	SecurityRules SecurityRules `json:"securityRules,omitempty"`

	// tags are tags of the group, beside those that the provider sets.
	// +optional
	Tags Tags `json:"tags,omitempty"`
}

// SecurityGroup describes a network security group.
type SecurityGroup struct {
	// id is the Azure resource ID of an existing security group.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the security group. The default follows from the name of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Name string `json:"name"`

	SecurityGroupClass `json:",inline"`
}

// SecurityRules are the rules of a network security group.
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MaxItems=1000
type SecurityRules []SecurityRule

// SecurityGroupProtocol is the protocol of a security rule.
// +kubebuilder:validation:Enum=Tcp;Udp;Icmp;*
type SecurityGroupProtocol string

const (
	// SecurityGroupProtocolAll matches every protocol.
	SecurityGroupProtocolAll SecurityGroupProtocol = "*"
	// SecurityGroupProtocolTCP matches TCP.
	SecurityGroupProtocolTCP SecurityGroupProtocol = "Tcp"
	// SecurityGroupProtocolUDP matches UDP.
	SecurityGroupProtocolUDP SecurityGroupProtocol = "Udp"
	// SecurityGroupProtocolICMP matches ICMP.
	SecurityGroupProtocolICMP SecurityGroupProtocol = "Icmp"
)

// SecurityRuleDirection is the direction of the traffic that a security rule is about.
// +kubebuilder:validation:Enum=Inbound;Outbound
type SecurityRuleDirection string

const (
	// SecurityRuleDirectionInbound is traffic to the machines.
	SecurityRuleDirectionInbound SecurityRuleDirection = "Inbound"
	// SecurityRuleDirectionOutbound is traffic from the machines.
	SecurityRuleDirectionOutbound SecurityRuleDirection = "Outbound"
)

// SecurityRuleAccess tells what a security rule does.
// +kubebuilder:validation:Enum=Allow;Deny
type SecurityRuleAccess string

const (
	// SecurityRuleActionAllow lets traffic through.
	SecurityRuleActionAllow SecurityRuleAccess = "Allow"
	// SecurityRuleActionDeny drops traffic.
	SecurityRuleActionDeny SecurityRuleAccess = "Deny"
)

// SecurityRule describes a security rule.
type SecurityRule struct {
	// name is the name of the rule.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// description says what the rule is for.
	// +required
	Description string `json:"description"`

	// protocol is the protocol that the rule matches.
	// +required
	Protocol SecurityGroupProtocol `json:"protocol"`

	// direction is the direction that the rule matches. The default is Inbound.
	// +optional
	Direction SecurityRuleDirection `json:"direction"`

	// priority orders the rules of a group, 100 to 4096; the lowest number comes first.
	// +required
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=4096
	Priority int32 `json:"priority,omitempty"`

	// sourcePorts is the source port, range of ports, or "*".
	// +optional
	SourcePorts *string `json:"sourcePorts,omitempty"`

	// destinationPorts is the destination port, range of ports, or "*".
	// +optional
	DestinationPorts *string `json:"destinationPorts,omitempty"`

	// source is the source address range, service tag, or "*".
	// +optional
	Source *string `json:"source,omitempty"`

	// sources are several source address ranges or service tags, in place of source.
	// Azure takes 4000 for a group.
	// +optional
	// +kubebuilder:validation:MaxItems=4000
	Sources []*string `json:"sources,omitempty"`

	// destination is the destination address range, service tag, or "*".
	// +optional
	Destination *string `json:"destination,omitempty"`

	// action is what happens to traffic that the rule matches.
	// +optional
	// +kubebuilder:default=Allow
	Action SecurityRuleAccess `json:"action,omitempty"`
}
