package azuremanagedcontrolplane

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// conditionGroups are the conditions about Azure resources, in their order of display.
var conditionGroups = []string{
	infrav1.ResourceGroupReadyCondition,
	infrav1.VNetReadyCondition,
	infrav1.SubnetsReadyCondition,
	infrav1.ManagedClusterRunningCondition,
	infrav1.PrivateEndpointsReadyCondition,
	infrav1.FleetReadyCondition,
	infrav1.AKSExtensionsReadyCondition,
}

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = append(slices.Clone(conditionGroups), infrav1.KubeconfigReadyCondition, infrav1.AzureResourceAvailableCondition)

// Report implements reconcile.Kind.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.controlPlane.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	reportConverged(in, outcome)
	result, _ := outcome.Result(plan.ClusterID(in.planned))
	if len(in.refusedSizes) > 0 {
		reportAvailable(in, result)
		return 0, reconcile.RefuseSpec(in.refusedSizes)
	}
	if len(result.Observed) > 0 {
		reportObserved(in, result.Observed)
	}
	if in.published {
		reportPublished(in)
	}
	reportAvailable(in, result)
	if !in.acted {
		return 0, nil
	}
	reconcile.SummarizeReady(in.controlPlane, summarizedConditions)
	if in.power != nil && in.power.Stop {
		return 0, nil
	}
	if outcome.IsDone() && !conditions.IsTrue(in.controlPlane, infrav1.ReadyCondition) && !status.AwaitsOnlyServiceOwner(in.controlPlane) {
		return 0, reconcile.RecheckIn(aks.UnhealthyRetry, nil)
	}
	return in.accessValidFor, nil
}

// reportPublished shows that the access to the cluster is published.
func reportPublished(in *input) {
	status := &in.controlPlane.Status
	conditions.Set(in.controlPlane,
		metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	status.Initialization.ControlPlaneInitialized = new(true)
	status.Ready, status.Initialized = true, true
	if in.health != nil {
		reportHealth(in)
	}
	if in.clusterInfo != nil {
		conditions.Set(in.controlPlane, *in.clusterInfo)
	}
}

// reportConverged sets the conditions by the outcome.
func reportConverged(in *input, outcome arm.Outcome) {
	reportGroups(in, outcome)
	result, _ := outcome.Result(plan.ClusterID(in.planned))
	aks.ReportStopped(in.controlPlane, infrav1.ManagedClusterRunningCondition, result.Observed)
}

// reportAvailable sets the condition Available by the state in Azure.
func reportAvailable(in *input, made arm.Result) {
	initialized := in.controlPlane.Status.Initialization.ControlPlaneInitialized
	conditions.Set(in.controlPlane, aks.AvailableCondition(made.Observed, initialized != nil && *initialized))
	power.ReportAKSCluster(in.controlPlane, infrav1.ManagedClusterRunningCondition, in.power, made.Observed)
}

// reportObserved copies the state of the cluster in AKS to the status, also while an operation runs.
func reportObserved(in *input, observed json.RawMessage) {
	spec, status := &in.controlPlane.Spec, &in.controlPlane.Status
	if host, port := managedcluster.APIServerEndpoint(observed); host != "" {
		spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: host, Port: port}
		metav1.SetMetaDataAnnotation(&in.controlPlane.ObjectMeta, infrav1.EndpointAnnotation, plan.FormatEndpoint(spec.ControlPlaneEndpoint))
	}
	status.ExternalManagedControlPlane = new(true)
	version := managedcluster.CurrentVersion(observed)
	status.Version, status.Versions = version, statusVersions(version)
	status.AutoUpgradeVersion = plan.AutoUpgradeVersion(in.planned)
	status.OIDCIssuerProfile = nil
	if url := managedcluster.IssuerURL(observed); url != "" {
		status.OIDCIssuerProfile = &infrav1.OIDCIssuerProfileStatus{IssuerURL: new(url)}
	}
}

func reportGroups(in *input, outcome arm.Outcome) {
	status.SetConditions(in.controlPlane, conditionGroups, status.GroupConditions(outcome, conditionGroups, plan.ConditionForPruned))
	in.controlPlane.Status.Resources = status.ResourceStatuses(outcome)
}

// statusVersions returns the version that AKS runs in the form of Cluster API's contract.
func statusVersions(version string) []clusterv1.StatusVersion {
	if version == "" {
		return nil
	}
	return []clusterv1.StatusVersion{{Version: version}}
}
