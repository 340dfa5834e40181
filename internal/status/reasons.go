package status

import (
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// class is the class of a reason. Ready shows the condition with the lowest class.
type class int

const (
	// needsAction is the class of conditions that stay False until a person acts: in the spec, in the identity, in the subscription, or in Azure.
	needsAction class = iota
	// problem is the class of causes that go away by themselves, and that users should know.
	problem
	// requested is the class of states that a user requested. They last until the user ends them.
	requested
	// waiting is the class of objects that wait for another object or for the end of another operation.
	waiting
	// working is the class of work under way.
	working
	// dependent is the class of resources that wait for another resource of the same object, which has a condition of its own.
	dependent
	// deleted is the class of resources that were deleted as requested.
	deleted
	// inOrder is the class of resources that are in place.
	inOrder
)

// identityReasons are the reasons of an identity that cannot or may not be used until a person acts.
var identityReasons = []string{
	string(identity.IdentityNotFound), string(identity.IdentityBeingDeleted), string(identity.NamespaceNotAllowedByIdentity),
	string(identity.SecretNotFound), string(identity.SecretKeyMissing), string(identity.CredentialsInvalid),
	string(identity.NotAllowedByTenancy), string(identity.ServiceAccountNotFound), string(identity.SubscriptionMissing),
}

// classes has the class of each reason of this provider. Events, the summary Ready, kstatus, metrics and the reference pages follow from it.
var classes = indexReasons(map[class][]string{
	needsAction: slices.Concat([]string{
		infrav1.FailedReason, infrav1.DeletionFailedReason, infrav1.InvalidConfigurationReason, infrav1.NotSupportedReason,
		infrav1.QuotaExceededReason, infrav1.CapacityUnavailableReason, infrav1.ResourceExistsNotOwnedReason,
		infrav1.OwnershipTagLostReason, infrav1.OwnershipNotProvenReason, infrav1.LeftBehindInAzureReason, infrav1.MovedReason,
		infrav1.SubscriptionNotFoundReason, infrav1.ExternallyManagedControlPlaneReason,
		infrav1.NotConnectedReason, infrav1.VMDeletedReason, infrav1.VMStoppedReason, infrav1.VMFailedReason, infrav1.SpotVMEvictedReason, infrav1.StoppedReason,
	}, identityReasons),
	problem: {
		infrav1.ThrottledReason, infrav1.AzureResourceUnavailableReason, infrav1.InternalErrorReason, infrav1.DriftedReason,
		infrav1.WaitingForApprovalReason, infrav1.UsedBeforeUpgradeReason, string(identity.NamespaceTerminating), infrav1.WorkloadClusterRefusedReason,
		infrav1.IgnoredReason, infrav1.CloudConfigFailedReason, infrav1.VMIdentityNoneReason, // Only events have them.
	},
	requested: {infrav1.StoppingReason, infrav1.StoppedAsRequestedReason, infrav1.StartingReason, infrav1.ObservingReason, clusterv1.PausedReason},
	waiting: {
		infrav1.WaitingReason, infrav1.WaitingForClusterInfrastructureReason, infrav1.WaitingForBootstrapDataReason,
		infrav1.WaitingForControlPlaneReason, infrav1.WaitingForMachinesReason, infrav1.WaitingForMachinePoolsReason, infrav1.InUseReason,
		infrav1.OwnerRefNotSetReason, infrav1.ClusterNotFoundReason, infrav1.AzureClusterNotFoundReason, infrav1.ControlPlaneNotFoundReason,
		infrav1.NodeProvisioningReason, infrav1.NodeConditionsFailedReason, // The Machine shows the Node, too.
	},
	working: {
		infrav1.CreatingReason, infrav1.UpdatingReason, infrav1.DeletingReason,
		infrav1.VMCreatingReason, infrav1.VMUpdatingReason, infrav1.VMDeletingReason,
		infrav1.ScaleSetScalingUpReason, infrav1.ScaleSetScalingDownReason, infrav1.ScaleSetModelOutOfDateReason,
		infrav1.ScaleSetModelLimitReason,
		infrav1.UserAssignedIdentityMissingReason, // Azure is assigning it. A refused assignment has another reason.
	},
	dependent: {infrav1.WaitingForDependencyReason},
	deleted:   {infrav1.DeletedReason},
	inOrder: {
		infrav1.ReadyReason, infrav1.LastSeenReason, infrav1.NotCheckedYetReason, clusterv1.NotPausedReason,
		// The administrators chose the settings of the manager, of the manifests and of the network, and Ready does not summarize the conditions.
		infrav1.TenantsTrustedReason, infrav1.DefinitionMissingReason, infrav1.WorkloadClusterUnreachableReason,
	},
})

func indexReasons(of map[class][]string) map[string]class {
	out := map[string]class{}
	for class, reasons := range of {
		for _, reason := range reasons {
			out[reason] = class
		}
	}
	return out
}

// classOf returns the class of a reason. A reason of another program may be a problem.
func classOf(reason string) class {
	if of, known := classes[reason]; known {
		return of
	}
	return problem
}

// lastsUntilEnded reports whether a reason is that of a state that lasts until a user ends it, without work under way.
func lastsUntilEnded(reason string) bool {
	return reason == infrav1.StoppedAsRequestedReason || reason == infrav1.ObservingReason
}

// NeedsAction reports whether a condition with this reason stays False until a person acts.
func NeedsAction(reason string) bool { return classOf(reason) == needsAction }

// IsProblem reports whether a condition that is False with this reason has a Warning. Work under way, waits and states that a user requested have
// none.
func IsProblem(reason string) bool { return classOf(reason) <= problem }

// HasWarnings reports whether Warnings have the reason: problems, and errors of Azure that go away by themselves, which have the reason Waiting.
func HasWarnings(reason string) bool {
	return IsKnownReason(reason) && (IsProblem(reason) || reason == infrav1.WaitingReason)
}

// IsKnownReason reports whether conditions of this provider have the reason.
func IsKnownReason(reason string) bool {
	_, known := classes[reason]
	return known
}
