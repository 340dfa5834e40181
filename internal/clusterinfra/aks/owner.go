// Package aks reads the input of the plans of an AKS cluster and its pools from Kubernetes: the objects that belong together, and the
// Secrets that patches refer to. Calls block for reads and may be repeated. Only FollowAutoscaler writes: it
// patches the MachinePool.
package aks

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// Kinds of an AKS cluster.
const (
	ControlPlaneKind = "AzureManagedControlPlane"
	ClusterKind      = "AzureManagedCluster"
	MachinePoolKind  = "AzureManagedMachinePool"
)

// Related objects are searched among all objects of a kind in a namespace. The cache returns them without copies, and only the results
// are copied.

// FindCluster returns the Cluster that owns an object of a kind, or that refers to it: Cluster API takes seconds to set the owner
// reference, and nothing depends on it. It returns nil if there is none.
func FindCluster(ctx context.Context, c client.Reader, obj client.Object, kind string) (*clusterv1.Cluster, error) {
	if name := owner.FindName(obj, clusterv1.ClusterKind); name != "" {
		cluster := &clusterv1.Cluster{}
		key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}
		if err := c.Get(ctx, key, cluster); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return cluster, nil
	}
	list := &clusterv1.ClusterList{}
	if err := c.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list Clusters: %w", err)
	}
	for i, item := range list.Items {
		if !item.DeletionTimestamp.IsZero() {
			continue
		}
		for _, ref := range []clusterv1.ContractVersionedObjectReference{item.Spec.InfrastructureRef, item.Spec.ControlPlaneRef} {
			if ref.APIGroup == infrav1.GroupVersion.Group && ref.Kind == kind && ref.Name == obj.GetName() {
				return list.Items[i].DeepCopy(), nil
			}
		}
	}
	return nil, nil
}

// FindMachinePool returns the MachinePool that refers to an AzureManagedMachinePool, or nil.
func FindMachinePool(ctx context.Context, c client.Reader, azurePool *infrav1.AzureManagedMachinePool) (*clusterv1.MachinePool, error) {
	list := &clusterv1.MachinePoolList{}
	if err := c.List(ctx, list, client.InNamespace(azurePool.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list MachinePools: %w", err)
	}
	for i, item := range list.Items {
		if refersToPool(&item, azurePool.Name) {
			return list.Items[i].DeepCopy(), nil
		}
	}
	return nil, nil
}

func refersToPool(machinePool *clusterv1.MachinePool, name string) bool {
	ref := machinePool.Spec.Template.Spec.InfrastructureRef
	return ref.APIGroup == infrav1.GroupVersion.Group && ref.Kind == MachinePoolKind && ref.Name == name
}

// FindControlPlane returns the AzureManagedControlPlane of a Cluster of this name, which may be gone, or nil.
func FindControlPlane(ctx context.Context, c client.Reader, namespace, cluster string) (*infrav1.AzureManagedControlPlane, error) {
	list := &infrav1.AzureManagedControlPlaneList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureManagedControlPlanes: %w", err)
	}
	for i := range list.Items {
		if name := deletion.ClusterName(&list.Items[i]); name != "" && name == cluster {
			return list.Items[i].DeepCopy(), nil
		}
	}
	return nil, nil
}
