package azuremachinepool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestVMIsDeletedOnceDrained deletes a VM in Azure only once it is drained and unused, whichever object was deleted first.
func TestVMIsDeletedOnceDrained(t *testing.T) {
	now := metav1.Now()
	for name, test := range map[string]struct {
		reason         string
		leaving, going bool
		noMachine      bool
		machineReason  string
		want           bool
	}{
		"not deleted":          {reason: "it stays"},
		"Machine just deleted": {reason: "Cluster API has not looked yet, so nothing is drained", leaving: true, going: true},
		"Machine that begins to go": {reason: "it may be anywhere before the drain", leaving: true, going: true,
			machineReason: clusterv1.MachineDeletingReason},
		"draining": {reason: "pods are still on the node", leaving: true, going: true,
			machineReason: clusterv1.MachineDeletingDrainingNodeReason},
		"hook": {reason: "a hook delays the deletion", leaving: true, going: true,
			machineReason: clusterv1.MachineDeletingWaitingForPreTerminateHookReason},
		"drained": {reason: "Cluster API waits for the VM to go", leaving: true, going: true,
			machineReason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, want: true},
		"object alone": {reason: "the Machine is deleted first", leaving: true},
		"drained, object still there": {reason: "Cluster API deletes it next", going: true,
			machineReason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason},
		"no Machine": {reason: "without a Machine the node is not drained", leaving: true, noMachine: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := member{vm: &infrav1.AzureMachinePoolMachine{}, machine: &clusterv1.Machine{}}
			if test.leaving {
				m.vm.DeletionTimestamp = &now
			}
			if test.going {
				m.machine.DeletionTimestamp = &now
			}
			if test.machineReason != "" {
				m.machine.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue,
					Reason: test.machineReason}}
			}
			if test.noMachine {
				m.machine = nil
			}
			if got := m.readState().Free; got != test.want {
				t.Errorf("%s: free %t, want %t", test.reason, got, test.want)
			}
		})
	}
}
