package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// ReadyCondition summarizes the conditions of an object. All kinds have it. Cluster API shows it as the condition
// InfrastructureReady of the Cluster or Machine.
const ReadyCondition = clusterv1.ReadyCondition

// Conditions for tools that use kstatus, for example Flux. At most one of them exists.
const (
	// ReconcilingCondition is True while an operation runs or the object waits.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is True while a person has to act. Its reason and message are those of Ready.
	StalledCondition = "Stalled"
)

// ProgressConditions are the conditions for tools that use kstatus.
var ProgressConditions = []string{ReconcilingCondition, StalledCondition}

// Conditions of an AzureCluster, one per group of Azure resources. A condition is absent where the cluster has no resource
// of the group.
const (
	// NetworkInfrastructureReadyCondition summarizes the other conditions of an AzureCluster.
	NetworkInfrastructureReadyCondition = "NetworkInfrastructureReady"
	// ResourceGroupReadyCondition is the condition of the resource groups.
	ResourceGroupReadyCondition = "ResourceGroupReady"
	// VNetReadyCondition is the condition of the virtual network.
	VNetReadyCondition = "VNetReady"
	// SubnetsReadyCondition is the condition of the subnets.
	SubnetsReadyCondition = "SubnetsReady"
	// SecurityGroupsReadyCondition is the condition of the network security groups.
	SecurityGroupsReadyCondition = "SecurityGroupsReady"
	// RouteTablesReadyCondition is the condition of the route tables.
	RouteTablesReadyCondition = "RouteTablesReady"
	// PublicIPsReadyCondition is the condition of the public IP addresses, of a cluster or of a machine.
	PublicIPsReadyCondition = "PublicIPsReady"
	// NATGatewaysReadyCondition is the condition of the NAT gateways.
	NATGatewaysReadyCondition = "NATGatewaysReady"
	// VnetPeeringReadyCondition is the condition of the peerings of the virtual network.
	VnetPeeringReadyCondition = "VnetPeeringReady"
	// LoadBalancersReadyCondition is the condition of the load balancers.
	LoadBalancersReadyCondition = "LoadBalancersReady"
	// PrivateDNSZoneReadyCondition is the condition of the private DNS zone.
	PrivateDNSZoneReadyCondition = "PrivateDNSZoneReady"
	// PrivateDNSLinkReadyCondition is the condition of the links between the private DNS zone and virtual networks.
	PrivateDNSLinkReadyCondition = "PrivateDNSLinkReady"
	// PrivateDNSRecordReadyCondition is the condition of the records in the private DNS zone.
	PrivateDNSRecordReadyCondition = "PrivateDNSRecordReady"
	// PrivateEndpointsReadyCondition is the condition of the private endpoints.
	PrivateEndpointsReadyCondition = "PrivateEndpointsReady"
	// BastionHostReadyCondition is the condition of the Azure Bastion host.
	BastionHostReadyCondition = "BastionHostReady"
	// LeftoversCondition is the condition of load balancers, IP addresses and volumes that programs in a cluster
	// created in a resource group of the user, and that remain while the cluster is being deleted.
	LeftoversCondition = "LeftoversDeleted"
)

// Conditions of an AzureMachine, one per group of Azure resources, beside PublicIPsReady.
const (
	// VMRunningCondition is the condition of the VM.
	VMRunningCondition = "VMRunning"
	// NetworkInterfacesReadyCondition is the condition of the network interfaces.
	NetworkInterfacesReadyCondition = "NetworkInterfacesReady"
	// InboundNATRulesReadyCondition is the condition of the SSH NAT rule of a control-plane machine.
	InboundNATRulesReadyCondition = "InboundNATRulesReady"
	// AvailabilitySetReadyCondition is the condition of the availability set.
	AvailabilitySetReadyCondition = "AvailabilitySetReady"
	// DisksReadyCondition is the condition of the disks.
	DisksReadyCondition = "DisksReady"
	// RoleAssignmentReadyCondition is the condition of the role assignment of a system-assigned identity.
	RoleAssignmentReadyCondition = "RoleAssignmentReady"
	// BootstrapSucceededCondition is the condition of the VM's extensions. One of them reports the result of the
	// bootstrap.
	BootstrapSucceededCondition = "BootstrapSucceeded"
	// VMIdentitiesReadyCondition is True if the VM has the user-assigned identities of its spec.
	VMIdentitiesReadyCondition = "VMIdentitiesReady"
)

// Conditions of an AzureMachinePool.
const (
	// ScaleSetRunningCondition is the condition of the scale set.
	ScaleSetRunningCondition = "ScaleSetRunning"
	// ScaleSetDesiredReplicasCondition is True if the scale set has as many VMs as requested.
	ScaleSetDesiredReplicasCondition = "ScaleSetDesiredReplicas"
	// ScaleSetModelUpdatedCondition is True if all VMs have the current model of the scale set.
	ScaleSetModelUpdatedCondition = "ScaleSetModelUpdated"
)

// StoppedCondition shows the progress of a stop or start that an annotation requests. It is True when all VMs of the object
// are stopped, and absent if the provider stops none.
const StoppedCondition = "Stopped"

// DriftedCondition is True if the manager would write to Azure when observing ends. Its message lists these writes. Only
// observed objects have it.
const DriftedCondition = "Drifted"

// NodeHealthyCondition is the condition of the Node of an AzureMachinePoolMachine, as Cluster API shows it on the Machine.
const NodeHealthyCondition = "NodeHealthy"

// TenantsIsolatedCondition of an AzureClusterIdentity is False if the manager trusts all users who may create identities or
// Secrets for resource manifests, or if the identity keeps a credential from before the upgrade from the established provider.
const TenantsIsolatedCondition = "TenantsIsolated"

// Reasons of conditions that are True.
const (
	// ReadyReason is the reason of resources that are in place.
	ReadyReason = "Ready"
	// DriftedReason is the reason of resources that work and differ from the spec, and that the provider does not repair:
	// another program or user changed them, or the spec changed in a property that cannot change on existing resources.
	DriftedReason = "Drifted"
	// ObservingReason is the reason of observed objects, in the condition Drifted, and in other conditions if a resource is not
	// created or a deletion waits.
	ObservingReason = "Observing"
	// MovedReason is the reason of objects that clusterctl move or a transfer deletes, and that are not gone. Their deletion waits, because
	// another object may have their resources, for example in another management cluster.
	MovedReason = "Moved"
	// NotCheckedYetReason is the reason of conditions that the established provider stored without a reason. They keep their
	// status until this provider has checked the resource.
	NotCheckedYetReason = "NotCheckedYet"
	// LastSeenReason is the reason of resources that existed when the provider last read them. They cannot be read now,
	// because Azure does not answer or the provider cannot sign in.
	LastSeenReason = "LastSeen"
)

// Reasons of conditions that resolve themselves without any action by users.
const (
	// CreatingReason is the reason of resources that Azure is creating.
	CreatingReason = "Creating"
	// UpdatingReason is the reason of resources that Azure is changing.
	UpdatingReason = "Updating"
	// DeletingReason is the reason of resources that Azure is deleting.
	DeletingReason = "Deleting"
	// DeletedReason is the reason of resources that were deleted as requested.
	DeletedReason = "Deleted"
	// WaitingReason is the reason of resources that wait for another operation or for the end of a transient error. The
	// message has the cause.
	WaitingReason = "Waiting"
	// WaitingForClusterInfrastructureReason is the reason of a machine that waits for the infrastructure of its
	// cluster.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason is the reason of a machine that waits for its bootstrap data.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// ScaleSetScalingUpReason is the reason of a pool with fewer VMs than requested.
	ScaleSetScalingUpReason = "ScaleSetScalingUp"
	// ScaleSetScalingDownReason is the reason of a pool with more VMs than requested.
	ScaleSetScalingDownReason = "ScaleSetScalingDown"
	// ScaleSetModelOutOfDateReason is the reason of a pool with VMs of a former model.
	ScaleSetModelOutOfDateReason = "ScaleSetModelOutOfDate"
	// ScaleSetModelLimitReason is the reason of a pool whose VMs have almost as many different models of the scale set
	// as Azure allows. The message has the remedy.
	ScaleSetModelLimitReason = "ScaleSetModelLimit"
	// NodeProvisioningReason is the reason of a VM whose Node does not exist yet.
	NodeProvisioningReason = "NodeProvisioning"
	// NodeConditionsFailedReason is the reason of a VM whose Node is not Ready.
	NodeConditionsFailedReason = "NodeConditionsFailed"
	// WaitingForMachinesReason is the reason of a cluster whose deletion waits until its machines are gone.
	WaitingForMachinesReason = "WaitingForMachines"
	// InUseReason is the reason of an identity whose deletion waits until no cluster uses it.
	InUseReason = "InUse"
	// OwnerRefNotSetReason is the reason of an object that belongs to no Cluster, Machine or MachinePool yet.
	OwnerRefNotSetReason = "OwnerRefNotSet"
	// ClusterNotFoundReason is the reason of an object whose Cluster does not exist yet.
	ClusterNotFoundReason = "ClusterNotFound"
	// AzureClusterNotFoundReason is the reason of an object whose AzureCluster does not exist yet.
	AzureClusterNotFoundReason = "AzureClusterNotFound"
	// ControlPlaneNotFoundReason is the reason of an object whose AzureManagedControlPlane does not exist yet.
	ControlPlaneNotFoundReason = "ControlPlaneNotFound"
	// InternalErrorReason is the reason of an object whose reconciliation ended with an error of the manager or of the API
	// server of Kubernetes. The manager tries again.
	InternalErrorReason = clusterv1.InternalErrorReason
	// WaitingForDependencyReason is the reason of resources that wait for another resource. The message names it.
	WaitingForDependencyReason = "WaitingForDependency"
	// UserAssignedIdentityMissingReason is the reason of a VM without an identity that its spec lists. The provider is
	// assigning it.
	UserAssignedIdentityMissingReason = "UserAssignedIdentityMissing"
	// AzureResourceUnavailableReason is the reason of an AKS cluster that Azure Resource Health does not show as available. The
	// message has Azure's words.
	AzureResourceUnavailableReason = "AzureResourceUnavailable"
	// WaitingForApprovalReason is the reason of private endpoints whose connection the owner of the service has not
	// approved yet.
	WaitingForApprovalReason = "WaitingForApproval"
	// ThrottledReason is the reason of resources that wait because a request limit of Azure is reached.
	ThrottledReason = "Throttled"
)

// Reasons of conditions that need an action by users.
const (
	// FailedReason is the reason of resources that Azure refused to create or change. The message has Azure's error
	// code.
	FailedReason = "Failed"
	// LeftBehindInAzureReason is the reason of events about deleted objects that may have left resources in Azure.
	LeftBehindInAzureReason = "LeftBehindInAzure"
	// IgnoredReason is the reason of events about input without effect: annotations of the provider that another user wrote, and tags that
	// Azure does not take on a resource.
	IgnoredReason = "Ignored"
	// CloudConfigFailedReason is the reason of events about a Secret with azure.json that cannot be written.
	CloudConfigFailedReason = "CloudConfigFailed"
	// VMIdentityNoneReason is the reason of events about control planes without an identity, on which cloud-provider-azure
	// cannot sign in because the AzureClusterIdentity has no client secret.
	VMIdentityNoneReason = "VMIdentityNone"
	// DeletionFailedReason is the reason of resources that Azure refused to delete. The message has Azure's error code.
	DeletionFailedReason = "DeletionFailed"
	// InvalidConfigurationReason is the reason of a spec that cannot work. The message names the field.
	InvalidConfigurationReason = "InvalidConfiguration"
	// NotSupportedReason is the reason of a spec that requests an unsupported setting. The message names the field.
	NotSupportedReason = "NotSupported"
	// QuotaExceededReason is the reason of resources that exceed a quota of the subscription.
	QuotaExceededReason = "QuotaExceeded"
	// CapacityUnavailableReason is the reason of resources that Azure does not offer in the region or zone, or has no
	// capacity for.
	CapacityUnavailableReason = "CapacityUnavailable"
	// ResourceExistsNotOwnedReason is the reason of a resource that exists and does not belong to the cluster.
	ResourceExistsNotOwnedReason = "ResourceExistsNotOwned"
	// OwnershipTagLostReason is the reason of a resource that the provider created for the object and that lost its ownership
	// tag.
	OwnershipTagLostReason = "OwnershipTagLost"
	// NotConnectedReason is the reason of private endpoints whose connection the owner of the service has rejected or removed.
	NotConnectedReason = "NotConnected"
	// CredentialsInvalidReason is the reason of an identity that Microsoft Entra ID or Azure rejects.
	CredentialsInvalidReason = "CredentialsInvalid"
	// IdentityNotFoundReason is the reason of an object without identityRef, or with an AzureClusterIdentity that does not
	// exist.
	IdentityNotFoundReason = "IdentityNotFound"
	// SubscriptionNotFoundReason is the reason of a subscription that does not exist or that the identity cannot read.
	SubscriptionNotFoundReason = "SubscriptionNotFound"
	// NamespaceNotAllowedByIdentityReason is the reason of an object in a namespace that may not use its identity.
	NamespaceNotAllowedByIdentityReason = "NamespaceNotAllowedByIdentity"
	// TenantsTrustedReason means that the manager trusts all users who may create identities or Secrets for resource manifests.
	TenantsTrustedReason = "TenantsTrusted"
	// UsedBeforeUpgradeReason means that the identity keeps a credential that it used under the established provider, which
	// isolated tenants may not use otherwise.
	UsedBeforeUpgradeReason = "UsedBeforeUpgrade"
	// NotAllowedByTenancyReason means that the identity uses a credential of another namespace or of the manager, which
	// isolated tenants may not use, or that a Secret would have a token of an identity of another namespace.
	NotAllowedByTenancyReason = "NotAllowedByTenancy"
	// ExternallyManagedControlPlaneReason is the reason of a cluster with controlPlaneEnabled false and without a
	// controlPlaneEndpoint.
	ExternallyManagedControlPlaneReason = "ExternallyManagedControlPlane"
	// VMDeletedReason is the reason of a VM that another program or user deleted. The provider does not create it
	// again.
	VMDeletedReason = "VMDeleted"
	// SpotVMEvictedReason is the reason of a spot VM that Azure evicted: it was deallocated or, if the eviction policy
	// is Delete, deleted.
	SpotVMEvictedReason = "SpotVMEvicted"
	// VMCreatingReason is the reason of a VM that Azure is creating.
	VMCreatingReason = "VMCreating"
	// VMUpdatingReason is the reason of a VM that Azure is changing.
	VMUpdatingReason = "VMUpdating"
	// VMDeletingReason is the reason of a VM that Azure is deleting.
	VMDeletingReason = "VMDeleting"
	// VMStoppedReason is the reason of a VM that another program or user stopped. The provider does not start it.
	VMStoppedReason = "VMStopped"
	// StoppedAsRequestedReason is the reason of VMs that the provider stopped because an annotation requests it.
	StoppedAsRequestedReason = "StoppedAsRequested"
	// StoppingReason is the reason of VMs that the provider is stopping.
	StoppingReason = "Stopping"
	// StartingReason is the reason of VMs that the provider is starting.
	StartingReason = "Starting"
	// VMFailedReason is the reason of a VM with the provisioning state Failed in Azure.
	VMFailedReason = "VMProvisionFailed"
)
