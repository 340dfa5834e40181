package v1beta1

// Finalizers of the kinds of machine pools.
const (
	// MachinePoolFinalizer is on an AzureMachinePool until its Azure resources are gone. It has the name of the
	// finalizer of Cluster API's MachinePools, because stored objects carry it.
	MachinePoolFinalizer = "machinepool.cluster.x-k8s.io"

	// MachinePoolMachineFinalizer is on an AzureMachinePoolMachine until its VM is gone.
	MachinePoolMachineFinalizer = "azuremachinepoolmachine.infrastructure.cluster.x-k8s.io"
)

// MachinePoolNameLabel on an AzureMachinePoolMachine is the name of its AzureMachinePool.
const MachinePoolNameLabel = "azuremachinepool.infrastructure.cluster.x-k8s.io/machine-pool"

// LastAppliedScaleSetTagsAnnotation on an AzureMachinePool is a JSON object with the additional tags that the
// established provider last wrote to the scale set.
const LastAppliedScaleSetTagsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vmss"

// CustomDataHashTag on a scale set is the SHA-256, in lower-case hexadecimal digits, of the base64-encoded bootstrap
// data in the scale set's model. Azure does not return the data itself.
const CustomDataHashTag = "capz-custom-data-hash"
