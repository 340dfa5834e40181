package duplicates_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestScaleSet makes a second AzureMachinePool whose name Windows shortens to that of a scale set with VMs, and deletes the two.
func TestScaleSet(t *testing.T) {
	play(t, func(s *virtual.Scenario, written *writes) {
		s.ApplyNetwork("c1", nil)
		s.WaitReady(&infrav1.AzureCluster{}, "c1")
		s.CopyInfrastructure("c1")
		createWindowsPool(s, "prod-nodes")
		s.WaitReady(&infrav1.AzureMachinePool{}, "prod-nodes")
		virtual.WaitForSignal(nil, long)
		written.take()

		createWindowsPool(s, "test-nodes")
		virtual.WaitForSignal(nil, long)
		requireNoWrites(s, written, "for a pool with the scale set of another one")
		requireReady(s, &infrav1.AzureMachinePool{}, "prod-nodes")
		requireReady(s, &infrav1.AzureMachinePool{}, "test-nodes", "metadata.name", "prod-nodes", "test-nodes", "at most 9 characters")

		events := deletePool(s, "AzureMachinePool", &infrav1.AzureMachinePool{}, "test-nodes")
		if want := "The scale set win-nodes with its VMs stays in Azure, because AzureMachinePool prod-nodes also manages it"; !strings.Contains(events, want) {
			t.Errorf("events of the deleted pool:\n%s\nwant %s", events, want)
		}
		virtual.WaitForSignal(nil, long)
		requireNoWrites(s, written, "after the deletion of the refused pool")
		requireReady(s, &infrav1.AzureMachinePool{}, "prod-nodes")

		deletePool(s, "AzureMachinePool", &infrav1.AzureMachinePool{}, "prod-nodes")
		if list := written.take(); len(list) != 1 || !strings.HasPrefix(list[0], "DELETE ") || !strings.HasSuffix(list[0], "/virtualMachineScaleSets/win-nodes") {
			t.Errorf("the scale set is deleted with the last of its pools: %q", list)
		}
	})
}

// createWindowsPool makes a pool of one Windows VM.
func createWindowsPool(s *virtual.Scenario, name string) {
	pool := s.AzureMachinePool("c1", name)
	pool.Spec.OrchestrationMode = infrav1.UniformOrchestration
	pool.Spec.Template.OSDisk.OSType = infrav1.WindowsOS
	pool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{
		Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
		RollingUpdate: &infrav1.MachineRollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
			DeletePolicy: infrav1.OldestDeletePolicyType},
	}
	defaults.FillAzureMachinePool(pool, "")
	s.CreatePool(pool, 1)
}
