package webhook

import (
	"context"
	"fmt"

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

// lastSystemPool returns an error at path if the cluster of a pool, of either family, would lose its last pool with mode System while it
// needs one. AKS refuses to delete that pool or to change its mode:
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
	switch cluster.Spec.ControlPlaneRef.Kind {
	case "AzureManagedControlPlane":
		others, err = l.countTypedSystemPools(ctx, cluster, pool.GetName())
	case "AzureASOManagedControlPlane":
		others, err = l.countSystemPoolManifests(ctx, cluster, pool.GetName())
	default:
		return nil, nil
	}
	if err != nil || others == unneeded {
		return nil, err
	}
	return ValidateLastSystemPool(others, path), nil
}

// unneeded is the number of System pools of a cluster that needs none: its control plane does not exist, or it is being deleted, with which all
// pools go. The control plane waits for the objects of its pools.
const unneeded = -1

// countTypedSystemPools counts the pools with mode System that are not being deleted, except one.
func (l managedLookup) countTypedSystemPools(ctx context.Context, cluster *clusterv1.Cluster, except string) (int, error) {
	if stays, err := l.readControlPlane(ctx, cluster, &infrav1.AzureManagedControlPlane{}); err != nil || !stays {
		return unneeded, err
	}
	pools := &infrav1.AzureManagedMachinePoolList{}
	if err := l.listPools(ctx, cluster, pools); err != nil {
		return 0, fmt.Errorf("list the AzureManagedMachinePools of the cluster: %w", err)
	}
	others := 0
	for i := range pools.Items {
		if other := &pools.Items[i]; other.Name != except && other.Spec.Mode == infrav1.NodePoolModeSystem && other.DeletionTimestamp.IsZero() {
			others++
		}
	}
	return others, nil
}

// countSystemPoolManifests counts the manifests of pools with mode System in the objects of the cluster that are not being deleted, except one
// pool.
func (l managedLookup) countSystemPoolManifests(ctx context.Context, cluster *clusterv1.Cluster, except string) (int, error) {
	controlPlane := &infrav1.AzureASOManagedControlPlane{}
	if stays, err := l.readControlPlane(ctx, cluster, controlPlane); err != nil || !stays || asoresource.HostsSystemPods(controlPlane.Spec.Resources) {
		return unneeded, err
	}
	infrastructure := &infrav1.AzureASOManagedCluster{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := l.reader.Get(ctx, key, infrastructure); client.IgnoreNotFound(err) != nil {
		return 0, fmt.Errorf("get the AzureASOManagedCluster %s: %w", key, err)
	}
	pools := &infrav1.AzureASOManagedMachinePoolList{}
	if err := l.listPools(ctx, cluster, pools); err != nil {
		return 0, fmt.Errorf("list the AzureASOManagedMachinePools of the cluster: %w", err)
	}
	others := countSystemPools(controlPlane.Spec.Resources) + countSystemPools(infrastructure.Spec.Resources)
	for i := range pools.Items {
		if other := &pools.Items[i]; other.Name != except && other.DeletionTimestamp.IsZero() {
			others += countSystemPools(other.Spec.Resources)
		}
	}
	return others, nil
}

// readControlPlane reads the control plane of a cluster. It returns false if there is none that stays.
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

// keepSystemPool refuses changes of the manifests of a pool, after nil for its deletion, with which the cluster would lose its last System pool.
// Pools that stay in Azure without their manifest are not lost.
func (l managedLookup) keepSystemPool(ctx context.Context, pool *infrav1.AzureASOManagedMachinePool, before, after []runtime.RawExtension) (field.ErrorList, error) {
	lost := false
	for _, m := range asoresource.ListSystemPools(before) {
		lost = lost || !m.StaysInAzure()
	}
	if !lost || len(asoresource.ListSystemPools(after)) > 0 {
		return nil, nil
	}
	path := field.NewPath("metadata", "deletionTimestamp")
	if after != nil {
		path = field.NewPath("spec", "resources")
		if first, ok := asoresource.FirstAgentPool(after); ok {
			path = first.Path.Child("spec", "mode")
		}
	}
	return l.lastSystemPool(ctx, pool, path)
}
