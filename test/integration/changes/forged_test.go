package changes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestForgedMemory writes an annotation, as a user with the right to update an AzureCluster can, which claims that the cluster has sent
// resources of another cluster or of a user: the provider writes none of them, and the next reconciliation corrects the annotation.
func TestForgedMemory(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutNetwork("hub", "hub-1", "172.16.0.0/16", map[string]string{"theirs": "172.16.1.0/24"})
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	for _, name := range []string{"c1", "c2"} {
		stage.CreateCluster(stage.AzureCluster(name))
	}
	stage.WaitClusterProvisioned("c2")
	stage.WaitClusterProvisioned("c1")
	inOrder := func(c *infrav1.AzureCluster) bool {
		return harness.IsReady(c) && !strings.Contains(c.Annotations[infrav1.AppliedAnnotation], "theirs")
	}
	other := applied.Read(harness.WaitFor(stage, &infrav1.AzureCluster{}, "c2", "in order", inOrder).Annotations).Applied
	made := stage.Azure.ListResources()
	mark := stage.Azure.MarkRequests()

	const subnet = "hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs"
	other[subnet] = []string{}
	other["/subscriptions/00000000-0000-0000-0000-000000000009/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/theirs"] = []string{}
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		content := applied.Read(c.Annotations)
		content.Applied = other
		content.Store(c)
	})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order again", inOrder)
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	if diff := cmp.Diff(made, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
	stage.DeleteCluster("c1")
	stage.DeleteCluster("c2")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}
