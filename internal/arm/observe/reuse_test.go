package observe

import (
	"encoding/json"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// storeBody stores a read of a resource.
func storeBody(id arm.ID, body string) func(*Cache) {
	return func(c *Cache) {
		c.StoreObservation((&client.Client{}).CacheScope(),
			c.NewObservation(Observed{ID: id, Exists: body != "", Body: json.RawMessage(body)}, false))
	}
}

// TestReuseSince repeats a read of a minute ago, for work that began two minutes ago.
func TestReuseSince(t *testing.T) {
	const succeeded = `{"properties":{"provisioningState":"Succeeded"}}`
	scope := (&client.Client{}).CacheScope()
	cluster := arm.NewID("s", "rg", types.ManagedCluster, "aks")
	for name, test := range map[string]struct {
		reason string
		id     arm.ID
		steps  []func(*Cache)
		serves bool
	}{
		"in order": {"only a write changes it", network, []func(*Cache){storeBody(network, succeeded)}, true},
		"in a document": {"the document has it in full", subnet,
			[]func(*Cache){storeBody(network,
				`{"properties":{"subnets":[{"name":"a","properties":{"provisioningState":"Succeeded"}}]}}`)}, true},
		"not there": {"it may have been created since", network, []func(*Cache){storeBody(network, "")}, false},
		"under way": {"it will change", network,
			[]func(*Cache){storeBody(network, `{"properties":{"provisioningState":"Updating"}}`)}, false},
		"failed": {"it may be repaired from outside", network,
			[]func(*Cache){storeBody(network, `{"properties":{"provisioningState":"Failed"}}`)}, false},
		"written": {"a read from before the write is outdated", network,
			[]func(*Cache){storeBody(network, succeeded), invalidateChanged(network, ExtentResource)}, false},
		"gone from a list": {"it was deleted from outside", network,
			[]func(*Cache){storeBody(network, succeeded), advanceTime(time.Second),
				func(c *Cache) { c.storeListing(scope, network, c.clock.Now(), c.currentCount(), nil) }}, false},
		"read before the work began": {"the cause of the work may have changed it", network,
			[]func(*Cache){storeBody(network, succeeded), advanceTime(2 * time.Minute)}, false},
		"a machine":      {"it may have stopped by itself", machine, []func(*Cache){storeBody(machine, succeeded)}, false},
		"an AKS cluster": {"Azure scales and repairs it", cluster, []func(*Cache){storeBody(cluster, succeeded)}, false},
		"the answer to a PUT of a resource group": {"it exists at once in its final state", resourceGroupOf(network),
			[]func(*Cache){func(c *Cache) {
				c.StoreObservation(scope,
					c.NewObservation(Observed{ID: resourceGroupOf(network), Exists: true, Body: json.RawMessage(succeeded)}, true))
			}}, true},
		"the answer to a PUT": {"Azure's result is not read yet", network, []func(*Cache){func(c *Cache) {
			c.StoreObservation(scope, c.NewObservation(Observed{ID: network, Exists: true, Body: json.RawMessage(succeeded)}, true))
		}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cache := NewCache(&manualClock{epoch}, 10*time.Second, 0)
			for _, step := range test.steps {
				step(cache)
			}
			advanceTime(time.Minute)(cache)
			look := func(options ReadOptions) bool {
				r := &readCall{reader: &Reader{Cache: cache}, client: &client.Client{}, options: options, out: map[string]Observation{}}
				return len(r.takeReusable([]arm.ID{test.id})) == 0
			}
			since := cache.clock.Now().Add(-2 * time.Minute)
			if got := look(ReadOptions{ReuseSince: since}); got != test.serves {
				t.Errorf("%s: serves %t, want %t", test.reason, got, test.serves)
			}
			if look(ReadOptions{}) || look(ReadOptions{ReuseSince: since, ReuseOnly: func(arm.ID) bool { return false }}) {
				t.Error("it is reused without ReuseSince, or for a resource that is excluded")
			}
		})
	}
}
