package pool

import (
	"encoding/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// Input is the input of the plan of an AzureMachinePool. The objects are copies with defaults filled in. Plans do not
// change them.
type Input struct {
	plan.ClusterInput

	MachinePool      *clusterv1.MachinePool
	AzureMachinePool *infrav1.AzureMachinePool
	// ClusterPools are the AzureMachinePools of the Cluster, for the check of the scale set's name. They may include AzureMachinePool.
	ClusterPools []*infrav1.AzureMachinePool

	// BootstrapData is the value of the key "value" of the bootstrap data Secret; nil if the Secret does not exist. The
	// token in it is renewed every few minutes, and no VM is replaced because of that. An existing scale set gets new data
	// when the plan adds VMs, or at once with SendBootstrapData.
	BootstrapData     []byte
	SendBootstrapData bool

	// Capacity is the wanted number of VMs of an existing scale set; nil leaves it unchanged. A new scale set gets the
	// replicas of the MachinePool.
	Capacity *int

	// PowerRequested is set while VMs are stopped or started as annotations ask, so that a stopped VM is not broken.
	PowerRequested bool

	// KeepTemplate leaves the template of an existing scale set unchanged, except Capacity and bootstrap data.
	KeepTemplate bool

	// AdminPassword is the password of the administrator account of Windows VMs. It is random, so the plan cannot compute
	// it.
	AdminPassword string

	PoolFacts Facts
}

// Facts are answers of Azure that the plan of a pool depends on.
type Facts struct {
	// VMSize is the size's row in the SKU catalog of the region; nil if the catalog does not list it.
	VMSize *plan.VMSize

	// NearestVMSizes are the catalog's names most similar to an unknown size, best first, for the message.
	NearestVMSizes []string

	// ScaleSet is the body of the scale set in Azure, nil for none. It decides which VMs are of its model, and whether the
	// template changes.
	ScaleSetExists    bool
	BootstrapDataHash string
	// ScaleSet is the scale set as Azure shows it, nil for none. It shows which VMs are of its model, and its template.
	ScaleSet json.RawMessage

	// PrincipalID is the principal of the scale set's system-assigned identity; "" until it has one.
	PrincipalID string

	// VNet is the virtual network as Azure shows it.
	VNet plan.VNetFact
}

// addsVMs returns true if Azure will create VMs from the body.
func (in Input) addsVMs() bool { return !in.PoolFacts.ScaleSetExists || in.Capacity != nil }

// sendsBootstrapData returns true if the body has the bootstrap data. Azure would refuse the whole body with data that are too long.
func (in Input) sendsBootstrapData() bool {
	return in.BootstrapData != nil && len(in.BootstrapData) <= vm.MaxBootstrapData && (in.addsVMs() || in.SendBootstrapData)
}

// buildProfile returns the description of each VM.
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
	if in.sendsBootstrapData() {
		p.BootstrapData = in.BootstrapData
	}
	if in.MachinePool != nil {
		p.Version = in.MachinePool.Spec.Template.Spec.Version
		p.Place.Zones = in.MachinePool.Spec.FailureDomains
		p.Place.RegionZones = plan.RegionZones(in.ClusterInput, p.Place.Zones)
	}
	return p
}
