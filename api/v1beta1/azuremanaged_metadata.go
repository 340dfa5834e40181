package v1beta1

// Finalizers of AKS clusters and pools.
const (
	// ManagedControlPlaneFinalizer is on an AzureManagedControlPlane until its Azure resources are gone.
	ManagedControlPlaneFinalizer = "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io"

	// ManagedMachinePoolFinalizer is on an AzureManagedMachinePool until its agent pool is gone. It is called as that of
	// AzureClusters, because stored objects have it.
	ManagedMachinePoolFinalizer = ClusterFinalizer
)

// LabelAgentPoolMode on an AzureManagedMachinePool repeats spec.mode, so that pools can be selected by it.
const LabelAgentPoolMode = "azuremanagedmachinepool.infrastructure.cluster.x-k8s.io/agentpoolmode"
