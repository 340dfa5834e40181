// Package azuremachine reconciles AzureMachines: a VM with its network interfaces, disks and rules.
//
// A VM is created once. A VM that disappears is reported, so that a MachineHealthCheck can act, and is never created again for the same
// object.
package azuremachine

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools,verbs=list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;patch

// Kind implements reconcile.Kind for AzureMachine.
type Kind struct {
	reconcile.Defaults[input]

	Client   client.Client
	Facts    *facts.Facts
	Features plan.Features
	// Secrets reads the watched metadata of Secrets. With nil, each reconciliation of a machine without a VM reads its bootstrap data.
	Secrets client.Reader

	bootstrap selfmanaged.BootstrapSecrets
	passwords selfmanaged.Passwords
}

var _ reconcile.Kind[*infrav1.AzureMachine, input] = &Kind{}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: "AzureMachine", Finalizer: infrav1.MachineFinalizer, PrimaryCondition: infrav1.VMRunningCondition,
		WatchedObjects: k.watchedObjects, Stoppable: true,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(ctx context.Context, mgr ctrl.Manager) ([]reconcile.Watch, error) {
	ofCluster, err := util.ClusterToTypedObjectsMapper(mgr.GetClient(), &infrav1.AzureMachineList{}, mgr.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("map Clusters to AzureMachines: %w", err)
	}
	provisioned := predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), ctrl.LoggerFrom(ctx))
	network := watch.InfrastructureChanges(func(c *infrav1.AzureCluster) any { return c.Status.FailureDomains })
	return []reconcile.Watch{
		{Object: &clusterv1.Machine{}, MapFunc: util.MachineToInfrastructureMapFunc(infrav1.GroupVersion.WithKind("AzureMachine")),
			Predicates: []predicate.Predicate{watch.MachineChanges()}},
		{Object: &clusterv1.Cluster{}, MapFunc: ofCluster, Predicates: []predicate.Predicate{provisioned}},
		{Object: &infrav1.AzureCluster{}, MapFunc: k.mapAzureCluster, Predicates: []predicate.Predicate{network}},
	}, nil
}

// mapAzureCluster wakes the AzureMachines of a cluster whose network changed.
func (k *Kind) mapAzureCluster(ctx context.Context, obj client.Object) []ctrl.Request {
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil
	}
	list := &infrav1.AzureMachineList{}
	if err := k.Client.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: name},
		client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list AzureMachines", "cluster", name)
		return nil
	}
	var out []ctrl.Request
	for _, item := range list.Items {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
	}
	return out
}
