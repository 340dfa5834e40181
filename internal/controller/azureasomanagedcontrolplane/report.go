package azureasomanagedcontrolplane

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Report implements reconcile.Kind.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.object.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	resources, _ := asoresources.ReportResources(in.object, in.planned, outcome, in.plainObjects)
	status := &in.object.Status
	status.Resources = resources
	cluster := findCluster(in, outcome)
	reportCluster(in, cluster)
	stopped := aks.ReportStopped(in.object, infrav1.ResourcesReadyCondition, cluster.Observed)
	power.ReportAKSCluster(in.object, infrav1.ResourcesReadyCondition, in.power, cluster.Observed)
	if len(in.refusedSizes) > 0 {
		return 0, reconcile.RefuseSpec(in.refusedSizes)
	}
	if !in.acted {
		return 0, nil
	}
	reconcile.SummarizeReady(in.object, summarizedConditions)
	if stopped && !in.power.IsRequested() {
		return 0, reconcile.RecheckIn(aks.UnhealthyRetry, nil)
	}
	return asoresources.ValidFor(in.plainObjects, in.accessValidFor), nil
}

// reportCluster copies the state of the AKS cluster to the status, and shows whether its kubeconfigs are published.
func reportCluster(in *input, cluster arm.Result) {
	status := &in.object.Status
	status.ExternalManagedControlPlane = new(true)
	shown := plan.ReadControlPlaneStatus(cluster.Observed)
	if len(cluster.Observed) > 0 {
		status.Version, status.Versions = shown.Version, nil
		if shown.Version != "" {
			status.Versions = []clusterv1.StatusVersion{{Version: shown.Version}}
		}
	}
	if in.published {
		status.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: shown.Host, Port: shown.Port}
		status.Initialization.ControlPlaneInitialized = new(true)
		conditions.Set(in.object,
			metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	}
	initialized := status.Initialization.ControlPlaneInitialized != nil && *status.Initialization.ControlPlaneInitialized
	status.Ready, status.Initialized = initialized, initialized
	conditions.Set(in.object, aks.AvailableCondition(cluster.Observed, initialized))
}
