package pool

import (
	"encoding/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// Input is what the plan of an AzureMachinePool is computed from. The objects are copies, defaulted as the webhook defaults
// them; a plan does not change them.
type Input struct {
	plan.ClusterInput

	MachinePool      *clusterv1.MachinePool
	AzureMachinePool *infrav1.AzureMachinePool

	// BootstrapData is the content of the bootstrap data secret's key "value"; nil when the secret is not there. A scale set
	// that exists keeps what it has until VMs are added: tokens in it are renewed every few minutes, and no VM is another one
	// for that.
	BootstrapData []byte

	// Capacity is the number of VMs that a scale set which exists is to have; nil leaves it as it is, whoever decided on it.
	// A new one gets the replicas of the MachinePool.
	Capacity *int

	// KeepTemplate keeps the template of a scale set that exists as it is, with Capacity and bootstrap data as ever.
	KeepTemplate bool

	// AdminPassword is the password of the account of Windows VMs, which the plan cannot make up.
	AdminPassword string

	PoolFacts Facts
}

// Facts are answers of Azure that the plan of a pool depends on.
type Facts struct {
	// VMSize is the size's row in the SKU catalog of the region; nil when the catalog does not have it.
	VMSize *plan.VMSize

	// NearestVMSizes are the catalog's names most like that of a size it does not have, best first, for the message.
	NearestVMSizes []string

	// ScaleSetExists tells whether the scale set exists, and BootstrapDataHash is its CustomDataHashTag then.
	ScaleSetExists    bool
	BootstrapDataHash string
	// ScaleSet is the scale set as Azure shows it, nil for none. It tells which VMs are of its model, and what its template is.
	ScaleSet json.RawMessage

	// PrincipalID is the principal of the scale set's system-assigned identity, "" until it has one.
	PrincipalID string

	// VNet is the virtual network as it is now.
	VNet plan.VNetFact
}

// addsVMs tells whether VMs will be made of what is sent.
func (in Input) addsVMs() bool { return !in.PoolFacts.ScaleSetExists || in.Capacity != nil }

// buildProfile is what each VM is made of.
func buildProfile(in Input) vm.Profile {
	p := vm.Profile{
		VirtualMachineProfile: in.AzureMachinePool.Spec.Template.VirtualMachineProfile,
		Name:                  ScaleSetName(in),
		VersionFrom:           "MachinePool",
		Annotations:           in.AzureMachinePool.Annotations,
		Place: vm.Place{
			Region:           plan.NormalizeRegion(in.AzureMachinePool.Spec.Location),
			RegionZones:      in.Facts.Zones,
			ZonesFrom:        "the failure domains of the MachinePool",
			ExtendedLocation: in.AzureCluster.Spec.ExtendedLocation,
			Cloud:            in.AzureCluster.Spec.AzureEnvironment,
		},
		Network:       vm.BuildClusterNetwork(in.ClusterInput, in.PoolFacts.VNet, infrav1.SubnetNode, in.AzureMachinePool.Annotations),
		Size:          in.PoolFacts.VMSize,
		NearestSizes:  in.PoolFacts.NearestVMSizes,
		AdminPassword: in.AdminPassword,
		Exists:        in.PoolFacts.ScaleSetExists,
	}
	if in.addsVMs() {
		p.BootstrapData = in.BootstrapData
	}
	if in.MachinePool != nil {
		p.Version = in.MachinePool.Spec.Template.Spec.Version
		p.Place.Zones = in.MachinePool.Spec.FailureDomains
	}
	return p
}
