package v1beta1

// SecurityGroupClass is the part of a network security group that all clusters of a ClusterClass have in common.
type SecurityGroupClass struct {
	// securityRules are the rules of the group, at most 1000. The provider does not change or delete rules that other
	// programs or users add in Azure.
	// +optional
	SecurityRules SecurityRules `json:"securityRules,omitempty"`

	// tags are tags of the group, in addition to those that the provider sets.
	// +optional
	Tags Tags `json:"tags,omitempty"`
}

// SecurityGroup describes a network security group.
type SecurityGroup struct {
	// id is the Azure resource ID of an existing security group. It has to match the name of the group.
	// +optional
	ID string `json:"id,omitempty"`

	// name is the name of the security group. The default is derived from the name of the cluster.
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

// SecurityRuleDirection is the direction of the traffic that a security rule matches.
// +kubebuilder:validation:Enum=Inbound;Outbound
type SecurityRuleDirection string

const (
	// SecurityRuleDirectionInbound is traffic to the machines.
	SecurityRuleDirectionInbound SecurityRuleDirection = "Inbound"
	// SecurityRuleDirectionOutbound is traffic from the machines.
	SecurityRuleDirectionOutbound SecurityRuleDirection = "Outbound"
)

// SecurityRuleAccess is the action of a security rule.
// +kubebuilder:validation:Enum=Allow;Deny
type SecurityRuleAccess string

const (
	// SecurityRuleActionAllow allows traffic.
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

	// description explains the purpose of the rule.
	// +required
	Description string `json:"description"`

	// protocol is the protocol that the rule matches: Tcp, Udp, Icmp, or * for all.
	// +required
	Protocol SecurityGroupProtocol `json:"protocol"`

	// direction is the direction of the traffic that the rule matches: Inbound (the default) or Outbound.
	// +optional
	Direction SecurityRuleDirection `json:"direction"`

	// priority is the position of the rule among the rules of the group, 100 to 4096. Azure applies the rule with the
	// lowest number first. Rules of one direction need different priorities.
	// +required
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=4096
	Priority int32 `json:"priority,omitempty"`

	// sourcePorts is the source port, a range of ports such as 1000-2000, or * for all.
	// +optional
	SourcePorts *string `json:"sourcePorts,omitempty"`

	// destinationPorts is the destination port, a range of ports such as 1000-2000, or * for all.
	// +optional
	DestinationPorts *string `json:"destinationPorts,omitempty"`

	// source is the source address range, a service tag, or * for all. It excludes sources.
	// +optional
	Source *string `json:"source,omitempty"`

	// sources are several source address ranges or service tags, at most 4000. It excludes source.
	// +optional
	// +kubebuilder:validation:MaxItems=4000
	Sources []*string `json:"sources,omitempty"`

	// destination is the destination address range, a service tag, or * for all.
	// +optional
	Destination *string `json:"destination,omitempty"`

	// action is Allow (the default) or Deny.
	// +optional
	// +kubebuilder:default=Allow
	Action SecurityRuleAccess `json:"action,omitempty"`
}
