package reliability_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// nextVersion is what AKS clusters are upgraded to.
const nextVersion = "v1.34.2"

func controlPlane() *infrav1.AzureManagedControlPlane {
	return &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "aks1"}}
}

func managedPool(name string) *infrav1.AzureManagedMachinePool {
	return &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// aksStages returns the stages of an AKS cluster with two pools.
func aksStages() []stage {
	return []stage{
		{"create", func(w *world) { w.BuildAKSCluster("aks1", 2); w.managedReady("aks1-pool0", "aks1-pool1") }},
		{"scale", func(w *world) {
			harness.ChangeObject(w.Stage, virtual.MachinePool("aks1-pool1"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
			w.WaitUntil("the pool has three machines", func() bool {
				pool := managedPool("aks1-pool1")
				w.ReadObject(pool, pool.Name)
				return len(pool.Spec.ProviderIDList) == 3 && isCurrent(pool)
			})
		}},
		{"change", func(w *world) {
			harness.ChangeObject(w.Stage, controlPlane(), func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
				c.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"192.0.2.0/24"}}
			})
			harness.ChangeObject(w.Stage, managedPool("aks1-pool1"), func(p *infrav1.AzureManagedMachinePool) {
				p.Spec.NodeLabels = map[string]string{"a": "b"}
				p.Spec.AdditionalTags = infrav1.Tags{"team": "b"}
			})
			w.managedReady("aks1-pool0", "aks1-pool1")
		}},
		{"upgrade", func(w *world) {
			harness.ChangeObject(w.Stage, controlPlane(), func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = nextVersion })
			w.WaitUntil("the control plane runs the version", func() bool {
				c := controlPlane()
				w.ReadObject(c, c.Name)
				return c.Status.Version == nextVersion && isCurrent(c)
			})
			for _, name := range []string{"aks1-pool0", "aks1-pool1"} {
				harness.ChangeObject(w.Stage, virtual.MachinePool(name), func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = nextVersion })
			}
			w.WaitUntil("the pools run the version", func() bool {
				for _, name := range []string{"pool0", "pool1"} {
					pool := w.readResource("resourceGroups/aks1/providers/Microsoft.ContainerService/managedClusters/aks1/agentPools/" + name)
					if harness.FindString(pool, "properties.currentOrchestratorVersion") != nextVersion[1:] ||
						harness.FindString(pool, "properties.provisioningState") != "Succeeded" {
						return false
					}
				}
				return w.managedCurrent("aks1-pool0", "aks1-pool1")
			})
		}},
		{"without a pool", func(w *world) { w.removeManagedPool("aks1-pool1"); w.managedReady("aks1-pool0") }},
		withoutManaged("aks1-pool0"),
	}
}

func (w *world) removeManagedPool(name string) {
	w.T.Helper()
	pool := managedPool(name)
	w.DeleteObjects(virtual.MachinePool(name), pool)
	w.WaitUntilGone(pool)
	w.RemoveFinalizers(virtual.MachinePool(name))
}

func (w *world) managedReady(pools ...string) {
	w.T.Helper()
	w.WaitUntil("the AKS cluster is as its spec", func() bool { return w.managedCurrent(pools...) })
}

func (w *world) managedCurrent(pools ...string) bool {
	c := controlPlane()
	w.ReadObject(c, c.Name)
	all := isCurrent(c)
	for _, name := range pools {
		pool := managedPool(name)
		w.ReadObject(pool, name)
		all = all && isCurrent(pool)
	}
	return all
}

// readResource returns a resource as Azure keeps it, nil when there is none.
func (w *world) readResource(id string) map[string]any {
	for _, resource := range w.Sim.State() {
		if has, _ := resource["id"].(string); strings.EqualFold(has, "/subscriptions/"+w.Azure.SubscriptionID+"/"+id) {
			return resource
		}
	}
	return nil
}
