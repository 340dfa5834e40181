package pool

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// windowsNameLength is the maximum length of the name of a scale set of Windows VMs: Azure appends six characters for the
// computer name, which has at most 15.
const windowsNameLength = 9

// ScaleSetName returns the name of the pool's scale set: the name in the provider ID if there is one, else the pool's. A
// name that is too long for Windows is shortened to "win-" and its last 5 characters.
func ScaleSetName(in Input) string {
	if id, err := arm.ParseID(in.AzureMachinePool.Spec.ProviderID); err == nil {
		return id.Name()
	}
	name := in.AzureMachinePool.Name
	if in.AzureMachinePool.Spec.Template.OSDisk.OSType == infrav1.WindowsOS && len(name) > windowsNameLength {
		return "win-" + name[len(name)-5:]
	}
	return name
}

// ScaleSetID returns the ID of the pool's scale set.
func ScaleSetID(in Input) arm.ID {
	return arm.NewID(in.SubscriptionID, plan.ResourceGroup(in.ClusterInput), types.ScaleSet, ScaleSetName(in))
}

// NewVMImage returns the image of new VMs; nil if it is unknown.
func NewVMImage(in Input) *infrav1.Image {
	image, err := vm.SelectImage(buildProfile(in))
	if err != nil {
		return nil
	}
	return image
}
