package plan

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/inventory"
)

// ClusterInput is what the plan of an AzureCluster is computed from. The objects are copies, defaulted as the webhook
// defaults them; a plan does not change them.
type ClusterInput struct {
	Cluster      *clusterv1.Cluster
	AzureCluster *infrav1.AzureCluster

	// SubscriptionID is the subscription the cluster lives in: spec.subscriptionID or what the manager falls back to.
	SubscriptionID string

	// ControlPlaneSize is the VM size that the control plane's machine template has; "" when no template tells.
	ControlPlaneSize string

	Features Features
	Facts    ClusterFacts
}

// Features are the feature gates that plans know.
type Features struct {
	// EdgeZone allows spec.extendedLocation.
	EdgeZone bool
	// APIServerILB puts an internal load balancer beside the public one of the API server.
	APIServerILB bool
	// MachinePool is Cluster API's gate; azure.json says enableVmssFlexNodes when it is on.
	MachinePool bool
	// ASOAPI has the AzureASOManaged kinds reconciled.
	ASOAPI bool
}

// ClusterFacts are answers of Azure that the plan of a cluster depends on.
type ClusterFacts struct {
	// Zones are the availability zones that any VM size of the region can be created in, sorted; empty where the region
	// has none.
	Zones []string

	// ControlPlaneZones are those of Zones in which ControlPlaneSize can be created, sorted; empty when it is not known or
	// in none.
	ControlPlaneZones []string

	// ZonesPending tells that Zones are not known yet. What depends on them is planned as blocked. ZonesError is why they could not
	// be looked up the last time, nil for the first.
	ZonesPending bool
	ZonesError   error

	// VNet is the virtual network as it is now.
	VNet VNetFact

	// InternalFrontends are the names of the frontends that the internal load balancer beside the public one of the API
	// server has now, by NormalizeAddress of their address. They are asked for with the feature gate APIServerILB only.
	InternalFrontends map[string]string
}

// VNetFact describes an existing virtual network.
type VNetFact struct {
	Exists bool
	// Owned tells whether the network carries the cluster's ownership tag; false for one that users brought.
	Owned bool
	// Location is the region of the network as NormalizeRegion writes it.
	Location string
	// AddressPrefixes are the CIDR blocks of the network.
	AddressPrefixes []string
	// Subnets are the CIDR blocks of the subnets by the lower-case name of the subnet.
	Subnets map[string][]string
}

// IsForeign tells whether the network exists and is not the cluster's: its subnets, security groups and route tables are
// then the user's business.
func (f VNetFact) IsForeign() bool { return f.Exists && !f.Owned }

// IsInOtherRegion tells whether users brought the network from another region than this one, which is as NormalizeRegion writes
// it. Azure answers InvalidResourceReference to whatever is to be made in a network of another region.
func (f VNetFact) IsInOtherRegion(location string) bool {
	return f.IsForeign() && f.Location != "" && f.Location != location
}

// BYOSubnetPrefixes are the CIDR blocks of a subnet that came with a network that users brought; ok is false when it is not there, or is
// one that was made in their network for the object whose inventory this is.
func (f VNetFact) BYOSubnetPrefixes(subnet arm.ID, made inventory.List) (prefixes []string, ok bool) {
	if !f.IsForeign() || made.HasCreated(subnet) {
		return nil, false
	}
	prefixes, ok = f.Subnets[strings.ToLower(subnet.Name())]
	return prefixes, ok
}

// MachineInput is what the plan of an AzureMachine is computed from.
type MachineInput struct {
	ClusterInput

	Machine      *clusterv1.Machine
	AzureMachine *infrav1.AzureMachine

	// ControlPlane tells whether the machine is a control-plane machine.
	ControlPlane bool

	// BootstrapData is the content of the bootstrap data secret's key "value". It is nil when the secret is not there;
	// the VM is then planned only if it exists already.
	BootstrapData []byte

	// AdminPassword is the password of the account of a Windows VM, which the plan cannot make up. It is needed only to
	// create one, and nobody is told it: cloudbase-init sets its own.
	AdminPassword string

	MachineFacts MachineFacts
}

// MachineFacts are answers of Azure that the plan of a machine depends on.
type MachineFacts struct {
	// VMSize is the size's row in the SKU catalog of the region; nil when the catalog does not have it.
	VMSize *VMSize

	// NearestVMSizes are the catalog's names most like that of a size it does not have, best first, for the message.
	NearestVMSizes []string

	// MaximumPlatformFaultDomainCount is the capability of the SKU "Aligned" of availability sets; 0 when unknown.
	MaximumPlatformFaultDomainCount int32

	// SSHNATPort is the front-end port of the machine's inbound NAT rule on the API server load balancer: the port it has,
	// or one that no other machine has or has reserved. 0 when the machine has no such rule or no port is free.
	SSHNATPort int32

	// VMExists tells whether the VM exists.
	VMExists bool

	// PowerState is what Azure says of an existing VM, in lower case: starting, running, stopping, stopped, deallocating or
	// deallocated. "" is not known: lists of VMs do not show it, and it is asked for by itself only for spot VMs, which
	// Azure takes back by deallocating them, and for VMs that were stopped when they were last looked at.
	PowerState string

	// AvailabilitySetEmpty tells that no other machine's VM is in the machine's availability set, so that deleting the
	// machine may delete the set; false when not asked.
	AvailabilitySetEmpty bool

	// PrincipalID is the principal of the VM's system-assigned identity, "" until the VM has one.
	PrincipalID string

	// AddressDetached tells that the first interface of a control-plane machine that was taken over exists without a public
	// address: the established provider made the address and never attached it. False when not asked.
	AddressDetached bool

	// VNet is the virtual network as it is now. Of one that users brought, the spec may not know the ranges of subnets.
	VNet VNetFact
}

// VMSize is what the SKU catalog says about a VM size in one region.
type VMSize struct {
	Name string
	// VCPUs is the number of virtual processors.
	VCPUs int
	// MemoryGB is the memory in gibibytes, as the catalog writes it.
	MemoryGB float64
	// Zones are the zones of the region that the subscription can create the size in, sorted.
	Zones []string
	// RestrictionReason says why the subscription cannot create the size in the region at all, with Azure's reason code; "" when
	// it can.
	RestrictionReason string
	// Capabilities are the capabilities by name, with the catalog's values: "True", "False" or a number.
	Capabilities map[string]string
	// ZoneCapabilities are the further capabilities by zone, as UltraSSDAvailable has them.
	ZoneCapabilities map[string]map[string]string
}

// HasCapability tells whether the capability is "True".
func (s *VMSize) HasCapability(capability string) bool {
	return s != nil && s.Capabilities[capability] == "True"
}
