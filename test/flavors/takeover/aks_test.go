package takeover_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestTakeOverAKS takes over an AKS cluster as the flavor aks makes it.
func TestTakeOverAKS(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	pools := []harness.ManagedPool{{Name: "pool0", Mode: "System", Replicas: 2}, {Name: "pool1", Mode: "User", Replicas: 2}}
	before := stage.Azure.Resources()
	maker := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	controlPlane := stage.ControlPlane(cluster)
	controlPlane.Spec.AdditionalTags = infrav1.Tags{"costs": "cluster"}
	stage.CreateManagedCluster(controlPlane, pools...)
	stage.WaitManagedClusterReady(cluster, pools...)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	// The network has the additional tags of the day it was made.
	stage.Azure.Put("resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1/providers/Microsoft.Resources/tags/default", "2021-04-01",
		object{"properties": object{"tags": object{ownerTag: "owned", roleTag: "common", "Name": cluster}}})
	leave(stage)

	mark := stage.Azure.Mark()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.WaitManagedClusterReady(cluster, pools...)
	for _, pool := range pools {
		harness.WaitFor(stage, &infrav1.AzureManagedMachinePool{}, cluster+"-"+pool.Name, "taken over", func(p *infrav1.AzureManagedMachinePool) bool {
			return harness.Condition(p, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	}
	harness.WaitFor(stage, &infrav1.AzureManagedCluster{}, cluster, "taken over", func(c *infrav1.AzureManagedCluster) bool { return harness.Ready(c) })
	var writes []string
	for _, write := range stage.Azure.Writes(mark) {
		// The credentials are read with POST.
		if !strings.HasPrefix(write, "POST ") {
			writes = append(writes, write)
		}
	}
	if diff := cmp.Diff([]string(nil), writes); diff != "" {
		t.Errorf("what exists is taken over as it is (-want +got):\n%s", diff)
	}
	renewed(stage)

	pools[1].Replicas = 3
	harness.Change(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: cluster + "-pool1"}}, func(p *clusterv1.MachinePool) { p.Spec.Replicas = &pools[1].Replicas })
	stage.WaitPoolReady(cluster+"-pool1", 3)
	stage.DeleteManagedCluster(cluster, "pool0", "pool1")
	if diff := cmp.Diff(before, stage.Azure.Resources()); diff != "" {
		t.Errorf("after the deletion Azure is as before the cluster (-before +after):\n%s", diff)
	}
}
