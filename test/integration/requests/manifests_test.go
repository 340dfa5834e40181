package requests_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	besideWrite    = "resourcegroups/shared/Microsoft.ManagedIdentity/userAssignedIdentities/workload"
	besideManifest = `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: workload
spec:
  location: eastus
  owner: {armId: /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/shared}
`
	aksWrite       = "resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1"
	windowWrite    = aksWrite + "/maintenanceConfigurations/aksManagedAutoUpgradeSchedule"
	windowManifest = `
apiVersion: containerservice.azure.com/v1api20251001
kind: MaintenanceConfiguration
metadata:
  name: upgrades
spec:
  azureName: aksManagedAutoUpgradeSchedule
  owner: {name: c1}
  maintenanceWindow:
    durationHours: 4
    startTime: "02:00"
    schedule: {weekly: {dayOfWeek: Sunday, intervalWeeks: 1}}
`
)

// TestManifests changes an AKS cluster of resource manifests while it exists, and expects one write for each change: its version and that
// of its pools, an additional maintenance window, a removed pool, and at last the deletion of the cluster while its Cluster stays.
func TestManifests(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		c := w.BuildASOCluster("c1", "pool0", "pool1")
		w.CreateASOCluster(c)
		w.checkWrites("made", 0, "PUT resourceGroups/c1", "PUT "+aksWrite)
		w.upgradeManifests(c)

		mark := w.Azure.MarkRequests()
		window := w.ParseManifest(windowManifest)
		harness.ChangeObject(w.Stage, c.ControlPlane,
			func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources = append(o.Spec.Resources, window) })
		w.WaitUntil("the window is in place", func() bool {
			w.ReadObject(c.ControlPlane, "c1")
			return len(c.ControlPlane.Status.Resources) == 2 && w.InPlace(c)
		})
		if made := w.readShown(windowWrite); harness.FindString(made, "properties.maintenanceWindow.startTime") != "02:00" {
			t.Errorf("the window in Azure is %v", made)
		}
		w.countHour()
		w.checkWrites("a window later", mark, "PUT "+windowWrite)

		w.deleteOneByOne(c)
	})
}

// upgradeManifests raises the version of the pools and then that of the control plane. The pools are refused until then.
func (w *world) upgradeManifests(c *harness.ASOCluster) {
	w.T.Helper()
	const next = "v1.34.2"
	mark := w.Azure.MarkRequests()
	for _, pool := range c.Pools {
		harness.ChangeObject(w.Stage, virtual.MachinePool(pool.Name), func(o *clusterv1.MachinePool) { o.Spec.Template.Spec.Version = next })
		w.WaitUntil("the pool is refused until the control plane has the version",
			virtual.ObjectMatches(w.Scenario, &infrav1.AzureASOManagedMachinePool{}, pool.Name, func(o *infrav1.AzureASOManagedMachinePool) bool {
				said := harness.FindCondition(o, infrav1.ReadyCondition)
				return said.Status == metav1.ConditionFalse && strings.Contains(said.Message, next+" is above AzureASOManagedControlPlane c1 ")
			}))
	}
	w.checkWrites("pools above their control plane", mark)
	harness.ChangeObject(w.Stage, c.ControlPlane, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Version = next })
	w.WaitUntil("the control plane runs the version",
		virtual.ObjectMatches(w.Scenario, &infrav1.AzureASOManagedControlPlane{}, "c1", func(o *infrav1.AzureASOManagedControlPlane) bool {
			return o.Status.Version == next && len(o.Status.Versions) == 1 && o.Status.Versions[0].Version == next
		}))
	w.WaitUntil("the pools run the version", func() bool {
		return w.InPlace(c) && harness.FindString(w.readShown(aksWrite+"/agentPools/pool0"),
			"properties.currentOrchestratorVersion") == "1.34.2" &&
			harness.FindString(w.readShown(aksWrite+"/agentPools/pool1"), "properties.currentOrchestratorVersion") == "1.34.2"
	})
	w.checkWrites("upgraded", mark, "PUT "+aksWrite, "PUT "+aksWrite+"/agentPools/pool0", "PUT "+aksWrite+"/agentPools/pool1")
}

// deleteOneByOne deletes a pool and then the control plane of a Cluster that stays. The control plane waits for its last pool, with
// which the AKS cluster goes.
func (w *world) deleteOneByOne(c *harness.ASOCluster) {
	w.T.Helper()
	mark := w.Azure.MarkRequests()
	w.DeleteObjects(virtual.MachinePool("c1-pool1"), c.Pools[1])
	w.WaitUntilGone(c.Pools[1])
	w.checkWrites("a pool goes", mark, "DELETE "+aksWrite+"/agentPools/pool1")
	c.Pools = c.Pools[:1]
	w.WaitUntil("the cluster is Ready without the pool", func() bool { return w.InPlace(c) })

	mark = w.Azure.MarkRequests()
	w.DeleteObjects(c.ControlPlane)
	w.WaitUntil("the control plane reports what it waits for",
		virtual.ObjectMatches(w.Scenario, &infrav1.AzureASOManagedControlPlane{}, "c1", func(o *infrav1.AzureASOManagedControlPlane) bool {
			return strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message, "AzureASOManagedMachinePool c1-pool0")
		}))
	w.countHour()
	w.checkWrites("the control plane waits for its pool", mark)
	w.DeleteObjects(virtual.MachinePool("c1-pool0"), c.Pools[0])
	w.WaitUntilGone(c.Pools[0])
	w.WaitUntilGone(c.ControlPlane)
	w.checkWrites("the control plane goes", mark, "DELETE "+aksWrite)
	w.checkLeft("resourceGroups/c1")

	mark = w.Azure.MarkRequests()
	w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, c.Infrastructure)
	w.WaitUntilGone(c.Infrastructure)
	w.checkWrites("the group goes", mark, "DELETE resourceGroups/c1")
	w.checkLeft()
}

// readShown returns a resource in the form that Azure shows, by the ID of its writes; nil when there is none.
func (w *world) readShown(name string) map[string]any {
	for _, resource := range w.Sim.State() {
		id, _ := resource["id"].(string)
		id = strings.TrimPrefix(id, "/subscriptions/"+w.Azure.SubscriptionID+"/")
		if strings.EqualFold(strings.Replace(id, "/providers/", "/", 1), name) {
			return resource
		}
	}
	return nil
}

// TestManifestsTakenOut removes the resource manifests of a group and of an AKS cluster while both exist; it expects that both stay, that
// the provider updates them when they have manifests again, and that they are deleted with their objects when they have none.
func TestManifestsTakenOut(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		c := w.BuildASOCluster("c1", "pool0")
		group, beside := c.Infrastructure.Spec.Resources[0], w.ParseManifest(besideManifest)
		c.Infrastructure.Spec.Resources = []runtime.RawExtension{withProperties(t, group, `{"tags":{"team":"a"}}`), beside}
		w.PutAsUser("resourceGroups/shared", "2021-04-01", map[string]any{"location": "eastus"})
		w.CreateASOCluster(c)
		documents := func(of ...runtime.RawExtension) {
			harness.ChangeObject(w.Stage, c.Infrastructure, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = of })
		}
		mark := w.Azure.MarkRequests()
		documents(beside)
		w.countHour()
		w.checkWrites("without the group's document", mark)
		documents(group, beside)
		w.WaitUntil("the group is as its document",
			func() bool { return harness.FindString(w.readShown("resourceGroups/c1"), "tags.team") == "" })

		documents(beside)
		harness.ChangeObject(w.Stage, c.ControlPlane, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources = nil })
		w.countHour()
		w.DeleteObjects(virtual.MachinePool("c1-pool0"), c.Pools[0], c.ControlPlane)
		w.WaitUntilGone(c.Pools[0])
		w.WaitUntilGone(c.ControlPlane)
		w.checkLeft("resourceGroups/c1", "resourceGroups/shared", besideWrite)
		w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, c.Infrastructure)
		w.WaitUntilGone(c.Infrastructure)
		w.checkLeft("resourceGroups/shared")
	})
}
