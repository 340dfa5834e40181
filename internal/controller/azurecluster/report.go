package azurecluster

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// conditionGroups are the conditions of an AzureCluster in their order of display.
var conditionGroups = []string{
	infrav1.ResourceGroupReadyCondition,
	infrav1.VNetReadyCondition,
	infrav1.SecurityGroupsReadyCondition,
	infrav1.RouteTablesReadyCondition,
	infrav1.PublicIPsReadyCondition,
	infrav1.NATGatewaysReadyCondition,
	infrav1.SubnetsReadyCondition,
	infrav1.VnetPeeringReadyCondition,
	infrav1.LoadBalancersReadyCondition,
	infrav1.PrivateDNSZoneReadyCondition,
	infrav1.PrivateDNSLinkReadyCondition,
	infrav1.PrivateDNSRecordReadyCondition,
	infrav1.PrivateEndpointsReadyCondition,
	infrav1.BastionHostReadyCondition,
	infrav1.LeftoversCondition,
}

// zonesRetryAfter is the interval at which zones are looked up again, if their arrival does not wake the object before.
const zonesRetryAfter = 30 * time.Second

// Report implements reconcile.Kind. When the network is usable it sets the endpoint, the failure domains and
// initialization.provisioned.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.azureCluster.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	azureCluster := in.azureCluster
	reportGroups(in, outcome)
	if !isUsable(outcome) {
		return 0, nil
	}
	if in.planned.Facts.ZonesPending {
		// Machines of a network without public addresses would take the region for one without zones, and create availability sets.
		reportSummary(in, metav1.Condition{
			Type: infrav1.NetworkInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason,
			Message: "the availability zones of the region are being looked up",
		})
		return zonesRetryAfter, nil
	}
	azureCluster.Status.FailureDomains = infrav1.FailureDomains{Domains: cluster.FailureDomains(in.planned)}
	host, port := cluster.APIServerEndpoint(in.planned)
	if host == "" {
		// The control plane is managed externally, and its endpoint is not known yet.
		reportSummary(in, metav1.Condition{
			Type: infrav1.NetworkInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.ExternallyManagedControlPlaneReason,
			Message: "spec.controlPlaneEnabled is false and spec.controlPlaneEndpoint is not set: set it to where the control plane is reached",
		})
		return 0, nil
	}
	if azureCluster.Spec.ControlPlaneEndpoint.Host == "" {
		azureCluster.Spec.ControlPlaneEndpoint.Host = host
	}
	if azureCluster.Spec.ControlPlaneEndpoint.Port == 0 {
		azureCluster.Spec.ControlPlaneEndpoint.Port = port
	}
	azureCluster.Status.Initialization.Provisioned = new(true)
	azureCluster.Status.Ready = true
	return 0, nil
}

// isUsable reports whether machines can be created: all resources are ready, except the bastion host, which takes minutes and which no
// machine needs, and except resources that are being removed because the spec no longer has them.
func isUsable(outcome arm.Outcome) bool {
	return !slices.ContainsFunc(outcome.Results, func(result arm.Result) bool {
		return !result.IsDone() && result.Group != infrav1.BastionHostReadyCondition && result.Group != ""
	})
}

func reportGroups(in *input, outcome arm.Outcome) {
	found := status.SetConditions(in.azureCluster, conditionGroups,
		status.GroupConditions(outcome, conditionGroups, cluster.ConditionForPruned))
	reportSummary(in, status.SummaryCondition(infrav1.NetworkInfrastructureReadyCondition, found))
	in.azureCluster.Status.Resources = status.ResourceStatuses(outcome)
}

// reportSummary sets NetworkInfrastructureReady and Ready, which are equal for this kind.
func reportSummary(in *input, condition metav1.Condition) {
	status.SetCondition(in.azureCluster, condition)
	condition.Type = infrav1.ReadyCondition
	status.SetCondition(in.azureCluster, condition)
}
