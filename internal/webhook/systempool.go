package webhook

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// deleteForMove is the annotation of objects that clusterctl deletes after it moved them to another management cluster.
const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// lastSystemPool returns an error at path if the cluster of a pool of either family, or of an object with manifests of pools, would lose
// its last pool with mode System while it needs one. AKS refuses to delete that pool or to change its mode:
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func (l managedLookup) lastSystemPool(ctx context.Context, pool client.Object, path *field.Path) (field.ErrorList, error) {
	if _, moved := pool.GetAnnotations()[deleteForMove]; moved {
		return nil, nil
	}
	cluster, err := l.findCluster(ctx, pool)
	if err != nil || cluster == nil || !cluster.DeletionTimestamp.IsZero() {
		return nil, err
	}
	var others int
	var needed bool
	switch cluster.Spec.ControlPlaneRef.Kind {
	case "AzureManagedControlPlane":
		others, needed, err = l.countTypedSystemPools(ctx, cluster, pool.GetName())
	case "AzureASOManagedControlPlane":
		others, needed, err = l.countSystemPoolManifests(ctx, cluster, pool)
	}
	if err != nil || !needed {
		return nil, err
	}
	return ValidateLastSystemPool(others, path), nil
}

// countTypedSystemPools counts the pools with mode System that are not being deleted, except one. needed is false for a cluster without a control
// plane, or with one that is being deleted: AKS deletes all pools with it, and the control plane waits for the objects of its pools.
func (l managedLookup) countTypedSystemPools(ctx context.Context, cluster *clusterv1.Cluster, except string) (others int, needed bool, err error) {
	if needed, err = l.readControlPlane(ctx, cluster, &infrav1.AzureManagedControlPlane{}); err != nil || !needed {
		return 0, false, err
	}
	pools := &infrav1.AzureManagedMachinePoolList{}
	if err := l.listPools(ctx, cluster, pools); err != nil {
		return 0, false, fmt.Errorf("list the AzureManagedMachinePools of the cluster: %w", err)
	}
	for i := range pools.Items {
		if other := &pools.Items[i]; other.Name != except && other.Spec.Mode == infrav1.NodePoolModeSystem && other.DeletionTimestamp.IsZero() {
			others++
		}
	}
	return others, true, nil
}

// countSystemPoolManifests counts the manifests of pools with mode System in the objects of the cluster that are not being deleted. changed
// is the object that the request is about: a pool is not counted, and another object counts with its new manifests. needed is as for
// countTypedSystemPools, and false if AKS runs the pods of Kubernetes on nodes of its own.
func (l managedLookup) countSystemPoolManifests(ctx context.Context, cluster *clusterv1.Cluster, changed client.Object) (others int, needed bool, err error) {
	controlPlane := &infrav1.AzureASOManagedControlPlane{}
	if needed, err = l.readControlPlane(ctx, cluster, controlPlane); err != nil || !needed {
		return 0, false, err
	}
	if of, ok := changed.(*infrav1.AzureASOManagedControlPlane); ok {
		controlPlane = of
	}
	if asoresource.HostsSystemPods(controlPlane.Spec.Resources) {
		return 0, false, nil
	}
	infrastructure := &infrav1.AzureASOManagedCluster{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := l.reader.Get(ctx, key, infrastructure); client.IgnoreNotFound(err) != nil {
		return 0, false, fmt.Errorf("get the AzureASOManagedCluster %s: %w", key, err)
	}
	if of, ok := changed.(*infrav1.AzureASOManagedCluster); ok {
		infrastructure = of
	}
	_, isPool := changed.(*infrav1.AzureASOManagedMachinePool)
	pools := &infrav1.AzureASOManagedMachinePoolList{}
	if err := l.listPools(ctx, cluster, pools); err != nil {
		return 0, false, fmt.Errorf("list the AzureASOManagedMachinePools of the cluster: %w", err)
	}
	others = countSystemPools(controlPlane.Spec.Resources) + countSystemPools(infrastructure.Spec.Resources)
	for i := range pools.Items {
		if other := &pools.Items[i]; !(isPool && other.Name == changed.GetName()) && other.DeletionTimestamp.IsZero() {
			others += countSystemPools(other.Spec.Resources)
		}
	}
	return others, true, nil
}

// readControlPlane reads the control plane of a cluster. It returns false if it does not exist or is being deleted.
func (l managedLookup) readControlPlane(ctx context.Context, cluster *clusterv1.Cluster, into client.Object) (bool, error) {
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}
	switch err := l.reader.Get(ctx, key, into); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get the %s %s: %w", cluster.Spec.ControlPlaneRef.Kind, key, err)
	}
	return into.GetDeletionTimestamp().IsZero(), nil
}

func (l managedLookup) listPools(ctx context.Context, cluster *clusterv1.Cluster, into client.ObjectList) error {
	return l.reader.List(ctx, into, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})
}

func countSystemPools(resources []runtime.RawExtension) int {
	return len(asoresource.ListSystemPools(resources))
}

// keepSystemPool returns an error at path if the cluster would lose its last System pool because the manifests of an object, before, become
// after. A pool that stays in Azure without its manifest is not lost.
func (l managedLookup) keepSystemPool(ctx context.Context, object client.Object, before, after []runtime.RawExtension,
	path *field.Path) (field.ErrorList, error) {
	lost := slices.ContainsFunc(asoresource.ListSystemPools(before), func(m asoresource.Manifest) bool { return !m.StaysInAzure() })
	if !lost || countSystemPools(after) > 0 {
		return nil, nil
	}
	return l.lastSystemPool(ctx, object, path)
}
