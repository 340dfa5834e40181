package estate

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// MigrateManaged migrates an AKS cluster that the established provider created from a template.
func MigrateManaged(t *testing.T, environment *harness.Environment, file string, variables map[string]string) {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	flavors.CreateIdentities(stage)
	before := flavors.SnapshotAzure(stage)
	options := harness.ManagerOptions{SyncPeriod: harness.SyncPeriod}
	maker := stage.StartManager(options)
	made := flavors.UpManaged(stage, renderFlavor(stage, file, variables))
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	stage.ReadObject(controlPlane, made.ControlPlane)
	network := controlPlane.Spec.VirtualNetwork.Name
	// The network has the tags of the day it was made, when there were no additional ones.
	stage.Azure.PutResource("resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/"+network+"/providers/Microsoft.Resources/tags/default", "2021-04-01",
		object{"properties": object{"tags": object{ownerTag: "owned", roleTag: "common", "Name": network}}})
	withoutOwner(stage)
	storeAsEstablished(stage)
	expectPlanned(stage)

	mark := stage.Azure.MarkRequests()
	manager := stage.StartManager(options)
	waitManagedMigrated(stage, made)
	stage.QuietManaged(manager, 2)
	expectNoWrites(stage, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)))
	checkRenewed(stage)

	rollManaged(stage, made)
	made.TearDown(stage, before)
}

// withoutOwner takes the tag off that only this provider writes.
func withoutOwner(stage *harness.Stage) {
	stage.T.Helper()
	for _, resource := range stage.Azure.State() {
		tags, _ := resource["tags"].(map[string]any)
		if _, ok := tags[infrav1.OwnerTag]; !ok {
			continue
		}
		delete(tags, infrav1.OwnerTag)
		id := strings.TrimPrefix(fmt.Sprint(resource["id"]), "/subscriptions/"+stage.Azure.SubscriptionID+"/")
		stage.Azure.PutResource(id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", object{"properties": object{"tags": tags}})
	}
}

// waitManagedMigrated waits until this provider has read all resources of the cluster, without a difference.
func waitManagedMigrated(stage *harness.Stage, made *flavors.ManagedCluster) {
	stage.T.Helper()
	made.WaitReady(stage)
	harness.WaitFor(stage, &infrav1.AzureManagedControlPlane{}, made.ControlPlane, "taken over",
		func(c *infrav1.AzureManagedControlPlane) bool {
			return harness.FindCondition(c, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	harness.WaitFor(stage, &infrav1.AzureManagedCluster{}, made.Infrastructure, "taken over",
		func(c *infrav1.AzureManagedCluster) bool { return harness.IsReady(c) })
	for _, pool := range made.Pools {
		harness.WaitFor(stage, &infrav1.AzureManagedMachinePool{}, pool.AzurePool, "taken over", func(p *infrav1.AzureManagedMachinePool) bool {
			return harness.FindCondition(p, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	}
}

// rollManaged scales the last pool, raises the version of the control plane, and then replaces every pool by one of that
// version.
func rollManaged(stage *harness.Stage, made *flavors.ManagedCluster) {
	stage.T.Helper()
	last := made.Pools[len(made.Pools)-1]
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: last.MachinePool}}, func(p *clusterv1.MachinePool) {
		p.Spec.Replicas = new(int32(last.Replicas + 1))
	})
	stage.WaitPoolReady(last.AzurePool, last.Replicas+1)
	harness.ChangeObject(stage, &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: made.ControlPlane}},
		func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.Version = harness.KubernetesVersion
		})
	harness.WaitFor(stage, &infrav1.AzureManagedControlPlane{}, made.ControlPlane, "at the new version",
		func(c *infrav1.AzureManagedControlPlane) bool {
			return c.Status.Version == harness.KubernetesVersion && harness.IsReady(c)
		})
	for i, names := range []struct{ old, replacement string }{{"pool0", "new0"}, {"pool1", "new1"}} {
		made.ReplacePool(stage, i, names.replacement, harness.KubernetesVersion)
		for name, want := range map[string]int{names.old: http.StatusNotFound, names.replacement: http.StatusOK} {
			path := "resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/" + made.ControlPlane + "/agentPools/" + name
			if status, _ := stage.Azure.GetResource(path, "2025-08-01"); status != want {
				stage.T.Errorf("agent pool %s: status %d, want %d", name, status, want)
			}
		}
	}
}
