package changes_test

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestEarlierRelease gives a cluster the annotations of v2.0.0-alpha in place of that of this release: one reconciliation replaces them, without
// a write to Azure.
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
		return harness.IsReady(c) && applied.IsStored(c.Annotations)
	}
	before := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order", inOrder).Annotations[infrav1.AppliedAnnotation]
	mark := stage.Azure.MarkRequests()

	content := applied.Read(map[string]string{infrav1.AppliedAnnotation: before})
	paths, err := json.Marshal(content.Applied)
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "sigs.k8s.io/cluster-api-provider-azure-"
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		c.Annotations[infrav1.AppliedAnnotation] = "" // The webhook keeps one that an update leaves out.
		c.Annotations[prefix+"last-applied"] = string(paths)
		c.Annotations[prefix+"owner-id"] = content.OwnerID
		c.Annotations[prefix+"taken-over"] = "{}"
	})
	after := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "upgraded", func(c *infrav1.AzureCluster) bool {
		return c.Annotations[infrav1.AppliedAnnotation] == before
	})
	for _, key := range applied.FormerKeys() {
		if value, ok := after.Annotations[key]; ok {
			t.Errorf("%s is read once, but the object still has it: %s", key, value)
		}
	}
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
}
