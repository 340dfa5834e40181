// Package azurecluster reconciles AzureClusters: the resource group, network, load balancers and DNS of a self-managed cluster.
package azurecluster

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Kind implements reconcile.Kind for AzureCluster.
type Kind struct {
	reconcile.Defaults[input]

	Client   client.Client
	Facts    *facts.Facts
	Features plan.Features
}

var _ reconcile.Kind[*infrav1.AzureCluster, input] = &Kind{}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	users := access.AzureClusterUsers(k.Client)
	return reconcile.Declaration{
		Name: "AzureCluster", Finalizer: infrav1.ClusterFinalizer, IdentityUsers: &users, ExternallyManageable: true,
		PrimaryCondition: infrav1.NetworkInfrastructureReadyCondition, ReadyAliases: []string{infrav1.NetworkInfrastructureReadyCondition},
		WatchedObjects: k.watchedObjects,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(ctx context.Context, mgr ctrl.Manager) ([]reconcile.Watch, error) {
	scheme, log := mgr.GetScheme(), ctrl.LoggerFrom(ctx)
	ofCluster := util.ClusterToInfrastructureMapFunc(ctx, infrav1.GroupVersion.WithKind("AzureCluster"), mgr.GetClient(),
		&infrav1.AzureCluster{})
	changes := predicates.Any(scheme, log, predicates.ClusterCreateNotPaused(scheme, log), predicates.ClusterPausedTransitions(scheme, log))
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, MapFunc: ofCluster, Predicates: []predicate.Predicate{changes}},
		{Object: &infrav1.AzureMachine{}, MapFunc: k.mapMachine, Predicates: []predicate.Predicate{createdOrDeleted()}},
		{Object: &infrav1.AzureMachinePool{}, MapFunc: k.mapToWaiting, Predicates: []predicate.Predicate{createdOrDeleted()}},
	}, nil
}
