package changes_test

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestEarlierRelease gives a cluster the annotations of an earlier release in place of its memory: they are brought into today's
// form without a write to Azure.
func TestEarlierRelease(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.AdditionalTags = infrav1.Tags{"team": "red"}
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	inOrder := func(c *infrav1.AzureCluster) bool {
		return harness.Ready(c) && c.Annotations[infrav1.LastAppliedAnnotation] != ""
	}
	before := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order", inOrder).Annotations[infrav1.LastAppliedAnnotation]
	mark := stage.Azure.Mark()

	var sent map[string][]string
	if err := json.Unmarshal([]byte(before), &sent); err != nil {
		t.Fatal(err)
	}
	var planned []string
	for id := range sent {
		if id != "*" {
			planned = append(planned, "/resourceGroups/"+id)
		}
	}
	planned = append(planned, "/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/tags/"+infrav1.ClusterTagKey("c1"),
		"/resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb/loadBalancingRules/LBRuleHTTPS")
	list, _ := json.Marshal(planned)
	const prefix = "sigs.k8s.io/cluster-api-provider-azure-"
	harness.Change(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		c.Annotations[infrav1.LastAppliedAnnotation] = "" // The webhook keeps one that an update leaves out.
		c.Annotations[prefix+"planned"], c.Annotations[prefix+"made"] = string(list), `["/resourceGroups/c1"]`
		c.Annotations[prefix+"last-applied-tags-rg"] = `{"team":"red"}`
	})
	after := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "remembering what it did", func(c *infrav1.AzureCluster) bool {
		return c.Annotations[infrav1.LastAppliedAnnotation] == before
	})
	for _, name := range []string{"planned", "made"} {
		if value, ok := after.Annotations[prefix+name]; ok {
			t.Errorf("%s is read once, got %s", name, value)
		}
	}
	if writes := stage.Azure.Writes(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
}
