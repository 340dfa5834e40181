package azurecluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// listMachines lists the AzureMachines of the cluster by label, and those without the label by their Machine.
func (k *Kind) listMachines(ctx context.Context, in *input) ([]client.Object, error) {
	list := &infrav1.AzureMachineList{}
	if err := k.Client.List(ctx, list, client.InNamespace(in.azureCluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureMachines: %w", err)
	}
	var out []client.Object
	for i := range list.Items {
		azureMachine := &list.Items[i]
		name := azureMachine.Labels[clusterv1.ClusterNameLabel]
		if name == "" {
			machine, err := util.GetOwnerMachine(ctx, k.Client, azureMachine.ObjectMeta)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("get the Machine that owns AzureMachine %s: %w", azureMachine.Name, err)
			}
			if machine != nil {
				name = machine.Spec.ClusterName
			}
		}
		if name == in.cluster.Name {
			out = append(out, azureMachine.DeepCopy())
		}
	}
	return out, nil
}

// mapMachine wakes the AzureCluster of a new control plane machine, and one that waits for a machine to be gone.
func (k *Kind) mapMachine(ctx context.Context, obj client.Object) []ctrl.Request {
	waiting := k.mapToWaiting(ctx, obj)
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" || !obj.GetDeletionTimestamp().IsZero() {
		return waiting
	}
	cluster, err := util.GetClusterByName(ctx, k.Client, obj.GetNamespace(), name)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			ctrl.LoggerFrom(ctx).Error(err, "get the Cluster of an AzureMachine", "cluster", name)
		}
		return waiting
	}
	ref := cluster.Spec.InfrastructureRef
	if ref.APIGroup != infrav1.GroupVersion.Group || ref.Kind != "AzureCluster" {
		return waiting
	}
	return append(waiting, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}})
}

// mapToWaiting wakes the AzureClusters whose deletion may wait for obj. The Cluster and Machine of obj may be gone.
func (k *Kind) mapToWaiting(ctx context.Context, obj client.Object) []ctrl.Request {
	list := &infrav1.AzureClusterList{}
	if err := k.Client.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list AzureClusters")
		return nil
	}
	of := obj.GetLabels()[clusterv1.ClusterNameLabel]
	var out []ctrl.Request
	for i := range list.Items {
		azureCluster := &list.Items[i]
		if name := deletion.ClusterName(azureCluster); !azureCluster.DeletionTimestamp.IsZero() && (of == "" || name == "" || name == of) {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(azureCluster)})
		}
	}
	return out
}

// createdOrDeleted passes the creation of control plane machines, and the deletion timestamp and the removal of all machines. A new
// machine is the sign of a new template of the control plane: that is not watched, because its kind need not be installed.
func createdOrDeleted() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			_, ok := e.Object.GetLabels()[clusterv1.MachineControlPlaneLabel]
			return ok
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return true },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
