package deployment_test

import (
	"strings"
	"syscall"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestShards starts two managers with the rights of the release in one namespace, each with a lease and a value of the watch label: both
// lead at the same time, and each reconciles its own cluster alone.
func TestShards(t *testing.T) {
	installManifests(t)
	binary := harness.BuildManager(t)
	stage := harness.NewStage(t, environment)
	shards := []string{"red", "blue"}
	managers := map[string]*harness.Program{}
	for _, shard := range shards {
		managers[shard] = startPod(stage, t, binary, "--leader-election-id=capz-"+shard, "--watch-filter="+shard, "--azure-request-share=0.5")
	}
	for _, shard := range shards {
		stage.Eventually("the manager of "+shard+" leads", func() bool { return isLeader(managers[shard]) })
	}
	stage.CreateIdentity()
	for _, shard := range shards {
		azureCluster := stage.AzureCluster("cluster-" + shard)
		azureCluster.Labels = map[string]string{clusterv1.WatchLabel: shard}
		stage.CreateCluster(azureCluster)
	}
	for i, shard := range shards {
		stage.WaitClusterProvisioned("cluster-" + shard)
		stage.DeleteCluster("cluster-" + shard)
		log := managers[shard].ReadLog()
		if !strings.Contains(log, "cluster-"+shard) {
			t.Errorf("the log of %s does not name its cluster:\n%s", shard, log)
		}
		if other := "cluster-" + shards[1-i]; strings.Contains(log, other) {
			t.Errorf("the manager of %s reconciles %s", shard, other)
		}
	}
	for _, shard := range shards {
		if err := managers[shard].SignalAndWait(syscall.SIGTERM); err != nil {
			t.Errorf("the manager of %s ended with %v", shard, err)
		}
	}
}
