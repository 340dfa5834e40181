package v1beta1

// Conditions of an AzureManagedControlPlane, beside ResourceGroupReady, VNetReady, SubnetsReady and PrivateEndpointsReady.
const (
	// ManagedClusterRunningCondition is the condition of the AKS cluster.
	ManagedClusterRunningCondition = "ManagedClusterRunning"
	// FleetReadyCondition is the condition of the membership in a fleet.
	FleetReadyCondition = "FleetReady"
	// AKSExtensionsReadyCondition is the condition of the extensions of the AKS cluster.
	AKSExtensionsReadyCondition = "AKSExtensionsReady"
	// KubeconfigReadyCondition is the condition of the Secrets with kubeconfigs.
	KubeconfigReadyCondition = "KubeconfigReady"
	// ClusterInfoReadyCondition is the condition of the ConfigMap cluster-info in the AKS cluster. Machines that join
	// with kubeadm read it.
	ClusterInfoReadyCondition = "ClusterInfoReady"
	// AzureResourceAvailableCondition is the condition of the AKS cluster in Azure Resource Health.
	AzureResourceAvailableCondition = "AzureResourceAvailable"
)

// ResourcesReadyCondition of the AzureASOManaged kinds is the condition of the Azure resources of spec.resources.
const ResourcesReadyCondition = "ResourcesReady"

// MigratedResourcesOwnedCondition of the AzureASOManaged kinds is True if Azure proves that the resources of the established
// provider were created for the object. They are then deleted with it. Objects that were created under this provider do not
// have this condition.
const MigratedResourcesOwnedCondition = "MigratedResourcesOwned"

// OwnershipNotProvenReason is the reason of resources of the established provider that stay in Azure when their object is
// deleted, unless users hand them over.
const OwnershipNotProvenReason = "OwnershipNotProven"

// ManifestsCheckedCondition of the AzureASOManaged kinds is False if the provider sends manifests of spec.resources to
// Azure that it cannot check. Ready does not depend on it. Objects without such manifests do not have this condition.
const ManifestsCheckedCondition = "ManifestsChecked"

// DefinitionMissingReason is the reason of manifests of a kind without a definition, which are sent to Azure without a check.
const DefinitionMissingReason = "DefinitionMissing"

// ControlPlaneEndpointReadyCondition of an AzureASOManagedCluster is the condition of the endpoint of its control
// plane.
const ControlPlaneEndpointReadyCondition = "ControlPlaneEndpointReady"

// Conditions of an AzureManagedMachinePool.
const (
	// AgentPoolsReadyCondition is the condition of the agent pool.
	AgentPoolsReadyCondition = "AgentPoolsReady"
	// ScaleSetReadyCondition is the condition of the scale set of the pool. It is True when the scale set has as many
	// virtual machines as the pool has nodes.
	ScaleSetReadyCondition = "ScaleSetReady"
)

const (
	// StoppedReason is the reason of an AKS cluster or an agent pool that was stopped.
	StoppedReason = "Stopped"
	// WaitingForControlPlaneReason is the reason of a pool that waits for its AKS cluster.
	WaitingForControlPlaneReason = "WaitingForControlPlane"
	// WaitingForMachinePoolsReason is the reason of an AKS cluster whose deletion waits until its pools are gone.
	WaitingForMachinePoolsReason = "WaitingForMachinePools"
	// WorkloadClusterUnreachableReason means that the management cluster cannot connect to the API server of the AKS cluster.
	WorkloadClusterUnreachableReason = "WorkloadClusterUnreachable"
	// WorkloadClusterRefusedReason means that the API server of the AKS cluster refuses a request of the provider.
	WorkloadClusterRefusedReason = "WorkloadClusterRefused"
)
