package refused_test

import (
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFormerPrincipal lets a user delete the scale set of a pool with a role. The new scale set has another identity, and Azure cannot
// change the assignment of the former one. The test expects that the condition shows the command that deletes it, also after a restart of
// the manager, and that the provider sends no request that must fail. After the command the new identity has the role.
func TestFormerPrincipal(t *testing.T) {
	virtual.Play(t, func(s *virtual.Scenario) {
		const scaleSet, role = "Microsoft.Compute/virtualMachineScaleSets/pool", "86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2"
		const assignment = "providers/Microsoft.Authorization/roleAssignments/" + role
		manager := s.StartProvider()
		s.PlayPoolMachines(nil)
		s.ApplyNetwork("c1", nil)
		s.WaitClusterProvisioned("c1")
		pool := s.AzureMachinePool("c1", "pool")
		pool.Spec.OrchestrationMode, pool.Spec.Identity = infrav1.UniformOrchestration, infrav1.VMIdentitySystemAssigned
		pool.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: role}
		defaults.FillAzureMachinePool(pool, s.Azure.SubscriptionID)
		s.CreatePool(pool, 1)
		s.WaitReady(&infrav1.AzureMachinePool{}, "pool")
		if status, answer := s.SendAsUser("DELETE", "resourceGroups/c1/providers/"+scaleSet, s.ResourceVersion(scaleSet), nil); status > 299 {
			t.Fatalf("%d %s", status, answer)
		}
		s.AdvanceClock(2 * time.Hour)
		check := func() {
			t.Helper()
			object := &infrav1.AzureMachinePool{}
			s.ReadObject(object, "pool")
			got := harness.FindCondition(object, infrav1.RoleAssignmentReadyCondition)
			if command := "az role assignment delete --ids " + string(s.ResourceID(assignment)); got.Reason != infrav1.DriftedReason || !strings.Contains(got.Message, command) {
				t.Errorf("RoleAssignmentReady is %s: %s", got.Reason, got.Message)
			}
		}
		check()
		manager.StopManager()
		mark := s.Azure.MarkRequests()
		s.StartProvider()
		s.AdvanceClock(2 * time.Hour)
		check()
		if writes := s.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("writes: %v", writes)
		}
		s.RemoveResource(assignment)
		s.AdvanceClock(2 * time.Hour)
		if got, want := s.FindProperty(assignment, "properties.principalId"), s.FindProperty(scaleSet, "identity.principalId"); got == nil || got != want {
			t.Errorf("the role is assigned to %v, and the scale set is %v", got, want)
		}
		s.WaitUntil("the role is in place", func() bool {
			object := &infrav1.AzureMachinePool{}
			s.ReadObject(object, "pool")
			return harness.FindCondition(object, infrav1.RoleAssignmentReadyCondition).Reason == infrav1.ReadyReason
		})
	})
}
