package azuremanagedcontrolplane

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// groups are the conditions about Azure resources, in the order in which people think of them.
var groups = []string{
	infrav1.ResourceGroupReadyCondition,
	infrav1.VNetReadyCondition,
	infrav1.SubnetsReadyCondition,
	infrav1.ManagedClusterRunningCondition,
	infrav1.PrivateEndpointsReadyCondition,
	infrav1.FleetReadyCondition,
	infrav1.AKSExtensionsReadyCondition,
}

// further are the conditions that Ready sums up beside the groups.
var further = []string{infrav1.KubeconfigReadyCondition, infrav1.AzureResourceAvailableCondition}

// stoppedReason is the reason of a cluster that was stopped.
const stoppedReason = "Stopped"

// reportConverged writes what a converging pass found in Azure.
func reportConverged(in *input, outcome arm.Outcome, extras plan.Extras) {
	reportGroups(in, outcome)
	running := conditions.Get(in.controlPlane, infrav1.ManagedClusterRunningCondition)
	if result, _ := outcome.Result(plan.ClusterID(in.planned)); plan.Stopped(result.Observed) && running != nil && running.Status == metav1.ConditionTrue {
		conditions.Set(in.controlPlane, metav1.Condition{
			Type: infrav1.ManagedClusterRunningCondition, Status: metav1.ConditionFalse, Reason: stoppedReason,
			Message: "somebody has stopped the cluster: it costs no machines, answers nobody and takes no changes until it is started again, as by az aks start",
		})
		return
	}
	if len(extras.Kept) == 0 || running == nil || running.Status != metav1.ConditionTrue || running.Reason == infrav1.LastSeenReason {
		return
	}
	conditions.Set(in.controlPlane, metav1.Condition{
		Type: infrav1.ManagedClusterRunningCondition, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason,
		Message: "AKS has no way back for what the spec does not set any more, so it stays as it is: " + strings.Join(extras.Kept, ", ") + "; to change it, set a value in the spec or by a patch",
	})
}

// reportObserved shows what AKS says about the cluster, also while it works on it.
func reportObserved(in *input, observed json.RawMessage) {
	spec, status := &in.controlPlane.Spec, &in.controlPlane.Status
	if host, port := plan.Endpoint(observed); host != "" {
		spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: host, Port: port}
	}
	status.ExternalManagedControlPlane = new(true)
	version := plan.CurrentVersion(observed)
	status.Version, status.Versions = version, versions(version)
	status.AutoUpgradeVersion = plan.AutoUpgradeVersion(in.planned)
	status.OIDCIssuerProfile = nil
	if url := plan.IssuerURL(observed); url != "" {
		status.OIDCIssuerProfile = &infrav1.OIDCIssuerProfileStatus{IssuerURL: new(url)}
	}
}

func reportGroups(in *input, outcome arm.Outcome) {
	report.Set(in.controlPlane, groups, report.Groups(outcome, groups, plan.Group))
	in.controlPlane.Status.Resources = report.Resources(outcome)
}

// reportSummary sets Ready from the other conditions.
func reportSummary(in *input) {
	var all []metav1.Condition
	for _, conditionType := range append(slices.Clone(groups), further...) {
		if condition := conditions.Get(in.controlPlane, conditionType); condition != nil {
			all = append(all, *condition)
		}
	}
	report.Put(in.controlPlane, report.Summary(infrav1.ReadyCondition, all))
}

// reportRefusal says which fields are wrong; nothing is made until they are corrected.
func reportRefusal(in *input, errs field.ErrorList) {
	conditions.Set(in.controlPlane, report.Refusal(infrav1.ManagedClusterRunningCondition, errs))
	reportSummary(in)
}

// reportProblem says why Azure could not be asked, and returns when it is tried again.
func reportProblem(in *input, err error) ctrl.Result {
	return reportError(in, infrav1.ManagedClusterRunningCondition, err)
}

// reportUnusable says why a cluster that is in place cannot be used.
func reportUnusable(in *input, err error) ctrl.Result {
	return reportError(in, infrav1.KubeconfigReadyCondition, err)
}

func reportError(in *input, conditionType string, err error) ctrl.Result {
	in.story.Failed(err)
	after := report.Unread(in.controlPlane, err, conditionType)
	reportSummary(in)
	return ctrl.Result{RequeueAfter: after}
}
