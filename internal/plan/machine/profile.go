package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// buildProfile returns the description of the machine's VM.
func buildProfile(in plan.MachineInput) vm.Profile {
	spec := in.AzureMachine.Spec
	role := infrav1.SubnetNode
	if in.ControlPlane {
		role = infrav1.SubnetControlPlane
	}
	p := vm.Profile{
		VirtualMachineProfile: spec.VirtualMachineProfile,
		Name:                  plan.VMName(in),
		VersionFrom:           "Machine",
		Annotations:           in.AzureMachine.Annotations,
		Place: vm.Place{
			Region:           plan.Location(in.ClusterInput),
			RegionZones:      in.Facts.Zones,
			ZonesFrom:        "the failure domain of the Machine or AzureMachine",
			ExtendedLocation: in.AzureCluster.Spec.ExtendedLocation,
			Cloud:            in.AzureCluster.Spec.AzureEnvironment,
		},
		Network:             vm.BuildClusterNetwork(in.ClusterInput, in.MachineFacts.VNet, role, in.AzureMachine.Annotations),
		Size:                in.MachineFacts.VMSize,
		NearestSizes:        in.MachineFacts.NearestVMSizes,
		DisallowsExtensions: spec.DisableExtensionOperations != nil && *spec.DisableExtensionOperations,
		BootstrapData:       in.BootstrapData,
		AdminPassword:       in.AdminPassword,
		Exists:              in.MachineFacts.VMExists,
	}
	if in.Machine != nil {
		p.Version = in.Machine.Spec.Version
	}
	if zone := FailureDomain(in); zone != "" {
		p.Place.Zones = []string{zone}
		p.Place.RegionZones = plan.RegionZones(in.ClusterInput, p.Place.Zones)
	}
	return p
}

// DescribeRequest returns the size and the place of the VM in words, for errors about quota and capacity.
func DescribeRequest(in plan.MachineInput) string { return vm.DescribeRequest(buildProfile(in)) }
