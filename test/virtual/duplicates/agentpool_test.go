package duplicates_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestAgentPool makes a second AzureManagedMachinePool with the name of an agent pool with nodes, and deletes the two one after the other.
func TestAgentPool(t *testing.T) {
	const kind = "AzureManagedMachinePool"
	for name, originalFirst := range map[string]bool{"the copy first": false, "the original first": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *virtual.Scenario, written *writes) {
				s.BuildAKSCluster("aks", 2)
				written.take()
				s.CreateManagedPool("aks", harness.ManagedPool{Name: "copy", Mode: "User", Replicas: 2,
					Change: func(p *infrav1.AzureManagedMachinePool) {
						p.Spec.Name = new("pool1")
						defaults.FillAzureManagedMachinePool(p)
					}})
				virtual.WaitForSignal(nil, long)
				requireNoWrites(s, written, "for a pool with the name of another one")
				requireReady(s, &infrav1.AzureManagedMachinePool{}, "aks-pool1")
				requireReady(s, &infrav1.AzureManagedMachinePool{}, "aks-copy", "spec.name", "aks-pool1", "delete this object")

				first, last := "aks-copy", "aks-pool1"
				if originalFirst {
					first, last = last, first
				}
				events := deletePool(s, kind, &infrav1.AzureManagedMachinePool{}, first)
				if want := "The agent pool pool1 stays in Azure, because " + kind + " " + last + " also manages it"; !strings.Contains(events, want) {
					t.Errorf("events of the deleted pool:\n%s\nwant %s", events, want)
				}
				virtual.WaitForSignal(nil, long)
				requireNoWrites(s, written, "after the deletion of one of the pools")
				requireReady(s, &infrav1.AzureManagedMachinePool{}, last)

				deletePool(s, kind, &infrav1.AzureManagedMachinePool{}, last)
				if list := written.take(); len(list) != 1 || !strings.HasPrefix(list[0], "DELETE ") || !strings.HasSuffix(list[0], "/agentPools/pool1") {
					t.Errorf("the agent pool is deleted with the last of its pools: %q", list)
				}
			})
		})
	}
}

// TestAgentPoolOfManifests makes a second AzureASOManagedMachinePool with the agent pool of another one, and deletes the two one after the other.
func TestAgentPoolOfManifests(t *testing.T) {
	const kind = "AzureASOManagedMachinePool"
	for name, originalFirst := range map[string]bool{"the copy first": false, "the original first": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *virtual.Scenario, written *writes) {
				documents := s.BuildASOCluster("c2", "pool0", "pool1")
				s.CreateASOCluster(documents)
				original := documents.Pools[1]
				written.take()
				replicas := int32(5)
				copied := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "copy"}}
				copied.Spec.Resources = original.Spec.Resources
				s.CreateASOPool("c2", copied, replicas)
				virtual.WaitForSignal(nil, long)
				requireNoWrites(s, written, "for a pool with the agent pool of another one")
				requireReady(s, &infrav1.AzureASOManagedMachinePool{}, original.Name)
				requireReady(s, &infrav1.AzureASOManagedMachinePool{}, "copy", "spec.resources[0]", original.Name, "Delete this object")

				first, last := "copy", original.Name
				if originalFirst {
					first, last = last, first
				}
				deletePool(s, kind, &infrav1.AzureASOManagedMachinePool{}, first)
				virtual.WaitForSignal(nil, long)
				list := written.take()
				if originalFirst {
					// The other pool has its own number of nodes.
					if len(list) != 1 || !strings.HasPrefix(list[0], "PUT ") {
						t.Errorf("the remaining pool sets its number of nodes: %q", list)
					}
				} else if len(list) > 0 {
					t.Errorf("written after the deletion of the copy: %q", list)
				}
				requireReady(s, &infrav1.AzureASOManagedMachinePool{}, last)
			})
		})
	}
}
