package v1beta1

// Finalizers of AKS clusters and pools.
const (
	// ManagedControlPlaneFinalizer is on an AzureManagedControlPlane until its Azure resources are gone.
	ManagedControlPlaneFinalizer = "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io"

	// ManagedMachinePoolFinalizer is on an AzureManagedMachinePool until its agent pool is gone. It has the name of the
	// finalizer of AzureClusters, because stored objects carry it.
	ManagedMachinePoolFinalizer = ClusterFinalizer
)

// LabelAgentPoolMode on an AzureManagedMachinePool has the value of spec.mode, so that a selector can select pools by
// mode.
const LabelAgentPoolMode = "azuremanagedmachinepool.infrastructure.cluster.x-k8s.io/agentpoolmode"
