package aks

import (
	"context"
	"fmt"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// uncopied is a cache that returns its own objects without copies, and fails if a caller lists with copies.
type uncopied struct {
	client.Reader
	clusters     []clusterv1.Cluster
	machinePools []clusterv1.MachinePool
	azurePools   []infrav1.AzureManagedMachinePool
}

// List implements client.Reader.
func (u *uncopied) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
		return fmt.Errorf("%T: all objects of namespace %s are copied", list, asked.Namespace)
	}
	switch list := list.(type) {
	case *clusterv1.ClusterList:
		list.Items = append(list.Items, u.clusters...)
	case *clusterv1.MachinePoolList:
		list.Items = append(list.Items, u.machinePools...)
	case *infrav1.AzureManagedMachinePoolList:
		list.Items = append(list.Items, u.azurePools...)
	}
	return nil
}

// TestFindReturnsCopies finds an object in a list of many: the list is not copied, and the returned object is a copy, so
// that callers cannot change the cache.
func TestFindReturnsCopies(t *testing.T) {
	labelled := func(object client.Object) {
		object.SetLabels(map[string]string{"of": "cache", clusterv1.ClusterNameLabel: "mine"})
	}
	cluster := storetest.NewCluster("mine", ClusterKind, "mine")
	azurePool := &infrav1.AzureManagedMachinePool{ObjectMeta: storetest.NewMeta("pool")}
	machines := machinePool("machines", "mine", MachinePoolKind, "pool")
	for _, object := range []client.Object{cluster, azurePool, machines} {
		labelled(object)
	}
	cache := &uncopied{clusters: []clusterv1.Cluster{*cluster}, machinePools: []clusterv1.MachinePool{*machines},
		azurePools: []infrav1.AzureManagedMachinePool{*azurePool}}
	for name, find := range map[string]func() (client.Object, error){
		"Cluster": func() (client.Object, error) {
			return FindCluster(t.Context(), cache, &infrav1.AzureManagedCluster{ObjectMeta: storetest.NewMeta("mine")}, ClusterKind)
		},
		"MachinePool of a pool": func() (client.Object, error) { return FindMachinePool(t.Context(), cache, azurePool) },
		"pool of a cluster": func() (client.Object, error) {
			pools, err := ListPools(t.Context(), cache, cluster)
			if err != nil || len(pools) != 1 {
				return nil, fmt.Errorf("%d pools, %w", len(pools), err)
			}
			return pools[0].AzurePool, nil
		},
		"MachinePool of a cluster": func() (client.Object, error) {
			pools, err := ListPools(t.Context(), cache, cluster)
			if err != nil || len(pools) != 1 {
				return nil, fmt.Errorf("%d pools, %w", len(pools), err)
			}
			return pools[0].MachinePool, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				found, err := find()
				if err != nil {
					t.Fatal(err)
				}
				if of := found.GetLabels()["of"]; of != "cache" {
					t.Errorf("a change of the returned object changed the cache: %q", of)
				}
				found.GetLabels()["of"] = "pass"
			}
		})
	}
}
