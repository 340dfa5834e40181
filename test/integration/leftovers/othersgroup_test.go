package leftovers_test

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestGroupOfAnotherCluster makes a cluster in the resource group of another one: the provider creates nothing there. A cluster that
// exists already when the group gets the tag of another one continues to be reconciled, and its condition reports the tag.
func TestGroupOfAnotherCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		w.StartProvider()
		ready := func(name string) func() bool {
			return virtual.ObjectMatches(w, &infrav1.AzureCluster{}, name, func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) })
		}
		said := func(name string) metav1.Condition {
			c := &infrav1.AzureCluster{}
			w.ReadObject(c, name)
			return harness.FindCondition(c, infrav1.ResourceGroupReadyCondition)
		}
		w.ApplyNetwork("c1", nil)
		w.WaitUntil("the first cluster is Ready", ready("c1"))
		mark := w.Azure.MarkRequests()
		w.ApplyNetwork("c2", func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = "c1" })
		w.WaitUntil("the second is refused", func() bool { return said("c2").Reason == infrav1.ResourceExistsNotOwnedReason })
		if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("nothing is begun, but: %v", writes)
		}

		w.PutAsUser("resourceGroups/c3", "2021-04-01", body{"location": "eastus"})
		w.ApplyNetwork("c3", nil)
		w.WaitUntil("the third cluster is Ready", ready("c3"))
		id := "/subscriptions/" + w.Azure.SubscriptionID + "/resourceGroups/c3"
		if err := w.Azure.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Edit,
			Patch: body{"tags": body{infrav1.ClusterTagKey("c1"): "owned"}}}); err != nil {
			t.Fatal(err)
		}
		w.WakeControllers(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c3"}})
		w.WaitUntil("the message names the owner of the group", func() bool {
			now := said("c3")
			return now.Status == metav1.ConditionTrue && now.Reason == infrav1.DriftedReason
		})
		if !ready("c3")() {
			t.Error("an existing cluster continues")
		}
	})
}
