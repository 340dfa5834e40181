// Package azuremanagedcluster reconciles AzureManagedCluster, which stands for the infrastructure of an AKS cluster: it has
// nothing in Azure, and shows Cluster API where the API server of the AzureManagedControlPlane is.
package azuremanagedcluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedclusters,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedclusters/status,verbs=get;update;patch

// Reconciler reconciles AzureManagedClusters.
type Reconciler struct {
	Client client.Client
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string

	written patch.Written
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	log := ctrl.LoggerFrom(ctx)
	gvk := infrav1.GroupVersion.WithKind("AzureManagedCluster")
	return ctrl.NewControllerManagedBy(mgr).
		// The filter is not for the control planes: one that somebody else manages has an endpoint, too.
		For(&infrav1.AzureManagedCluster{}, builder.WithPredicates(predicates.ResourceIsNotExternallyManaged(mgr.GetScheme(), log), watch.Own())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		Watches(&clusterv1.Cluster{},
			handler.EnqueueRequestsFromMapFunc(util.ClusterToInfrastructureMapFunc(ctx, gvk, mgr.GetClient(), &infrav1.AzureManagedCluster{})),
			builder.WithPredicates(predicates.Any(mgr.GetScheme(), log, predicates.ClusterCreateNotPaused(mgr.GetScheme(), log), predicates.ClusterPausedTransitions(mgr.GetScheme(), log)))).
		Watches(&infrav1.AzureManagedControlPlane{}, handler.EnqueueRequestsFromMapFunc(r.clustersOfControlPlane), builder.WithPredicates(watch.Spec())).
		Complete(r)
}

// clustersOfControlPlane wakes the AzureManagedCluster beside a control plane.
func (r *Reconciler) clustersOfControlPlane(ctx context.Context, obj client.Object) []ctrl.Request {
	cluster, err := managed.ClusterOf(ctx, r.Client, obj, managed.ControlPlaneKind)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the Cluster of an AzureManagedControlPlane")
	}
	if cluster == nil || cluster.Spec.InfrastructureRef.Kind != managed.ClusterKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}}}
}

// Reconcile does one pass for one AzureManagedCluster.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	azureCluster := &infrav1.AzureManagedCluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, azureCluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if annotations.IsExternallyManaged(azureCluster) || !azureCluster.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	cluster, err := managed.ClusterOf(ctx, r.Client, azureCluster, managed.ClusterKind)
	if err != nil || cluster == nil {
		return ctrl.Result{}, err
	}
	changes, result, err := lifecycle.Enter(ctx, r.Client, &r.written, cluster, azureCluster, "")
	if err != nil || changes == nil {
		return result, err
	}
	controlPlane, err := r.controlPlane(ctx, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	report.Set(azureCluster, nil, []metav1.Condition{show(azureCluster, cluster, controlPlane)})
	return ctrl.Result{}, changes.Finish(ctx)
}

// controlPlane is the AzureManagedControlPlane of the cluster; nil when it is not there or of another kind.
func (r *Reconciler) controlPlane(ctx context.Context, cluster *clusterv1.Cluster) (*infrav1.AzureManagedControlPlane, error) {
	if cluster.Spec.ControlPlaneRef.Kind != managed.ControlPlaneKind {
		return nil, nil
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}
	if err := r.Client.Get(ctx, key, controlPlane); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureManagedControlPlane %s: %w", key, err)
	}
	return controlPlane, nil
}

// show copies the endpoint of the control plane, and returns the Ready condition. It is pure.
func show(azureCluster *infrav1.AzureManagedCluster, cluster *clusterv1.Cluster, controlPlane *infrav1.AzureManagedControlPlane) metav1.Condition {
	condition := metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse}
	switch {
	case cluster.Spec.ControlPlaneRef.Kind != managed.ControlPlaneKind:
		condition.Reason = infrav1.InvalidConfigurationReason
		condition.Message = fmt.Sprintf("spec.controlPlaneRef of Cluster %s is of kind %q: an %s goes with an %s only", cluster.Name, cluster.Spec.ControlPlaneRef.Kind, managed.ClusterKind, managed.ControlPlaneKind)
	case controlPlane == nil:
		condition.Reason = infrav1.WaitingReason
		condition.Message = "AzureManagedControlPlane " + cluster.Spec.ControlPlaneRef.Name + " is not there yet"
	case controlPlane.Spec.ControlPlaneEndpoint.Host == "":
		condition.Reason = infrav1.WaitingReason
		condition.Message = "waits for the endpoint of AzureManagedControlPlane " + controlPlane.Name
	default:
		azureCluster.Spec.ControlPlaneEndpoint = controlPlane.Spec.ControlPlaneEndpoint
		azureCluster.Status.Initialization.Provisioned = new(true)
		azureCluster.Status.Ready = true
		condition.Status, condition.Reason = metav1.ConditionTrue, infrav1.ReadyReason
	}
	return condition
}
