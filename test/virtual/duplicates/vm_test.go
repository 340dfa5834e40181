package duplicates_test

import (
	"strings"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestVM creates a second AzureMachine whose name Windows shortens to that of a VM, or that is the shortened name, and deletes the two.
func TestVM(t *testing.T) {
	const first, vm = "windows-worker-east-001", "windows-w-t-001"
	for name, second := range map[string]string{"both are shortened": "windows-worker-west-001", "one is the shortened name": vm} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *virtual.Scenario, written *writes) {
				s.ApplyNetwork("c1", nil)
				s.WaitReady(&infrav1.AzureCluster{}, "c1")
				s.CopyInfrastructure("c1")
				createWindowsMachine(s, first)
				s.WaitMachineProvisioned(first)
				virtual.WaitForSignal(nil, long)
				written.take()

				createWindowsMachine(s, second)
				virtual.WaitForSignal(nil, long)
				requireNoWrites(s, written, "for a machine with the VM of another one")
				requireReady(s, &infrav1.AzureMachine{}, first)
				requireReady(s, &infrav1.AzureMachine{}, second, "metadata.name", first, vm, "at most 15 characters")

				events := deleteMachine(s, second)
				if want := "The VM " + vm + " stays in Azure, because it is that of AzureMachine " + first; !strings.Contains(events, want) {
					t.Errorf("events of the deleted machine:\n%s\nwant %s", events, want)
				}
				virtual.WaitForSignal(nil, long)
				requireNoWrites(s, written, "after the deletion of the refused machine")
				requireReady(s, &infrav1.AzureMachine{}, first)

				deleteMachine(s, first)
				if list := strings.Join(written.take(), "\n"); !strings.Contains(list, "DELETE ") || !strings.Contains(list, "/virtualMachines/"+vm) {
					t.Errorf("the VM is deleted with its machine, but the writes are:\n%s", list)
				}
			})
		})
	}
}

// createWindowsMachine creates a worker with Windows.
func createWindowsMachine(s *virtual.Scenario, name string) {
	machine := s.AzureMachine("c1", name)
	machine.Spec.OSDisk.OSType = infrav1.WindowsOS
	defaults.FillAzureMachine(machine, s.Azure.SubscriptionID)
	s.CreateMachine(machine, harness.Worker, "")
}

// deleteMachine deletes a machine with its Machine, and returns its events.
func deleteMachine(s *virtual.Scenario, name string) string {
	s.T.Helper()
	machine, azureMachine := &clusterv1.Machine{}, &infrav1.AzureMachine{}
	machine.SetName(name)
	azureMachine.SetName(name)
	s.DeleteObjects(machine, azureMachine)
	s.WaitUntilGone(azureMachine)
	return strings.Join(s.ListEvents("AzureMachine", name), "\n")
}
