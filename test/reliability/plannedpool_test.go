package reliability_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPoolDeletedWhileClusterIsPlanned deletes a pool when the reconciliation of its control plane has listed it, and is about to create the AKS cluster.
// The pool goes, and so does its agent pool.
func TestPoolDeletedWhileClusterIsPlanned(t *testing.T) {
	for name, family := range map[string]struct {
		controlPlane string
		create       func(w *world)
		pool         func() client.Object
		ready        func(w *world)
	}{
		"AKS": {
			controlPlane: "AzureManagedControlPlane",
			create: func(w *world) {
				// Nothing but the cluster is left to create.
				w.PutAsUser("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"})
				w.PutAsUser("resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1", "2024-05-01", map[string]any{
					"location": "eastus", "properties": map[string]any{
						"addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/8"}},
						"subnets":      []any{map[string]any{"name": "c1", "properties": map[string]any{"addressPrefix": "10.240.0.0/16"}}},
					}})
				w.ApplyAKSCluster("c1", 2)
			},
			pool: func() client.Object { return managedPool("c1-pool1") },
			ready: func(w *world) {
				w.WaitReady(&infrav1.AzureManagedControlPlane{}, "c1")
				w.WaitReady(&infrav1.AzureManagedMachinePool{}, "c1-pool0")
			},
		},
		"documents": {
			controlPlane: "AzureASOManagedControlPlane",
			create:       func(w *world) { w.CreateManifests(w.BuildASOCluster("c1", "pool0", "pool1")) },
			pool: func() client.Object {
				pool := &infrav1.AzureASOManagedMachinePool{}
				pool.Name = "c1-pool1"
				return pool
			},
			ready: func(w *world) {
				w.WaitUntil("the documents are in place", func() bool { return w.InPlace(w.BuildASOCluster("c1", "pool0")) })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := virtual.New(t)
				explorer := virtual.NewReplay([]virtual.Decision{
					// Meanwhile the resource group is created.
					{Of: "reconcile " + strings.ToLower(family.controlPlane) + " c1", Nth: 2, Delay: 15 * time.Second},
					// The plan, with all pools, is stored before the AKS cluster is created.
					{Of: "patch *v1beta1." + family.controlPlane + " c1", Nth: 2, Delay: 25 * time.Second},
				})
				in.Explore(explorer)
				w := withManager(in)
				family.create(w)
				virtual.WaitForSignal(nil, 25*time.Second)
				w.DeleteObjects(virtual.MachinePool("c1-pool1"), family.pool())
				family.ready(w)
				pool := family.pool()
				pool.SetNamespace(w.Namespace)
				w.WaitUntilGone(pool)
				if met := explorer.Decisions(); len(met) != 2 {
					t.Errorf("the two delays were not met, but %v", met)
				}
				for _, resource := range w.Sim.State() {
					if id, _ := resource["id"].(string); strings.HasSuffix(strings.ToLower(id), "/agentpools/pool1") {
						t.Errorf("%s is left in Azure", id)
					}
				}
			})
		})
	}
}
