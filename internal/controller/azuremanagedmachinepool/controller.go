// Package azuremanagedmachinepool reconciles AzureManagedMachinePools: one agent pool of an AKS cluster, and the providerIDs of its
// VMs, by which Cluster API finds the nodes.
//
// While AKS's autoscaler runs, Azure decides the number of nodes, and the MachinePool follows it.
package azuremanagedmachinepool

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools/status,verbs=patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;patch

// Kind implements reconcile.Kind for AzureManagedMachinePool.
type Kind struct {
	reconcile.Defaults[input]

	Client client.Client
	Engine *engine.Engine
	Facts  *facts.Facts
}

var _ reconcile.Kind[*infrav1.AzureManagedMachinePool, input] = &Kind{}

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = []string{infrav1.AgentPoolsReadyCondition, infrav1.ScaleSetReadyCondition}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: aks.MachinePoolKind, Finalizer: infrav1.ManagedMachinePoolFinalizer, PrimaryCondition: infrav1.AgentPoolsReadyCondition,
		SummarizedConditions: summarizedConditions, Stoppable: true, StopsWithCluster: true,
		WatchedObjects: k.watchedObjects,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	spec := []predicate.Predicate{watch.SpecChanges()}
	return []reconcile.Watch{
		{Object: &clusterv1.MachinePool{}, MapFunc: mapMachinePool, Predicates: spec},
		{Object: &clusterv1.Cluster{}, MapFunc: k.mapCluster, Predicates: spec},
		{Object: &infrav1.AzureManagedControlPlane{}, MapFunc: k.mapControlPlane,
			Predicates: []predicate.Predicate{watch.SpecOrStatusChanges(controlPlaneStatusRead)}},
	}, nil
}

// controlPlaneStatusRead returns the part of a control plane's status that reconciliations of pools read.
func controlPlaneStatusRead(controlPlane *infrav1.AzureManagedControlPlane) any {
	status := controlPlane.Status
	return []any{status.Initialization, status.Version, status.AutoUpgradeVersion, aks.StoppedStatus(controlPlane)}
}

// mapMachinePool wakes the pool that a MachinePool refers to.
func mapMachinePool(_ context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.MachinePool).Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != infrav1.GroupVersion.Group || ref.Kind != aks.MachinePoolKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}}}
}

// mapCluster wakes the pools of a Cluster.
func (k *Kind) mapCluster(ctx context.Context, obj client.Object) []ctrl.Request {
	if obj.(*clusterv1.Cluster).Spec.ControlPlaneRef.Kind != aks.ControlPlaneKind {
		return nil
	}
	list := &clusterv1.MachinePoolList{}
	if err := k.Client.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list MachinePools", "cluster", obj.GetName())
		return nil
	}
	var out []ctrl.Request
	for i := range list.Items {
		if list.Items[i].Spec.ClusterName == obj.GetName() {
			out = append(out, mapMachinePool(ctx, &list.Items[i])...)
		}
	}
	return out
}

// mapControlPlane wakes the pools of a control plane that changed.
func (k *Kind) mapControlPlane(ctx context.Context, obj client.Object) []ctrl.Request {
	cluster, err := aks.FindCluster(ctx, k.Client, obj, aks.ControlPlaneKind)
	if err != nil || cluster == nil {
		return nil
	}
	return k.mapCluster(ctx, cluster)
}
