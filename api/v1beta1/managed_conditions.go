package v1beta1

// Conditions of an AzureManagedControlPlane, beside ResourceGroupReady, VNetReady, SubnetsReady and PrivateEndpointsReady.
const (
	// ManagedClusterRunningCondition is about the AKS cluster.
	ManagedClusterRunningCondition = "ManagedClusterRunning"
	// FleetReadyCondition is about the membership in a fleet.
	FleetReadyCondition = "FleetReady"
	// AKSExtensionsReadyCondition is about the extensions of the AKS cluster.
	AKSExtensionsReadyCondition = "AKSExtensionsReady"
	// KubeconfigReadyCondition is about the Secrets with kubeconfigs.
	KubeconfigReadyCondition = "KubeconfigReady"
	// ClusterInfoReadyCondition is about the ConfigMap cluster-info in the AKS cluster, which machines that join by kubeadm
	// read.
	ClusterInfoReadyCondition = "ClusterInfoReady"
	// AzureResourceAvailableCondition is what Azure Resource Health says about the AKS cluster.
	AzureResourceAvailableCondition = "AzureResourceAvailable"
)

// ResourcesReadyCondition of the AzureASOManaged kinds is about the Azure resources of spec.resources.
const ResourcesReadyCondition = "ResourcesReady"

// MigratedResourcesOwnedCondition of the AzureASOManaged kinds is True if Azure proves that the resources which the established provider
// applied for the object were created for it, so that they are deleted with it. Objects of this provider have no such condition.
const MigratedResourcesOwnedCondition = "MigratedResourcesOwned"

// OwnershipNotProvenReason is the reason of resources that stay in Azure when their object is deleted, unless they are handed over.
const OwnershipNotProvenReason = "OwnershipNotProven"

// ControlPlaneEndpointReadyCondition of an AzureASOManagedCluster is about the endpoint of its control plane.
const ControlPlaneEndpointReadyCondition = "ControlPlaneEndpointReady"

// Conditions of an AzureManagedMachinePool.
const (
	// AgentPoolsReadyCondition is about the agent pool.
	AgentPoolsReadyCondition = "AgentPoolsReady"
	// ScaleSetReadyCondition is about the scale set of the pool, which has as many virtual machines as the pool has nodes.
	ScaleSetReadyCondition = "ScaleSetReady"
)

const (
	// WaitingForControlPlaneReason is the reason of a pool whose AKS cluster is not there yet.
	WaitingForControlPlaneReason = "WaitingForControlPlane"
	// WaitingForMachinePoolsReason is the reason of an AKS cluster whose deletion waits for its pools to be gone.
	WaitingForMachinePoolsReason = "WaitingForMachinePools"
	// WorkloadClusterUnreachableReason is the reason of something in a cluster whose API server cannot be reached.
	WorkloadClusterUnreachableReason = "WorkloadClusterUnreachable"
)
