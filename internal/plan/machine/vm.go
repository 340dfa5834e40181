package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// addVirtualMachine adds the VM. It is created once, and later only its tags change.
func addVirtualMachine(in plan.MachineInput, p vm.Profile, g *arm.Graph) error {
	node := arm.Node{
		ID:     plan.VMID(in),
		After:  nicIDs(in),
		Policy: arm.CreateOnly,
		Group:  infrav1.VMRunningCondition,
	}
	if set, ok := availabilitySetID(in); ok {
		node.After = append(node.After, set)
	}
	if in.BootstrapData == nil && !in.MachineFacts.VMExists {
		node.Blocked = "the Secret with the bootstrap data does not exist yet"
	}
	properties, err := vm.BuildProperties(p)
	if err != nil {
		return err
	}
	properties.NetworkProfile = buildNetworkProfile(in)
	setMembership(in, properties)
	body := &armcompute.VirtualMachine{
		Location:         new(p.Place.Region),
		ExtendedLocation: vm.ToExtendedLocation(p.Place),
		Tags:             buildVMTags(in),
		Identity:         vm.BuildIdentity(in.AzureMachine.Spec.ManagedIdentities),
		Plan:             vm.BuildImagePlan(p),
		Properties:       properties,
	}
	if len(p.Place.Zones) > 0 {
		body.Zones = plan.ToPointers(p.Place.Zones)
	}
	node.Body = body
	g.Add(node)
	return nil
}

// setMembership sets the availability set and scale set of the VM.
func setMembership(in plan.MachineInput, properties *armcompute.VirtualMachineProperties) {
	spec := in.AzureMachine.Spec
	if set, ok := availabilitySetID(in); ok {
		properties.AvailabilitySet = &armcompute.SubResource{ID: plan.ToIDPointer(set)}
	}
	if id := spec.VirtualMachineScaleSetID; id != nil {
		properties.VirtualMachineScaleSet = &armcompute.SubResource{ID: new(arm.TrimScheme(*id))}
	}
}

func buildNetworkProfile(in plan.MachineInput) *armcompute.NetworkProfile {
	profile := &armcompute.NetworkProfile{}
	for i, id := range nicIDs(in) {
		profile.NetworkInterfaces = append(profile.NetworkInterfaces, &armcompute.NetworkInterfaceReference{
			ID:         plan.ToIDPointer(id),
			Properties: &armcompute.NetworkInterfaceReferenceProperties{Primary: new(i == 0)},
		})
	}
	return profile
}
