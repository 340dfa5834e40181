package azurecluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// groups are the conditions of an AzureCluster in the order in which people think of them.
var groups = []string{
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
}

// reportConverged writes what a converging pass found into the object: conditions, resources, and once everything is in
// place the endpoint, failure domains and that the infrastructure is provisioned.
func reportConverged(in *input, planned plan.ClusterInput, outcome arm.Outcome) {
	azureCluster := in.azureCluster
	reportGroups(in, outcome)
	if !usable(outcome) {
		return
	}
	azureCluster.Status.FailureDomains = infrav1.FailureDomains{Domains: cluster.FailureDomains(planned)}
	host, port := cluster.Endpoint(planned)
	if host == "" {
		// Somebody else runs the control plane and has not said yet where.
		reportSummary(in, metav1.Condition{
			Type: infrav1.NetworkInfrastructureReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.ExternallyManagedControlPlaneReason,
			Message: "spec.controlPlaneEnabled is false and spec.controlPlaneEndpoint is not set: set it to where the control plane is reached",
		})
		return
	}
	if azureCluster.Spec.ControlPlaneEndpoint.Host == "" {
		azureCluster.Spec.ControlPlaneEndpoint.Host = host
	}
	if azureCluster.Spec.ControlPlaneEndpoint.Port == 0 {
		azureCluster.Spec.ControlPlaneEndpoint.Port = port
	}
	azureCluster.Status.Initialization.Provisioned = new(true)
	azureCluster.Status.Ready = true
}

// usable tells whether machines can be made: everything is in place but for the bastion host, which takes Azure minutes
// and which no machine depends on, and for what is to go because the spec wants it no more.
func usable(outcome arm.Outcome) bool {
	return !slices.ContainsFunc(outcome.Results, func(result arm.Result) bool {
		return !result.Done() && result.Group != infrav1.BastionHostReadyCondition && result.Group != ""
	})
}

func reportGroups(in *input, outcome arm.Outcome) {
	found := report.Set(in.azureCluster, groups, report.Groups(outcome, groups, cluster.Group))
	reportSummary(in, report.Summary(infrav1.NetworkInfrastructureReadyCondition, found))
	in.azureCluster.Status.Resources = report.Resources(outcome)
}

// reportSummary sets NetworkInfrastructureReady and Ready, which say the same of this kind.
func reportSummary(in *input, condition metav1.Condition) {
	report.Put(in.azureCluster, condition)
	condition.Type = infrav1.ReadyCondition
	report.Put(in.azureCluster, condition)
}

// reportRefusal says which fields are wrong; nothing is made until they are corrected.
func reportRefusal(in *input, errs field.ErrorList) {
	reportSummary(in, report.Refusal(infrav1.NetworkInfrastructureReadyCondition, errs))
}

// reportProblem says why Azure could not be asked, and returns when it is tried again.
func reportProblem(in *input, err error) ctrl.Result {
	in.story.Failed(err)
	return ctrl.Result{RequeueAfter: report.Unread(in.azureCluster, err, infrav1.NetworkInfrastructureReadyCondition, infrav1.ReadyCondition)}
}
