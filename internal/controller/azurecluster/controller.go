// Package azurecluster reconciles AzureCluster: the resource group, network, load balancers and DNS of a self-managed
// cluster.
//
// A pass loads the objects, asks Azure for the facts that the plan depends on, plans, lets the engine converge, and
// patches the status. It never waits for Azure: the engine wakes the object when something moved.
package azurecluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/wake"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;clusters/status,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconciler reconciles AzureClusters.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Engine   *engine.Engine
	Access   *access.Gate
	Facts    *facts.Facts
	Features plan.Features
	// Resync is how long a cluster found in order is left alone.
	Resync time.Duration
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string

	teller  *story.Teller
	wake    wake.Source
	settled *settled.Memory
	written patch.Written
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	r.settled = settled.New(r.Resync, time.Now)
	r.teller = story.New(r.Recorder)
	log := ctrl.LoggerFrom(ctx)
	gvk := infrav1.GroupVersion.WithKind("AzureCluster")
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.AzureCluster{}, builder.WithPredicates(watch.Own())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		WithEventFilter(predicates.ResourceIsNotExternallyManaged(mgr.GetScheme(), log)).
		Watches(&clusterv1.Cluster{},
			handler.EnqueueRequestsFromMapFunc(util.ClusterToInfrastructureMapFunc(ctx, gvk, mgr.GetClient(), &infrav1.AzureCluster{})),
			builder.WithPredicates(predicates.Any(mgr.GetScheme(), log, predicates.ClusterCreateNotPaused(mgr.GetScheme(), log), predicates.ClusterPausedTransitions(mgr.GetScheme(), log)))).
		Watches(&infrav1.AzureMachine{}, handler.EnqueueRequestsFromMapFunc(r.azureClustersOfMachine), builder.WithPredicates(comingOrGone())).
		Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(r.users().OfIdentity), builder.WithPredicates(watch.Identity())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.users().OfSecret), builder.OnlyMetadata).
		WatchesRawSource(r.wake.Source()).
		Complete(r)
}

// Reconcile does one pass for one AzureCluster.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	in, err := r.load(ctx, request)
	if err != nil || in == nil {
		return ctrl.Result{}, err
	}
	in.changes, result, err = lifecycle.Enter(ctx, r.Client, &r.written, in.cluster, in.azureCluster, infrav1.ClusterFinalizer)
	if err != nil || in.changes == nil {
		return result, err
	}
	defer in.changes.End(ctx, &result, &err)
	in.story = r.teller.Begin(ctx, in.azureCluster)
	defer in.story.End()
	if !in.azureCluster.DeletionTimestamp.IsZero() {
		return r.delete(ctx, in)
	}
	if err := r.open(ctx, in); err != nil {
		return reportProblem(in, err), nil
	}
	if err := r.Access.Hold(ctx, in.access, infrav1.ClusterFinalizer, in.azureCluster); err != nil {
		return ctrl.Result{}, fmt.Errorf("hold the identity: %w", err)
	}
	return r.converge(ctx, in)
}
