package v1beta1

// Finalizers of pools of machines.
const (
	// MachinePoolFinalizer is on an AzureMachinePool until its Azure resources are gone. It is called as that of Cluster API's
	// MachinePools, because stored objects have it.
	MachinePoolFinalizer = "machinepool.cluster.x-k8s.io"

	// MachinePoolMachineFinalizer is on an AzureMachinePoolMachine until its VM is gone.
	MachinePoolMachineFinalizer = "azuremachinepoolmachine.infrastructure.cluster.x-k8s.io"
)

// MachinePoolNameLabel is on an AzureMachinePoolMachine and has the name of its AzureMachinePool.
const MachinePoolNameLabel = "azuremachinepool.infrastructure.cluster.x-k8s.io/machine-pool"

// LastAppliedScaleSetTagsAnnotation on an AzureMachinePool is a JSON object of the additional tags that the established
// provider wrote last to the scale set.
const LastAppliedScaleSetTagsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vmss"

// CustomDataHashTag on a scale set is the SHA-256, in lower-case hexadecimal digits, of the bootstrap data in base64 that
// its model has. Azure does not show the data.
const CustomDataHashTag = "capz-custom-data-hash"
