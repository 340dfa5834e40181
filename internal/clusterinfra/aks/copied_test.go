package aks

import (
	"fmt"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestFindReturnsCopies finds an object in a list of many: the list is not copied, and the returned object is a copy, so
// that callers cannot change the cache.
func TestFindReturnsCopies(t *testing.T) {
	labelled := func(object client.Object) {
		object.SetLabels(map[string]string{"of": "cache", clusterv1.ClusterNameLabel: "mine"})
	}
	cluster := storetest.NewCluster("mine", ClusterKind, "mine")
	azurePool := &infrav1.AzureManagedMachinePool{ObjectMeta: storetest.NewMeta("pool")}
	machines := machinePool("machines", "mine", MachinePoolKind, "pool")
	controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewMeta("mine")}
	objects := []client.Object{cluster, azurePool, machines, controlPlane}
	for _, object := range objects {
		labelled(object)
	}
	cache := storetest.NewSharedCache(objects...)
	for name, find := range map[string]func() (client.Object, error){
		"Cluster": func() (client.Object, error) {
			return FindCluster(t.Context(), cache, &infrav1.AzureManagedCluster{ObjectMeta: storetest.NewMeta("mine")}, ClusterKind)
		},
		"control plane": func() (client.Object, error) {
			return FindControlPlane(t.Context(), cache, storetest.Namespace, "mine")
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
				found.GetLabels()["of"] = "reconciliation"
			}
		})
	}
}
