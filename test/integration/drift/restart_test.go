package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestConditionNamesTheSideThatChanged changes the size of a machine in its spec and in Azure. The provider copies neither change to
// the other side. The condition names the side that was changed, and after a restart, which loses this knowledge, reports only that
// they differ. A condition reports a stopped machine all the while.
func TestConditionNamesTheSideThatChanged(t *testing.T) {
	virtual.PlayComplete(t, func(s *virtual.Scenario) {
		w, stage, t := &world{Scenario: s}, s.Stage, s.T
		manager := s.StartProvider()
		stage.CreateIdentity()
		stage.CreateCluster(stage.AzureCluster("c1"))
		stage.WaitClusterProvisioned("c1")
		for _, name := range []string{"m1", "m2"} {
			stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
			stage.WaitMachineProvisioned(name)
		}
		const sized, halted = compute + "virtualMachines/m1", compute + "virtualMachines/m2"
		resize := func(size string) {
			harness.ChangeObject(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}},
				func(m *infrav1.AzureMachine) { m.Spec.VMSize = size })
		}
		drifted := func(message string) {
			t.Helper()
			w.waitCondition("m1", metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason,
				Message: message})
		}
		inOrder := func() {
			t.Helper()
			w.waitCondition("m1", metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
		}
		const path = "properties.hardwareProfile.vmSize"
		mark := w.Azure.MarkRequests()

		resize("Standard_D4s_v3")
		drifted("virtualMachines/m1 cannot be changed, and the spec has other values: " + path)
		w.PostAction(halted, "deallocate")
		w.waitRead("m2", halted)
		w.waitCondition("m2", metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: infrav1.VMStoppedReason,
			Message: "deallocated"})
		before := harness.FindCondition(w.readObject("m2"), infrav1.VMRunningCondition)

		manager.StopManager()
		s.StartProvider()
		drifted("virtualMachines/m1 differs from the spec: " + path)
		w.waitRead("m1", sized)
		w.waitRead("m2", halted)
		w.WaitQuiet()
		drifted("virtualMachines/m1 differs from the spec: " + path)
		if diff := cmp.Diff(before, harness.FindCondition(w.readObject("m2"), infrav1.VMRunningCondition)); diff != "" {
			t.Errorf("the machine was not started, and its condition changed (-before +after):\n%s", diff)
		}

		resize("Standard_D2s_v3")
		inOrder()
		w.EditResource(sized, body{"properties": body{"hardwareProfile": body{"vmSize": "Standard_D4s_v3"}}})
		w.waitRead("m1", sized)
		drifted("virtualMachines/m1 was changed in Azure by another program or user: " + path)
		// To accept the change is to change the spec.
		resize("Standard_D4s_v3")
		inOrder()
		w.PostAction(halted, "start")
		w.waitRead("m2", halted)
		w.waitReady("m2")
		if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("wrote %v", writes)
		}
	})
}
