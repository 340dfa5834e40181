package pool

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// windowsNameLength is the longest name of a scale set of Windows VMs: Azure adds six characters to make it a computer name,
// which has 15 at most.
const windowsNameLength = 9

// ScaleSetName is the name of the pool's scale set: that in the provider ID once there is one, else the pool's, of which
// "win-" and its last 5 characters are left where it is too long for Windows.
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

// ScaleSetID is the ID of the pool's scale set.
func ScaleSetID(in Input) arm.ID {
	return arm.NewID(in.SubscriptionID, plan.ResourceGroup(in.ClusterInput), types.ScaleSet, ScaleSetName(in))
}

// NewVMImage is the image of new VMs; nil where none can be told.
func NewVMImage(in Input) *infrav1.Image {
	image, err := vm.SelectImage(buildProfile(in))
	if err != nil {
		return nil
	}
	return image
}
