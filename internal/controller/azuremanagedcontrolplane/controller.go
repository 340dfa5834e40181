// Package azuremanagedcontrolplane reconciles AzureManagedControlPlanes: an AKS cluster with its resource group, network, private
// endpoints, fleet membership and extensions, and its kubeconfigs.
package azuremanagedcontrolplane

import (
	"context"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinepools,verbs=get;list;watch

// Kind implements reconcile.Kind for AzureManagedControlPlane.
type Kind struct {
	reconcile.Defaults[input]

	Client client.Client
	Facts  *facts.Facts
	// Workload returns access to the ConfigMaps of an AKS cluster by a kubeconfig.
	Workload func(kubeconfig []byte) (corev1client.ConfigMapsGetter, error)
	// ResourceHealth enables the condition AzureResourceAvailable.
	ResourceHealth bool
}

var _ reconcile.Kind[*infrav1.AzureManagedControlPlane, input] = &Kind{}

// legacyFinalizer is the finalizer of control planes in early releases of the established provider. It is removed.
const legacyFinalizer = infrav1.ClusterFinalizer

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	users := access.ControlPlaneUsers(k.Client)
	declared := reconcile.Declaration{
		Name: aks.ControlPlaneKind, Finalizer: infrav1.ManagedControlPlaneFinalizer, FormerFinalizers: []string{legacyFinalizer},
		IdentityUsers: &users, ExternallyManageable: true, Stoppable: true, PrimaryCondition: infrav1.ManagedClusterRunningCondition,
		SummarizedConditions: summarizedConditions,
		WatchedObjects:       k.watchedObjects, PublishesValues: true,
	}
	if !k.ResourceHealth {
		declared.ObsoleteConditions = []string{infrav1.AzureResourceAvailableCondition}
	}
	return declared
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	spec := []predicate.Predicate{watch.SpecChanges()}
	// The deletion of the cluster waits only for the removal of scale sets that joined it; their other changes do not matter.
	gone := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, MapFunc: mapCluster, Predicates: spec},
		{Object: &clusterv1.MachinePool{}, MapFunc: k.mapMachinePool, Predicates: spec},
		{Object: &infrav1.AzureManagedMachinePool{}, MapFunc: k.mapPool, Predicates: spec},
		{Object: &infrav1.AzureMachinePool{}, MapFunc: k.mapPool, Predicates: []predicate.Predicate{gone}},
	}, nil
}

// mapCluster wakes the control plane of a Cluster, whose CIDR blocks and pause are its input.
func mapCluster(_ context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.Cluster).Spec.ControlPlaneRef
	if ref.Kind != aks.ControlPlaneKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}}}
}

// mapMachinePool wakes the control plane of a MachinePool.
func (k *Kind) mapMachinePool(ctx context.Context, obj client.Object) []ctrl.Request {
	return k.mapClusterName(ctx, obj.GetNamespace(), obj.(*clusterv1.MachinePool).Spec.ClusterName)
}

// mapPool wakes the control plane of a pool that Cluster API has labelled. The first pools are part of the cluster's creation, and an
// operation on a pool blocks operations of the cluster.
func (k *Kind) mapPool(ctx context.Context, obj client.Object) []ctrl.Request {
	return k.mapClusterName(ctx, obj.GetNamespace(), obj.GetLabels()[clusterv1.ClusterNameLabel])
}

func (k *Kind) mapClusterName(ctx context.Context, namespace, name string) []ctrl.Request {
	if name == "" {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if k.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, cluster) == nil {
		return mapCluster(ctx, cluster)
	}
	// A control plane that outlived its Cluster may wait for its pools to be gone.
	controlPlane, err := aks.FindControlPlane(ctx, k.Client, namespace, name)
	if err != nil || controlPlane == nil {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(controlPlane)}}
}
