// Package azureasomanagedmachinepool reconciles AzureASOManagedMachinePools: the resource manifests of an agent pool of an AKS cluster,
// and the providerIDs of its VMs, by which Cluster API finds the nodes.
//
// While AKS's autoscaler runs, Azure decides the number of nodes, and the MachinePool follows it.
package azureasomanagedmachinepool

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	features "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools/finalizers,verbs=update

// Kind implements reconcile.Kind for AzureASOManagedMachinePool.
type Kind struct {
	reconcile.Defaults[input]

	Client client.Client
	Engine *engine.Engine
	Facts  *facts.Facts
	// Features are the gates and flags of the manager.
	Features features.Features
}

var _ reconcile.Kind[*infrav1.AzureASOManagedMachinePool, input] = &Kind{}

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = []string{infrav1.ResourcesReadyCondition, infrav1.ScaleSetReadyCondition}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: asoresources.MachinePoolKind, Finalizer: infrav1.ASOManagedFinalizer, PrimaryCondition: infrav1.ResourcesReadyCondition,
		SummarizedConditions: summarizedConditions,
		WatchedObjects:       k.watchedObjects, PublishesValues: true, Stoppable: true, StopsWithCluster: true,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	wakes := asoresources.MapToKind(k.Client, asoresources.MachinePoolKind)
	spec := []predicate.Predicate{watch.SpecChanges()}
	cluster := watch.SpecOrStatusChanges(func(c *infrav1.AzureASOManagedCluster) any { return asoresources.AllInPlace(c) })
	controlPlane := watch.SpecOrStatusChanges(func(c *infrav1.AzureASOManagedControlPlane) any {
		return []any{asoresources.AllInPlace(c), c.Status.Version, aks.StoppedStatus(c)}
	})
	return []reconcile.Watch{
		{Object: &clusterv1.MachinePool{}, MapFunc: mapMachinePool, Predicates: spec},
		{Object: &clusterv1.Cluster{}, MapFunc: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedCluster{}, MapFunc: wakes, Predicates: []predicate.Predicate{cluster}},
		{Object: &infrav1.AzureASOManagedControlPlane{}, MapFunc: wakes, Predicates: []predicate.Predicate{controlPlane}},
		{Object: &corev1.Secret{}, MapFunc: asoresources.MapSecret(k.Client, asoresources.MachinePoolKind), MetadataOnly: true},
		{Object: &corev1.ConfigMap{}, MapFunc: asoresources.MapConfigMap(k.Client, asoresources.MachinePoolKind), MetadataOnly: true},
	}, nil
}

// mapMachinePool wakes the pool that a MachinePool refers to.
func mapMachinePool(_ context.Context, obj client.Object) []ctrl.Request {
	name := obj.(*clusterv1.MachinePool).Spec.Template.Spec.InfrastructureRef.Name
	if !asoresources.RefersToPool(obj.(*clusterv1.MachinePool), name) {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}}}
}
