package v1beta1

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// ReadyCondition is the summary of an object's conditions, on every kind. Cluster API shows it as the
// InfrastructureReady condition of the Cluster or Machine. The Paused condition is clusterv1.PausedCondition.
const ReadyCondition = clusterv1.ReadyCondition

// Conditions of an AzureCluster, one per group of Azure resources. A condition is absent where the cluster has no resource
// of the group.
const (
	// NetworkInfrastructureReadyCondition is the summary of the groups.
	NetworkInfrastructureReadyCondition = "NetworkInfrastructureReady"
	// ResourceGroupReadyCondition is about the resource groups.
	ResourceGroupReadyCondition = "ResourceGroupReady"
	// VNetReadyCondition is about the virtual network.
	VNetReadyCondition = "VNetReady"
	// SubnetsReadyCondition is about the subnets.
	SubnetsReadyCondition = "SubnetsReady"
	// SecurityGroupsReadyCondition is about the network security groups.
	SecurityGroupsReadyCondition = "SecurityGroupsReady"
	// RouteTablesReadyCondition is about the route tables.
	RouteTablesReadyCondition = "RouteTablesReady"
	// PublicIPsReadyCondition is about the public IP addresses, of a cluster or of a machine.
	PublicIPsReadyCondition = "PublicIPsReady"
	// NATGatewaysReadyCondition is about the NAT gateways.
	NATGatewaysReadyCondition = "NATGatewaysReady"
	// VnetPeeringReadyCondition is about the peerings of the virtual network.
	VnetPeeringReadyCondition = "VnetPeeringReady"
	// LoadBalancersReadyCondition is about the load balancers.
	LoadBalancersReadyCondition = "LoadBalancersReady"
	// PrivateDNSZoneReadyCondition is about the private DNS zone.
	PrivateDNSZoneReadyCondition = "PrivateDNSZoneReady"
	// PrivateDNSLinkReadyCondition is about the links between the private DNS zone and virtual networks.
	PrivateDNSLinkReadyCondition = "PrivateDNSLinkReady"
	// PrivateDNSRecordReadyCondition is about the records in the private DNS zone.
	PrivateDNSRecordReadyCondition = "PrivateDNSRecordReady"
	// PrivateEndpointsReadyCondition is about the private endpoints.
	PrivateEndpointsReadyCondition = "PrivateEndpointsReady"
	// BastionHostReadyCondition is about the Azure Bastion host.
	BastionHostReadyCondition = "BastionHostReady"
	// LeftoversCondition is about load balancers, addresses and volumes that programs in a cluster which is being deleted have left in
	// a resource group that users brought.
	LeftoversCondition = "LeftoversDeleted"
)

// Conditions of an AzureMachine, one per group of Azure resources, beside PublicIPsReady.
const (
	// VMRunningCondition is about the VM.
	VMRunningCondition = "VMRunning"
	// NetworkInterfacesReadyCondition is about the network interfaces.
	NetworkInterfacesReadyCondition = "NetworkInterfacesReady"
	// InboundNATRulesReadyCondition is about the SSH NAT rule of a control-plane machine.
	InboundNATRulesReadyCondition = "InboundNATRulesReady"
	// AvailabilitySetReadyCondition is about the availability set.
	AvailabilitySetReadyCondition = "AvailabilitySetReady"
	// DisksReadyCondition is about the disks.
	DisksReadyCondition = "DisksReady"
	// RoleAssignmentReadyCondition is about the role assignment of a system-assigned identity.
	RoleAssignmentReadyCondition = "RoleAssignmentReady"
	// BootstrapSucceededCondition is about the extensions of the VM, of which one reports whether bootstrapping succeeded.
	BootstrapSucceededCondition = "BootstrapSucceeded"
	// VMIdentitiesReadyCondition tells whether the VM has the user-assigned identities of its spec.
	VMIdentitiesReadyCondition = "VMIdentitiesReady"
)

// Conditions of an AzureMachinePool.
const (
	// ScaleSetRunningCondition is about the scale set.
	ScaleSetRunningCondition = "ScaleSetRunning"
	// ScaleSetDesiredReplicasCondition tells whether there are as many VMs as are wanted.
	ScaleSetDesiredReplicasCondition = "ScaleSetDesiredReplicas"
	// ScaleSetModelUpdatedCondition tells whether all VMs are as the template says.
	ScaleSetModelUpdatedCondition = "ScaleSetModelUpdated"
)

// NodeHealthyCondition tells whether the Node of an AzureMachinePoolMachine is Ready, as Cluster API says on the Machine.
const NodeHealthyCondition = "NodeHealthy"

// TenantsIsolatedCondition is on an AzureClusterIdentity, and False, when the manager trusts those who may create identities, or when the
// identity uses more than isolation gives because it did so before the upgrade from the established provider.
const TenantsIsolatedCondition = "TenantsIsolated"

// Reasons of conditions that are True.
const (
	// ReadyReason is the reason of a part that is in place.
	ReadyReason = "Ready"
	// DriftedReason is the reason of a part that is in place and differs from the spec in a way that is not repaired: it
	// was changed outside, or the spec was and is not applied to what exists.
	DriftedReason = "Drifted"
	// TakenOverReason is the reason of a condition that was stored without one, as the provider before had it: what it
	// found, until this one has looked.
	TakenOverReason = "TakenOver"
	// LastSeenReason is the reason of a part that was in place when it was last looked at. It could not be looked at again:
	// Azure does not answer, or cannot be asked.
	LastSeenReason = "LastSeen"
)

// Reasons for which time passes and nobody needs to do anything.
const (
	// CreatingReason is the reason of a part that Azure is creating.
	CreatingReason = "Creating"
	// UpdatingReason is the reason of a part that Azure is changing.
	UpdatingReason = "Updating"
	// DeletingReason is the reason of a part that Azure is deleting.
	DeletingReason = "Deleting"
	// DeletedReason is the reason of a part that is gone because it was to be deleted.
	DeletedReason = "Deleted"
	// WaitingReason is the reason of a part that waits for a transient error to pass; the message names it.
	WaitingReason = "Waiting"
	// WaitingForClusterInfrastructureReason is the reason of a machine whose cluster's infrastructure is not there yet.
	WaitingForClusterInfrastructureReason = "WaitingForClusterInfrastructure"
	// WaitingForBootstrapDataReason is the reason of a machine whose bootstrap data is not there yet.
	WaitingForBootstrapDataReason = "WaitingForBootstrapData"
	// ScaleSetScalingUpReason and ScaleSetScalingDownReason are the reasons of a pool that has too few or too many VMs, and
	// ScaleSetModelOutOfDateReason that of one whose VMs are being replaced.
	ScaleSetScalingUpReason      = "ScaleSetScalingUp"
	ScaleSetScalingDownReason    = "ScaleSetScalingDown"
	ScaleSetModelOutOfDateReason = "ScaleSetModelOutOfDate"
	// ScaleSetModelLimitReason is the reason of a pool whose VMs are of nearly as many models of the scale set as Azure allows. The
	// message says what is done about that.
	ScaleSetModelLimitReason = "ScaleSetModelLimit"
	// NodeProvisioningReason is the reason of a VM whose Node is not there yet, NodeConditionsFailedReason that of one whose
	// Node is not Ready.
	NodeProvisioningReason     = "NodeProvisioning"
	NodeConditionsFailedReason = "NodeConditionsFailed"
	// WaitingForMachinesReason is the reason of a cluster whose deletion waits for its machines to be gone.
	WaitingForMachinesReason = "WaitingForMachines"
	// InUseReason is the reason of an identity whose deletion waits for the clusters that use it.
	InUseReason = "InUse"
	// BlockedByDependencyReason is the reason of a part that waits for another part; the message names it.
	BlockedByDependencyReason = "BlockedByDependency"
	// ThrottledReason is the reason of a part that waits because Azure takes no more requests for now.
	ThrottledReason = "Throttled"
)

// Reasons for which somebody needs to do something.
const (
	// FailedReason is the reason of a part that Azure refused; the message has Azure's code.
	FailedReason = "Failed"
	// LeftBehindInAzureReason is the reason of events about objects that go although something of theirs may still be in Azure.
	LeftBehindInAzureReason = "LeftBehindInAzure"
	// IgnoredReason is the reason of events about annotations of this provider's that others wrote and that do not count.
	IgnoredReason = "Ignored"
	// DeletionFailedReason is the reason of a part that Azure refused to delete; the message has Azure's code.
	DeletionFailedReason = "DeletionFailed"
	// InvalidConfigurationReason is the reason of a spec that cannot work; the message names the field.
	InvalidConfigurationReason = "InvalidConfiguration"
	// NotSupportedReason is the reason of a spec that asks for something that is not there yet; the message names the field.
	NotSupportedReason = "NotSupported"
	// QuotaExceededReason is the reason of a part for which the subscription's quota does not suffice.
	QuotaExceededReason = "QuotaExceeded"
	// CapacityUnavailableReason is the reason of a part for which Azure has no capacity, or does not offer it there.
	CapacityUnavailableReason = "CapacityUnavailable"
	// ResourceExistsNotOwnedReason is the reason of a part whose name is taken by a resource that is not the cluster's.
	ResourceExistsNotOwnedReason = "ResourceExistsNotOwned"
	// OwnershipTagLostReason is the reason of a part that was made for the object and has lost the tag that proves it.
	OwnershipTagLostReason = "OwnershipTagLost"
	// CredentialsInvalidReason is the reason of an identity that Microsoft Entra ID or Azure does not accept.
	CredentialsInvalidReason = "CredentialsInvalid"
	// IdentityNotFoundReason is the reason of an AzureClusterIdentity, or its Secret, that does not exist.
	IdentityNotFoundReason = "IdentityNotFound"
	// SubscriptionNotFoundReason is the reason of a subscription that does not exist or that the identity cannot see.
	SubscriptionNotFoundReason = "SubscriptionNotFound"
	// NamespaceNotAllowedByIdentityReason is the reason of an object in a namespace that may not use its identity.
	NamespaceNotAllowedByIdentityReason = "NamespaceNotAllowedByIdentity"
	// TenantsTrustedReason means that the manager trusts those who may create identities.
	TenantsTrustedReason = "TenantsTrusted"
	// UsedBeforeUpgradeReason means that the identity keeps a credential that it used under the established provider and that isolation
	// would take away.
	UsedBeforeUpgradeReason = "UsedBeforeUpgrade"
	// NotAllowedByTenancyReason means that tenants are isolated, and that the identity names what is not its namespace's.
	NotAllowedByTenancyReason = "NotAllowedByTenancy"
	// ExternallyManagedControlPlaneReason is the reason of a cluster with controlPlaneEnabled false whose
	// controlPlaneEndpoint is not set.
	ExternallyManagedControlPlaneReason = "ExternallyManagedControlPlane"
	// UserAssignedIdentityMissingReason is the reason of a VM without an identity that its spec lists.
	UserAssignedIdentityMissingReason = "UserAssignedIdentityMissing"
	// VMDeletedReason is the reason of a VM that was deleted outside. It is not made again.
	VMDeletedReason = "VMDeleted"
	// SpotVMEvictedReason is the reason of a spot VM that Azure took back: it was deallocated or, by its eviction policy,
	// deleted.
	SpotVMEvictedReason = "SpotVMEvicted"
	// VMCreatingReason is the reason of a VM that Azure is creating.
	VMCreatingReason = "VMCreating"
	// VMUpdatingReason is the reason of a VM that Azure is changing.
	VMUpdatingReason = "VMUpdating"
	// VMDeletingReason is the reason of a VM that Azure is deleting.
	VMDeletingReason = "VMDeleting"
	// VMStoppedReason is the reason of a VM that somebody stopped. It is not started again.
	VMStoppedReason = "VMStopped"
	// VMFailedReason is the reason of a VM that Azure says failed.
	VMFailedReason = "VMProvisionFailed"
)
