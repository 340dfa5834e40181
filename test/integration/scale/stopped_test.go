package scale_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestStoppedMachineIsFound stops one of many machines in Azure and starts it again. No event reaches the provider: both are
// found at the next resync, by lists that all machines share.
func TestStoppedMachineIsFound(t *testing.T) {
	t.Parallel()
	const machines = 8
	const vms, version = "Microsoft.Compute/virtualMachines", "2025-04-01"
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: 2 * time.Second})
	makeWorkers(stage, machines)
	made := stage.Azure.MarkRequests()
	const path = "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m0"
	found := func(action, what string, wanted func(running, ready metav1.Condition, m *infrav1.AzureMachine) bool) {
		t.Helper()
		stage.Azure.PostAction(path+"/"+action, version)
		// Earlier reads are not fresh any more.
		stage.AdvanceClock(time.Minute)
		mark := stage.Azure.MarkRequests()
		harness.WaitFor(stage, &infrav1.AzureMachine{}, "m0", what, func(m *infrav1.AzureMachine) bool {
			return wanted(harness.FindCondition(m, infrav1.VMRunningCondition), harness.FindCondition(m, infrav1.ReadyCondition), m)
		})
		// Passes go on until each machine had its own.
		stage.Eventually("the machines were looked at", func() bool { return countRequests(stage.Azure, mark).Lists[vms] > 0 })
		got := countRequests(stage.Azure, mark)
		if reads := got.Gets[vms] + got.Lists[vms]; reads > machines/2 {
			t.Errorf("%d reads of VMs for %d machines (gets %v, lists %v): one list is for all", reads, machines, got.Gets, got.Lists)
		}
		t.Logf("%s: %d reads of VMs for %d machines, %d in all (gets %v, lists %v)", action, got.Gets[vms]+got.Lists[vms], machines,
			got.countReads(),
			got.Gets, got.Lists)
	}
	for _, action := range []string{"deallocate", "powerOff"} {
		found(action, "stopped in its condition", func(running, ready metav1.Condition, m *infrav1.AzureMachine) bool {
			return running.Status == metav1.ConditionFalse && running.Reason == infrav1.VMStoppedReason &&
				ready.Status == metav1.ConditionFalse && ready.Reason == infrav1.VMStoppedReason && !m.Status.Ready
		})
		found("start", "running again", func(running, ready metav1.Condition, m *infrav1.AzureMachine) bool {
			return running.Status == metav1.ConditionTrue && ready.Status == metav1.ConditionTrue && m.Status.Ready
		})
	}
	if writes := stage.Azure.WritesSince(made); len(writes) > 0 {
		t.Errorf("the provider starts no machine, but there was %v", writes)
	}
}
