package managed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestTenPools counts the requests to Azure of a cluster with ten pools until it is ready, and in every resync after that.
func TestTenPools(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	var pools []harness.ManagedPool
	for i := range 10 {
		pool := harness.ManagedPool{Name: fmt.Sprintf("pool%d", i), Mode: "User", Replicas: 1}
		if i == 0 {
			pool.Mode = "System"
		}
		pools = append(pools, pool)
	}
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(0))
	if len(writes) != 4 {
		t.Errorf("group, network, subnet and cluster take a write each and the pools none, got %q", writes)
	}
	t.Logf("%d requests until ten pools are ready, %d of them writes", len(stage.Azure.RequestsSince(0)), len(writes))

	mark, before := stage.Azure.MarkRequests(), len(manager.KubernetesWrites())
	const resyncs = 5
	// A resync reads the group, the network, the subnet, the cluster, one list of pools and one of scale sets, the machines
	// of every pool, and asks for the kubeconfig. Reads of one resync may fall into two windows of freshness.
	const most = 2 * (6 + 10 + 1)
	for range resyncs {
		round := stage.Azure.MarkRequests()
		stage.AdvanceClock(time.Minute)
		stage.Eventually("every pool is reconciled again", func() bool {
			looked := 0
			for _, request := range stage.Azure.RequestsSince(round) {
				if strings.Contains(request, "-vmss/virtualMachines ") {
					looked++
				}
			}
			return looked >= len(pools)
		})
		if reads := stage.Azure.RequestsSince(round); len(reads) > most {
			t.Errorf("%d requests in one resync, want at most %d:\n%s", len(reads), most, strings.Join(reads, "\n"))
		}
	}
	t.Logf("%d requests in %d resyncs of a cluster with ten pools", len(stage.Azure.RequestsSince(mark)), resyncs)
	if writes := append(harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)), manager.KubernetesWrites()[before:]...); len(writes) > 0 {
		t.Errorf("nothing changed, but there were writes: %q", writes)
	}
}
