// Package azuremanagedcluster reconciles AzureManagedClusters, the infrastructure objects of AKS clusters. They have no resources in
// Azure, and copy the endpoint of the AzureManagedControlPlane for Cluster API.
package azuremanagedcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedclusters/status,verbs=patch

// Kind implements reconcile.LocalKind for AzureManagedCluster.
type Kind struct{ Client client.Client }

var _ reconcile.LocalKind[*infrav1.AzureManagedCluster, input] = &Kind{}

// input is the input of one reconciliation.
type input struct {
	cluster      *clusterv1.Cluster
	azureCluster *infrav1.AzureManagedCluster
	// controlPlane is nil if it does not exist or is of another kind.
	controlPlane *infrav1.AzureManagedControlPlane
}

// Declare implements reconcile.Loader.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: aks.ClusterKind, ExternallyManageable: true, PrimaryCondition: infrav1.ReadyCondition, WatchedObjects: k.watchedObjects,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(ctx context.Context, mgr ctrl.Manager) ([]reconcile.Watch, error) {
	scheme, log := mgr.GetScheme(), ctrl.LoggerFrom(ctx)
	ofCluster := util.ClusterToInfrastructureMapFunc(ctx, infrav1.GroupVersion.WithKind(aks.ClusterKind), mgr.GetClient(),
		&infrav1.AzureManagedCluster{})
	changes := predicates.Any(scheme, log, predicates.ClusterCreateNotPaused(scheme, log), predicates.ClusterPausedTransitions(scheme, log))
	stalled := watch.SpecOrStatusChanges(func(c *infrav1.AzureManagedControlPlane) any {
		reason, message := status.StalledCause(c)
		return []string{reason, message}
	})
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, MapFunc: ofCluster, Predicates: []predicate.Predicate{changes}},
		{Object: &infrav1.AzureManagedControlPlane{}, MapFunc: k.mapControlPlane, Predicates: []predicate.Predicate{stalled}},
	}, nil
}

// mapControlPlane wakes the AzureManagedCluster of a control plane's Cluster.
func (k *Kind) mapControlPlane(ctx context.Context, obj client.Object) []ctrl.Request {
	cluster, err := aks.FindCluster(ctx, k.Client, obj, aks.ControlPlaneKind)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the Cluster of an AzureManagedControlPlane")
	}
	if cluster == nil || cluster.Spec.InfrastructureRef.Kind != aks.ClusterKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}}}
}

// Load implements reconcile.Loader.
func (k *Kind) Load(ctx context.Context, azureCluster *infrav1.AzureManagedCluster) (*input, reconcile.Target, error) {
	if !azureCluster.DeletionTimestamp.IsZero() {
		return nil, reconcile.Target{}, reconcile.NothingToDo()
	}
	cluster, err := aks.FindCluster(ctx, k.Client, azureCluster, aks.ClusterKind)
	if err == nil && cluster == nil {
		err = reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureManagedCluster. Create one that refers to it in spec.infrastructureRef")
	}
	return &input{cluster: cluster, azureCluster: azureCluster},
		reconcile.Target{Cluster: cluster, WasProvisioned: azureCluster.Status.Initialization.Provisioned != nil}, err
}

// LoadStatusInput implements reconcile.LocalKind.
func (k *Kind) LoadStatusInput(ctx context.Context, in *input) (err error) {
	in.controlPlane, err = k.findControlPlane(ctx, in.cluster)
	return err
}

// Report implements reconcile.LocalKind.
func (k *Kind) Report(in *input) error {
	status.SetConditions(in.azureCluster, nil, []metav1.Condition{copyEndpoint(in.azureCluster, in.cluster, in.controlPlane)})
	return nil
}

// findControlPlane returns the AzureManagedControlPlane of the cluster; nil if it does not exist or is of another kind.
func (k *Kind) findControlPlane(ctx context.Context, cluster *clusterv1.Cluster) (*infrav1.AzureManagedControlPlane, error) {
	if cluster.Spec.ControlPlaneRef.Kind != aks.ControlPlaneKind {
		return nil, nil
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}
	if err := k.Client.Get(ctx, key, controlPlane); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureManagedControlPlane %s: %w", key, err)
	}
	return controlPlane, nil
}

// copyEndpoint copies the endpoint of the control plane, and returns the Ready condition. It is pure.
func copyEndpoint(azureCluster *infrav1.AzureManagedCluster, cluster *clusterv1.Cluster,
	controlPlane *infrav1.AzureManagedControlPlane) metav1.Condition {
	condition := metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse}
	var endpoint infrav1.APIEndpoint
	known := false
	if controlPlane != nil {
		endpoint, known = plan.KnownEndpoint(controlPlane)
	}
	switch {
	case cluster.Spec.ControlPlaneRef.Kind != aks.ControlPlaneKind:
		condition.Reason = infrav1.InvalidConfigurationReason
		condition.Message = clusterinfra.ControlPlaneKindMessage(cluster, aks.ClusterKind, aks.ControlPlaneKind)
	case controlPlane == nil:
		condition.Reason = infrav1.WaitingReason
		condition.Message = "AzureManagedControlPlane " + cluster.Spec.ControlPlaneRef.Name + " does not exist yet"
	case !known:
		condition = status.WaitFor(aks.ControlPlaneKind, controlPlane, "waits for the endpoint of")
		condition.Type = infrav1.ReadyCondition
	default:
		azureCluster.Spec.ControlPlaneEndpoint = endpoint
		azureCluster.Status.Initialization.Provisioned = new(true)
		azureCluster.Status.Ready = true
		condition.Status, condition.Reason = metav1.ConditionTrue, infrav1.ReadyReason
	}
	return condition
}
