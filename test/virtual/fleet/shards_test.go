package fleet_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var shardClusters = flag.Int("shard-clusters", 3, "how many clusters each of two shards has")

// TestShards lets two managers divide the clusters of one subscription by the watch label, each with half of Azure's limits. It expects
// that all clusters become Ready, that Azure refuses nothing, and that each manager writes only its own objects and the finalizers of the
// identity that both use.
func TestShards(t *testing.T) {
	play(t, 1, func(f *fleet) {
		shards, managers := []string{"red", "blue"}, map[string]*virtual.Manager{}
		for _, shard := range shards {
			managers[shard] = f.startManager(shard, 0.5)
		}
		f.labelObjects()
		begun := time.Now()
		for i := range *shardClusters {
			for _, shard := range shards {
				f.createCluster(i, nameInShard(shard, i))
			}
		}
		for i := range *shardClusters {
			for _, shard := range shards {
				f.addMachines(nameInShard(shard, i), 1)
			}
		}
		for i := range *shardClusters {
			for _, shard := range shards {
				f.waitEach(&infrav1.AzureMachine{}, nameInShard(shard, i)+"-0")
			}
		}
		made := f.requests.take()
		t.Logf("two shards of %d clusters: all Ready after %s, with %s", *shardClusters, time.Since(begun), made)
		if made.throttled > 0 {
			t.Errorf("%d answers 429, want none", made.throttled)
		}
		for shard, m := range managers {
			writes := m.KubernetesWrites()
			if len(writes) == 0 {
				t.Errorf("the manager of %s wrote nothing", shard)
			}
			for _, write := range writes {
				if name := write[strings.LastIndexByte(write, ' ')+1:]; name != "identity" && !strings.HasPrefix(name, shard) {
					t.Errorf("the manager of %s did: %s", shard, write)
				}
			}
		}
	})
}

// labelObjects puts all objects that the test creates from now on into the shard with which their names begin.
func (f *fleet) labelObjects() {
	f.Client = interceptor.NewClient(f.Kubernetes, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			labels := map[string]string{}
			maps.Copy(labels, object.GetLabels())
			labels[clusterv1.WatchLabel], _, _ = strings.Cut(object.GetName(), "-")
			object.SetLabels(labels)
			return c.Create(ctx, object, options...)
		},
	})
}

func nameInShard(shard string, i int) string { return fmt.Sprintf("%s-%04d", shard, i) }
