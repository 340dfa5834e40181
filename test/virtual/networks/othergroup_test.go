package networks_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestGroupsInAnotherScript creates clusters in resource groups whose names have letters of other scripts, which Azure allows. A long name is cut
// by AKS for the group of the nodes. Nothing is written again, and the deletions leave nothing.
func TestGroupsInAnotherScript(t *testing.T) {
	group := "Größe-" + strings.Repeat("я", 70)
	for name, test := range map[string]struct{ apply, remove func(*virtual.Scenario) }{
		"self-managed": {func(s *virtual.Scenario) {
			s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = group })
			s.WaitReady(&infrav1.AzureCluster{}, "c1")
			s.CopyInfrastructure("c1")
			s.ApplyMachine("c1", "c1-control-plane-0", harness.ControlPlane)
			s.WaitMachineProvisioned("c1-control-plane-0")
		}, func(s *virtual.Scenario) { s.DeleteCluster("c1", "c1-control-plane-0") }},
		"AKS": {func(s *virtual.Scenario) {
			controlPlane := s.ControlPlane("c1")
			controlPlane.Spec.ResourceGroupName = group
			defaults.FillAzureManagedControlPlane(controlPlane)
			s.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1,
				Change: defaults.FillAzureManagedMachinePool})
			s.WaitReady(&infrav1.AzureManagedControlPlane{}, "c1")
			s.WaitReady(&infrav1.AzureManagedMachinePool{}, "c1-pool0")
		}, func(s *virtual.Scenario) { s.DeleteManagedCluster("c1", "pool0") }},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Play(t, func(s *virtual.Scenario) {
				test.apply(s)
				s.WaitQuiet()
				mark := s.Azure.MarkRequests()
				s.AdvanceClock(3 * time.Hour)
				s.WaitQuiet()
				if sent := s.Azure.WritesSince(mark); slices.ContainsFunc(sent, func(request string) bool { return !strings.Contains(request, "/list") }) {
					t.Errorf("letters of another script are taken for a difference: %q", sent)
				}
				test.remove(s)
				for _, id := range s.Azure.ListResources() {
					if strings.HasPrefix(id, "resourceGroups/") {
						t.Errorf("the deletion left %s", id)
					}
				}
			})
		})
	}
}
