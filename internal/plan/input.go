package plan

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// ClusterInput is the input of the plan of an AzureCluster. The objects are copies with defaults filled in. Plans do not
// change them.
type ClusterInput struct {
	Cluster      *clusterv1.Cluster
	AzureCluster *infrav1.AzureCluster

	// SubscriptionID is the subscription of the cluster: spec.subscriptionID, or the manager's default.
	SubscriptionID string

	// ControlPlaneSize is the VM size in the control plane's machine template; "" if it is unknown.
	ControlPlaneSize string

	Features Features
	Facts    ClusterFacts
}

// Features are the feature gates that change plans.
type Features struct {
	// EdgeZone allows spec.extendedLocation.
	EdgeZone bool
	// APIServerILB puts an internal load balancer beside the public one of the API server.
	APIServerILB bool
	// MachinePool is Cluster API's gate. It sets enableVmssFlexNodes in azure.json.
	MachinePool bool
	// ASOAPI reconciles the AzureASOManaged kinds.
	ASOAPI bool
	// UncheckedASOKinds are the kinds of resource manifests that are sent to Azure without a definition, as values of the manager's flag.
	UncheckedASOKinds []string
}

// ClusterFacts are answers of Azure that the plan of a cluster depends on.
type ClusterFacts struct {
	// Zones are the availability zones of the region in which at least one VM size can be created, sorted. It is empty if
	// the region has no zones.
	Zones []string

	// ControlPlaneZones are the Zones in which ControlPlaneSize can be created, sorted. It is empty if that is unknown, or
	// if there are none.
	ControlPlaneZones []string

	// ZonesPending means that Zones are not known yet. Resources that depend on them are planned as blocked. ZonesError is
	// the error of the last look-up, nil before the first one ended.
	ZonesPending bool
	ZonesError   error

	// VNet is the virtual network as Azure shows it.
	VNet VNetFact

	// InternalFrontends are the names of the existing frontends of the internal load balancer beside the public one of the
	// API server, by the NormalizeAddress of their address. They are read only with the feature gate APIServerILB.
	InternalFrontends map[string]string
}

// VNetFact describes an existing virtual network.
type VNetFact struct {
	Exists bool
	// Owned means that the network carries the cluster's ownership tag. It is false for a network that users brought.
	Owned bool
	// Location is the region of the network in the form of NormalizeRegion.
	Location string
	// AddressPrefixes are the CIDR blocks of the network.
	AddressPrefixes []string
	// Subnets are the CIDR blocks of the subnets by their lower-case names.
	Subnets map[string][]string
}

// IsForeign returns true if the network exists and is not the cluster's. Its subnets, security groups and route tables
// then belong to its user.
func (f VNetFact) IsForeign() bool { return f.Exists && !f.Owned }

// IsInOtherRegion returns true if users brought the network from another region than location, which has the form of
// NormalizeRegion. Azure answers InvalidResourceReference to resources that join a network of another region.
func (f VNetFact) IsInOtherRegion(location string) bool {
	return f.IsForeign() && f.Location != "" && f.Location != location
}

// BYOSubnetPrefixes returns the CIDR blocks of a subnet that users brought together with their network. ok is false if the
// subnet does not exist, or if created lists it, the inventory of the object that it was created for.
func (f VNetFact) BYOSubnetPrefixes(subnet arm.ID, made applied.Inventory) (prefixes []string, ok bool) {
	if !f.IsForeign() || made.HasCreated(subnet) {
		return nil, false
	}
	prefixes, ok = f.Subnets[strings.ToLower(subnet.Name())]
	return prefixes, ok
}

// MachineInput is the input of the plan of an AzureMachine.
type MachineInput struct {
	ClusterInput

	Machine      *clusterv1.Machine
	AzureMachine *infrav1.AzureMachine

	// ControlPlane is true for a control-plane machine.
	ControlPlane bool

	// BootstrapData is the value of the key "value" of the bootstrap data Secret. It is nil if the Secret does not exist;
	// then the VM is blocked unless it exists already.
	BootstrapData []byte

	// AdminPassword is the password of the administrator account of a Windows VM. It is random, so the plan cannot compute
	// it. Only the creation of a VM needs it, and it is not shown anywhere: cloudbase-init sets its own.
	AdminPassword string

	MachineFacts MachineFacts
}

// MachineFacts are answers of Azure that the plan of a machine depends on.
type MachineFacts struct {
	// VMSize is the size's row in the SKU catalog of the region; nil if the catalog does not list it.
	VMSize *VMSize

	// NearestVMSizes are the catalog's names most similar to an unknown size, best first, for the message.
	NearestVMSizes []string

	// MaximumPlatformFaultDomainCount is the capability of the SKU "Aligned" of availability sets; 0 if unknown.
	MaximumPlatformFaultDomainCount int32

	// SSHNATPort is the frontend port of the machine's inbound NAT rule on the API server load balancer: the port that the
	// rule has, or one that no other machine has or has reserved. It is 0 if the machine has no such rule or no port is
	// free.
	SSHNATPort int32

	// VMExists is true if the VM exists.
	VMExists bool

	// PowerState is the power state of an existing VM in lower case: starting, running, stopping, stopped, deallocating or
	// deallocated; "" if unknown. Lists of VMs do not contain it. It is read by itself only for spot VMs, which Azure
	// evicts by deallocating them, and for VMs that were stopped at the last read.
	PowerState string

	// AvailabilitySetEmpty means that the machine's availability set contains no other machine's VM, so that deleting the
	// machine may delete the set. It is false if that was not read.
	AvailabilitySetEmpty bool

	// PrincipalID is the principal of the VM's system-assigned identity; "" until the VM has one.
	PrincipalID string

	// AddressDetached means that the first interface of a migrated control-plane machine has no public address: the
	// established provider created the address and never attached it. It is false if that was not read.
	AddressDetached bool

	// VNet is the virtual network as Azure shows it. The spec may not list the ranges of subnets that users brought.
	VNet VNetFact
}

// VMSize is the row of a VM size in the SKU catalog of one region.
type VMSize struct {
	Name string
	// Family is the name of the quota of its cores, as in "standardDSv3Family".
	Family string
	// VCPUs is the number of virtual processors.
	VCPUs int
	// MemoryGB is the memory in gibibytes, which the catalog calls GB.
	MemoryGB float64
	// Zones are the zones of the region in which the subscription can create the size, sorted.
	Zones []string
	// RestrictionReason is Azure's reason code if the subscription cannot create the size in the region at all; "" if it
	// can.
	RestrictionReason string
	// Capabilities are the capabilities by name, with the catalog's values: "True", "False" or a number.
	Capabilities map[string]string
	// ZoneCapabilities are further capabilities by zone. The catalog lists UltraSSDAvailable there.
	ZoneCapabilities map[string]map[string]string
}

// HasCapability returns true if the catalog has "True" for the capability.
func (s *VMSize) HasCapability(capability string) bool {
	return s != nil && s.Capabilities[capability] == "True"
}
