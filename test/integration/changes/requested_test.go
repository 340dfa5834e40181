package changes_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// requestReconciliation requests a reconciliation as the book describes it.
func requestReconciliation[T client.Object](stage *harness.Stage, object T, at string) {
	stage.T.Helper()
	harness.ChangeObject(stage, object, func(o T) {
		annotations := map[string]string{infrav1.ReconcileRequestedAnnotation: at}
		for key, value := range o.GetAnnotations() {
			if _, ours := annotations[key]; !ours {
				annotations[key] = value
			}
		}
		o.SetAnnotations(annotations)
	})
}

// TestRequested requests reconciliations that are not due yet: one of a machine that Azure refused for lack of quota, and one of a cluster
// that was found in order and was changed outside since. The test does not advance the clock.
func TestRequested(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Hour})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")

	if err := stage.Azure.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.Compute/virtualMachines", Count: -1,
		Kind: fault.Quota}); err != nil {
		t.Fatal(err)
	}
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	refused := harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "refused", func(m *infrav1.AzureMachine) bool {
		return harness.FindCondition(m, infrav1.ReadyCondition).Reason == infrav1.QuotaExceededReason
	})
	stage.Azure.ClearFaults()
	mark := stage.Azure.MarkRequests()
	stage.WakeControllers(refused)
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "looked at", func(m *infrav1.AzureMachine) bool {
		return m.Annotations["integration-test/woken"] != ""
	})
	// Another cluster shows that the manager has had the time.
	stage.CreateCluster(stage.AzureCluster("c2"))
	stage.WaitClusterProvisioned("c2")
	for _, write := range stage.Azure.WritesSince(mark) {
		if write == "PUT resourceGroups/c1/Microsoft.Compute/virtualMachines/m1" {
			t.Error("a reconciliation that no user requested retries before the retry is due")
		}
	}
	requestReconciliation(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}, "1")
	stage.WaitMachineProvisioned("m1")

	const group = "resourceGroups/c1/providers/Microsoft.Network/networkSecurityGroups/c1-node-nsg"
	name := func() string {
		_, found := stage.Azure.GetResource(group, networkVersion)
		return harness.FindString(found, "tags.Name")
	}
	was := name()
	id := "/subscriptions/" + stage.Azure.SubscriptionID + "/" + group
	if err := stage.Azure.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Edit,
		Patch: map[string]any{"tags": map[string]any{"Name": nil}}}); err != nil {
		t.Fatal(err)
	}
	if was == "" || name() != "" {
		t.Fatalf("the tag was %q and is %q", was, name())
	}
	requestReconciliation(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, "noon")
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "looked at as asked", func(c *infrav1.AzureCluster) bool {
		return c.Status.LastHandledReconcileAt == "noon"
	})
	stage.Eventually("the tag is back", func() bool { return name() == was })
	stage.DeleteCluster("c2")
	stage.DeleteCluster("c1", "m1")
}

// TestObservedGeneration changes objects and checks the generation that their status reports.
func TestObservedGeneration(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	clusterWithMachine(stage, harness.Worker, "")
	harness.WaitFor(stage, stage.NewIdentity(), harness.IdentityName, "observed", func(i *infrav1.AzureClusterIdentity) bool {
		return i.Status.ObservedGeneration == i.Generation && harness.IsReady(i)
	})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "observed", func(c *infrav1.AzureCluster) bool {
		return c.Status.ObservedGeneration == c.Generation && harness.IsReady(c)
	})
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "observed", func(m *infrav1.AzureMachine) bool {
		return m.Status.ObservedGeneration == m.Generation && harness.IsReady(m)
	})

	stage.PauseCluster("c1", true)
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "paused", harness.IsPaused)
	changed := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	harness.ChangeObject(stage, changed, func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"team": "blue"} })
	paused := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "seen to be paused still", func(c *infrav1.AzureCluster) bool {
		return harness.FindCondition(c, "Paused").ObservedGeneration == changed.Generation
	})
	if paused.Status.ObservedGeneration >= changed.Generation {
		t.Errorf("generation %d of a paused object was not reconciled, and the status has %d", changed.Generation,
			paused.Status.ObservedGeneration)
	}
	stage.PauseCluster("c1", false)
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "observed", func(c *infrav1.AzureCluster) bool {
		return c.Status.ObservedGeneration == changed.Generation
	})
	stage.DeleteCluster("c1", "m1")
}
