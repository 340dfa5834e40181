package changes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestNetworkLosesItsTags removes the ownership tag from the cluster's network outside the provider, and then all tags. The provider
// does not take it for a network that users brought: it restores the tags, because the resource group is the cluster's, and treats no
// resource that depends on the network as superfluous.
func TestNetworkLosesItsTags(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	made := stage.Azure.ListResources()
	const path = "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet"
	tags := func() any {
		_, network := stage.Azure.GetResource(path, "2024-05-01")
		return network["tags"]
	}
	had := tags()
	for name, patch := range map[string]any{"ownership tag": map[string]any{infrav1.ClusterTagKey("c1"): nil}, "all tags": nil} {
		mark := stage.Azure.MarkRequests()
		if err := stage.Azure.AddFault(fault.Rule{Now: true, ID: "/subscriptions/" + stage.Azure.SubscriptionID + "/" + path, Kind: fault.Edit,
			Patch: map[string]any{"tags": patch}}); err != nil {
			t.Fatal(err)
		}
		stage.AdvanceClock(time.Minute)
		stage.WakeControllers(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
		stage.Eventually("the tags are restored", func() bool { return cmp.Equal(had, tags()) })
		harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "Ready", func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) })
		if writes := stage.Azure.WritesSince(mark); len(writes) != 1 || !strings.HasPrefix(writes[0], "PUT ") ||
			!strings.HasSuffix(writes[0], "virtualNetworks/c1-vnet") {
			t.Errorf("%s: one write restores them, got %q", name, writes)
		}
		if diff := cmp.Diff(made, stage.Azure.ListResources()); diff != "" {
			t.Errorf("%s: resources (-before +after):\n%s", name, diff)
		}
	}
	stage.DeleteCluster("c1")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}
