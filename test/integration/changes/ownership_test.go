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

// TestNetworkLosesItsTag has somebody take the ownership tag off the cluster's network. That makes it no network that users
// brought: it is reported and left alone, nothing that hangs on it is taken for superfluous, and with the tag all is well.
func TestNetworkLosesItsTag(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	before := stage.Azure.Resources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	made := stage.Azure.Resources()
	tag := func(value any) {
		t.Helper()
		id := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet"
		if err := stage.Azure.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Edit, Patch: map[string]any{"tags": map[string]any{infrav1.ClusterTagKey("c1"): value}}}); err != nil {
			t.Fatal(err)
		}
	}
	mark := stage.Azure.Mark()
	tag(nil)
	stage.Advance(time.Minute)
	stage.Wake(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
	reported := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "told that the network is not tagged", func(c *infrav1.AzureCluster) bool {
		return harness.Condition(c, infrav1.VNetReadyCondition).Reason == infrav1.ResourceExistsNotOwnedReason
	})
	if message := harness.Condition(reported, infrav1.ReadyCondition).Message; !strings.Contains(message, infrav1.ClusterTagKey("c1")) {
		t.Errorf("the message has to name the tag: %s", message)
	}
	if writes := stage.Azure.Writes(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	if diff := cmp.Diff(made, stage.Azure.Resources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}

	tag(infrav1.TagOwned)
	stage.Advance(time.Hour)
	stage.Wake(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "Ready again", func(c *infrav1.AzureCluster) bool { return harness.Ready(c) })
	if writes := stage.Azure.Writes(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	stage.DeleteCluster("c1")
	if diff := cmp.Diff(before, stage.Azure.Resources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}
