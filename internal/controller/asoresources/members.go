// Package asoresources is shared by the controllers of the AzureASOManaged kinds. It reads the input of their plans: the objects of a
// Cluster with their resource manifests, the credential, and the Secrets and ConfigMaps that manifests refer to. It also reports the
// state of the manifests.
package asoresources

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
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// The kinds with resource manifests.
const (
	ClusterKind      = "AzureASOManagedCluster"
	ControlPlaneKind = "AzureASOManagedControlPlane"
	MachinePoolKind  = "AzureASOManagedMachinePool"
)

// Members are the objects of a Cluster.
type Members struct {
	Cluster *clusterv1.Cluster
	// Infrastructure and ControlPlane are nil if they do not exist.
	Infrastructure *infrav1.AzureASOManagedCluster
	ControlPlane   *infrav1.AzureASOManagedControlPlane
	Pools          []Pool

	manifests      []plan.Manifest
	plainObjects   map[string][]plan.PlainObject
	manifestErrors map[string]field.ErrorList
}

// Pool is a pool with its MachinePool, which may be nil.
type Pool struct {
	Pool        *infrav1.AzureASOManagedMachinePool
	MachinePool *clusterv1.MachinePool
}

// ObjectKey returns the key of an object with manifests, its kind and name, such as "AzureASOManagedCluster c1". It is the
// ObjectKey of a plan.Input, and the DeclaredIn of a plan.Manifest.
func ObjectKey(kind string, obj client.Object) string { return kind + " " + obj.GetName() }

// LoadMembers reads the members of the Cluster that an object of a kind belongs to. gone is true if the Cluster no longer exists. If it
// never existed, the error is a stopReason.
func LoadMembers(ctx context.Context, c client.Reader, obj client.Object, kind string) (m *Members, gone bool, err error) {
	m, gone, err = findMembers(ctx, c, obj, kind)
	if m == nil && err == nil {
		reference := map[string]string{ClusterKind: "spec.infrastructureRef", ControlPlaneKind: "spec.controlPlaneRef"}[kind]
		err = reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason, "no Cluster owns the "+kind+". Create one that refers to it in "+reference)
	}
	return m, gone, err
}

// findMembers is LoadMembers with nil if the Cluster never existed.
func findMembers(ctx context.Context, c client.Reader, obj client.Object, kind string) (m *Members, gone bool, err error) {
	cluster, err := aks.FindCluster(ctx, c, obj, kind)
	if err != nil {
		return nil, false, err
	}
	if gone = cluster == nil; gone {
		if cluster = deletion.SubstituteCluster(obj); cluster == nil {
			return nil, true, nil
		}
	}
	m, err = GatherMembers(ctx, c, cluster)
	return m, gone, err
}

// GatherMembers reads the members of a Cluster. cluster may be a substitute for one that is gone: its members are then found by label
// or owner.
func GatherMembers(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster) (*Members, error) {
	m := &Members{Cluster: cluster, plainObjects: map[string][]plan.PlainObject{}, manifestErrors: map[string]field.ErrorList{}}
	var err error
	if m.Infrastructure, err = findObject(ctx, c, cluster, cluster.Spec.InfrastructureRef, ClusterKind, &infrav1.AzureASOManagedCluster{},
		&infrav1.AzureASOManagedClusterList{}); err != nil {
		return nil, err
	}
	if m.ControlPlane, err = findObject(ctx, c, cluster, cluster.Spec.ControlPlaneRef, ControlPlaneKind,
		&infrav1.AzureASOManagedControlPlane{}, &infrav1.AzureASOManagedControlPlaneList{}); err != nil {
		return nil, err
	}
	if m.Pools, err = listPools(ctx, c, cluster); err != nil {
		return nil, err
	}
	if m.Infrastructure != nil {
		m.readManifests(ObjectKey(ClusterKind, m.Infrastructure), m.Infrastructure.Spec.Resources)
	}
	if m.ControlPlane != nil {
		m.readManifests(ObjectKey(ControlPlaneKind, m.ControlPlane), m.ControlPlane.Spec.Resources)
	}
	for _, pool := range m.Pools {
		m.readManifests(ObjectKey(MachinePoolKind, pool.Pool), pool.Pool.Spec.Resources)
	}
	return m, nil
}

func (m *Members) readManifests(holder string, resources []runtime.RawExtension) {
	read, wrong := plan.ReadManifests(holder, resources)
	plains, wrongToo := plan.ReadPlainObjects(m.Cluster.Namespace, resources)
	m.manifests = append(m.manifests, read...)
	m.plainObjects[holder], m.manifestErrors[holder] = plains, append(wrong, wrongToo...)
}

// findObject reads the object of a kind that the Cluster refers to, or, for a substitute, that belongs to a Cluster of this name; nil
// if there is none.
func findObject[T client.Object](ctx context.Context, c client.Reader, cluster *clusterv1.Cluster,
	ref clusterv1.ContractVersionedObjectReference, kind string, empty T, list client.ObjectList) (T, error) {
	var none T
	if ref.Name != "" {
		if ref.Kind != kind {
			return none, nil
		}
		if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, empty); err != nil {
			if apierrors.IsNotFound(err) {
				return none, nil
			}
			return none, fmt.Errorf("get %s %s: %w", kind, ref.Name, err)
		}
		return empty, nil
	}
	found, err := listOfCluster[T](ctx, c, cluster, list)
	if err != nil || len(found) == 0 {
		return none, err
	}
	return found[0], nil
}

// listPools lists the pools of a cluster: those that a MachinePool of the cluster refers to, and those that have the cluster's label
// and no MachinePool.
func listPools(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster) ([]Pool, error) {
	azure := &infrav1.AzureASOManagedMachinePoolList{}
	if err := c.List(ctx, azure, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureASOManagedMachinePools: %w", err)
	}
	if len(azure.Items) == 0 {
		return nil, nil
	}
	machinePools := &clusterv1.MachinePoolList{}
	if err := c.List(ctx, machinePools, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list MachinePools: %w", err)
	}
	var out []Pool
	for i := range azure.Items {
		cached := &azure.Items[i]
		of := cached.Labels[clusterv1.ClusterNameLabel]
		at := slices.IndexFunc(machinePools.Items, func(m clusterv1.MachinePool) bool { return RefersToPool(&m, cached.Name) })
		if at >= 0 {
			of = machinePools.Items[at].Spec.ClusterName
		}
		if of != cluster.Name {
			continue
		}
		pool := Pool{Pool: cached.DeepCopy()}
		if at >= 0 {
			pool.MachinePool = machinePools.Items[at].DeepCopy()
		}
		out = append(out, pool)
	}
	return out, nil
}

// RefersToPool reports whether a MachinePool refers to the pool of this name.
func RefersToPool(machinePool *clusterv1.MachinePool, name string) bool {
	ref := machinePool.Spec.Template.Spec.InfrastructureRef
	return ref.APIGroup == infrav1.GroupVersion.Group && ref.Kind == MachinePoolKind && ref.Name == name
}

// ReplacePool replaces the pool of the same name, or adds it.
func (m *Members) ReplacePool(pool Pool) {
	for i := range m.Pools {
		if m.Pools[i].Pool.Name == pool.Pool.Name {
			m.Pools[i] = pool
			return
		}
	}
	m.Pools = append(m.Pools, pool)
	m.readManifests(ObjectKey(MachinePoolKind, pool.Pool), pool.Pool.Spec.Resources)
}
