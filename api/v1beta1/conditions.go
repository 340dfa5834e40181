package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// ReadyCondition summarizes the conditions of an object. All kinds have it. Cluster API shows it as the condition
// InfrastructureReady of the Cluster or Machine. The Paused condition is clusterv1.PausedCondition.
const ReadyCondition = clusterv1.ReadyCondition

// Conditions for tools that use kstatus, for example Flux. At most one of them exists.
const (
	// ReconcilingCondition is True while something is under way.
	ReconcilingCondition = "Reconciling"
	// StalledCondition is True while a person has to act. Its reason and message are those of Ready.
	StalledCondition = "Stalled"
)

// ProgressConditions are the conditions for tools that use kstatus.
var ProgressConditions = []string{ReconcilingCondition, StalledCondition}

// Conditions of an AzureCluster, one per group of Azure resources. A condition is absent where the cluster has no resource
// of the group.
const (
	// NetworkInfrastructureReadyCondition summarizes the conditions of the groups.
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

// StoppedCondition is on an object whose VMs the provider stopped or is stopping, starting or about to start, as
// StopAnnotation and StopScheduleAnnotation ask for. It is True once all are stopped.
const StoppedCondition = "Stopped"

// DriftedCondition is on an observed object only. It is True if the manager would write to Azure when observing ends, and
// lists these writes.
const DriftedCondition = "Drifted"

// NodeHealthyCondition has the state of the Node of an AzureMachinePoolMachine, as Cluster API shows it on the Machine.
const NodeHealthyCondition = "NodeHealthy"

// TenantsIsolatedCondition is on an AzureClusterIdentity. It is False if the manager trusts all users who may create
// identities, or if the identity keeps rights from before the upgrade from the established provider that isolation does
// not grant.
const TenantsIsolatedCondition = "TenantsIsolated"

// Reasons of conditions that are True.
const (
	// ReadyReason is the reason of resources that are in place.
	ReadyReason = "Ready"
	// DriftedReason is the reason of resources that are in place and differ from the spec in a way that the provider
	// does not repair: another program or user changed them, or the spec changed in a way that is not applied to
	// existing resources.
	DriftedReason = "Drifted"
	// ObservingReason is the reason of the condition Drifted. It is also the reason of a resource that does not exist and is
	// not created, and of a deletion that waits, because the object is observed.
	ObservingReason = "Observing"
	// TakenOverReason is the reason of a condition that the established provider stored without a reason. It keeps the
	// status of that condition until this provider has checked the resource.
	TakenOverReason = "TakenOver"
	// LastSeenReason is the reason of resources that were in place when they were last read and that cannot be read
	// now: Azure does not answer, or the provider cannot sign in.
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
	// WaitingReason is the reason of resources that wait until a transient error is over. The message has the error.
	WaitingReason = "Waiting"
	// WaitingForClusterInfrastructureReason is the reason of a machine that waits for the infrastructure of its
	// cluster.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason is the reason of a machine that waits for its bootstrap data.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// ScaleSetScalingUpReason and ScaleSetScalingDownReason are the reasons of a pool with fewer or more VMs than
	// requested. ScaleSetModelOutOfDateReason is the reason of a pool whose VMs are being replaced.
	ScaleSetScalingUpReason      = "ScaleSetScalingUp"
	ScaleSetScalingDownReason    = "ScaleSetScalingDown"
	ScaleSetModelOutOfDateReason = "ScaleSetModelOutOfDate"
	// ScaleSetModelLimitReason is the reason of a pool whose VMs have almost as many different models of the scale set
	// as Azure allows. The message has the remedy.
	ScaleSetModelLimitReason = "ScaleSetModelLimit"
	// NodeProvisioningReason is the reason of a VM whose Node does not exist yet. NodeConditionsFailedReason is the
	// reason of a VM whose Node is not Ready.
	NodeProvisioningReason     = "NodeProvisioning"
	NodeConditionsFailedReason = "NodeConditionsFailed"
	// WaitingForMachinesReason is the reason of a cluster whose deletion waits until its machines are gone.
	WaitingForMachinesReason = "WaitingForMachines"
	// InUseReason is the reason of an identity whose deletion waits until no cluster uses it.
	InUseReason = "InUse"
	// OwnerRefNotSetReason is the reason of an object that belongs to no Cluster, Machine or MachinePool yet.
	OwnerRefNotSetReason = "OwnerRefNotSet"
	// ClusterNotFoundReason, AzureClusterNotFoundReason and ControlPlaneNotFoundReason are the reasons of an object whose
	// Cluster, AzureCluster or AzureManagedControlPlane does not exist yet.
	ClusterNotFoundReason      = "ClusterNotFound"
	AzureClusterNotFoundReason = "AzureClusterNotFound"
	ControlPlaneNotFoundReason = "ControlPlaneNotFound"
	// InternalErrorReason is the reason of an object whose reconciliation ended with an error of the manager or of the API
	// server of Kubernetes. The manager tries again.
	InternalErrorReason = clusterv1.InternalErrorReason
	// WaitingForDependencyReason is the reason of resources that wait for another resource. The message names it.
	WaitingForDependencyReason = "WaitingForDependency"
	// UserAssignedIdentityMissingReason is the reason of a VM without an identity that its spec lists. The provider is
	// assigning it.
	UserAssignedIdentityMissingReason = "UserAssignedIdentityMissing"
	// ThrottledReason is the reason of resources that wait because a request limit of Azure is reached.
	ThrottledReason = "Throttled"
)

// Reasons of conditions that need an action by users.
const (
	// FailedReason is the reason of resources that Azure refused to create or change. The message has Azure's error
	// code.
	FailedReason = "Failed"
	// LeftBehindInAzureReason is the reason of events about deleted objects whose Azure resources may remain.
	LeftBehindInAzureReason = "LeftBehindInAzure"
	// IgnoredReason is the reason of events about annotations of this provider that other users wrote and that have no
	// effect.
	IgnoredReason = "Ignored"
	// DeletionFailedReason is the reason of resources that Azure refused to delete. The message has Azure's error code.
	DeletionFailedReason = "DeletionFailed"
	// InvalidConfigurationReason is the reason of a spec that cannot work. The message names the field.
	InvalidConfigurationReason = "InvalidConfiguration"
	// NotSupportedReason is the reason of a spec that requests an unsupported setting. The message names the field.
	NotSupportedReason = "NotSupported"
	// QuotaExceededReason is the reason of resources that exceed a quota of the subscription.
	QuotaExceededReason = "QuotaExceeded"
	// CapacityUnavailableReason is the reason of resources for which Azure has no capacity, or that it does not offer
	// in that region or zone.
	CapacityUnavailableReason = "CapacityUnavailable"
	// ResourceExistsNotOwnedReason is the reason of a resource that exists and does not belong to the cluster.
	ResourceExistsNotOwnedReason = "ResourceExistsNotOwned"
	// OwnershipTagLostReason is the reason of a resource that the provider created for the object and whose ownership
	// tag was removed.
	OwnershipTagLostReason = "OwnershipTagLost"
	// CredentialsInvalidReason is the reason of an identity that Microsoft Entra ID or Azure rejects.
	CredentialsInvalidReason = "CredentialsInvalid"
	// IdentityNotFoundReason is the reason of an AzureClusterIdentity, or its Secret, that does not exist.
	IdentityNotFoundReason = "IdentityNotFound"
	// SubscriptionNotFoundReason is the reason of a subscription that does not exist or that the identity cannot read.
	SubscriptionNotFoundReason = "SubscriptionNotFound"
	// NamespaceNotAllowedByIdentityReason is the reason of an object in a namespace that may not use its identity.
	NamespaceNotAllowedByIdentityReason = "NamespaceNotAllowedByIdentity"
	// TenantsTrustedReason means that the manager trusts all users who may create identities.
	TenantsTrustedReason = "TenantsTrusted"
	// UsedBeforeUpgradeReason means that the identity keeps a credential that it used under the established provider
	// and that isolation does not grant.
	UsedBeforeUpgradeReason = "UsedBeforeUpgrade"
	// NotAllowedByTenancyReason means that tenants are isolated and that the identity uses a credential of another
	// namespace or of the manager.
	NotAllowedByTenancyReason = "NotAllowedByTenancy"
	// ExternallyManagedControlPlaneReason is the reason of a cluster with controlPlaneEnabled false whose
	// controlPlaneEndpoint is not set.
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
	// StoppedAsRequestedReason is the reason of VMs that the provider stopped because StopAnnotation or
	// StopScheduleAnnotation asks for it.
	StoppedAsRequestedReason = "StoppedAsRequested"
	// StoppingReason is the reason of VMs that the provider is stopping.
	StoppingReason = "Stopping"
	// StartingReason is the reason of VMs that the provider is starting.
	StartingReason = "Starting"
	// VMFailedReason is the reason of a VM whose provisioning state in Azure is Failed.
	VMFailedReason = "VMProvisionFailed"
)
