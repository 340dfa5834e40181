package refused_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
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

// TestMissingPrincipal has Azure refuse the role of a VM, because the directory does not have its identity. For a quarter of an hour the machine
// waits. Then the condition names the principal and the assignment, and a person has to act. The assignment is tried again until Azure accepts it.
func TestMissingPrincipal(t *testing.T) {
	virtual.Play(t, func(s *virtual.Scenario) {
		const role = "86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2"
		s.AddFault(fault.Rule{Kind: fault.Status, Method: "PUT", ID: "*/roleassignments/*", Status: 400, Code: "PrincipalNotFound",
			Message: "Principal does not exist in the directory.", Count: -1})
		s.ApplyNetwork("c1", nil)
		s.WaitClusterProvisioned("c1")
		machine := s.AzureMachine("c1", "m")
		machine.Spec.Identity, machine.Spec.SystemAssignedIdentityRole = infrav1.VMIdentitySystemAssigned, &infrav1.SystemAssignedIdentityRole{Name: role}
		defaults.FillAzureMachine(machine, s.Azure.SubscriptionID)
		s.CreateMachine(machine, harness.Worker, "")
		condition := func() metav1.Condition {
			s.ReadObject(machine, "m")
			return harness.FindCondition(machine, infrav1.RoleAssignmentReadyCondition)
		}
		s.WaitUntil("the role is refused", func() bool { return strings.Contains(condition().Message, "PrincipalNotFound") })
		s.AdvanceClock(14 * time.Minute)
		if got := condition(); got.Status != "False" || got.Reason != infrav1.WaitingReason || conditions.IsTrue(machine, infrav1.StalledCondition) {
			s.T.Errorf("a new principal takes minutes: %s: %s", got.Reason, got.Message)
		}
		s.AdvanceClock(6 * time.Minute)
		got, principal := condition(), s.FindProperty("Microsoft.Compute/virtualMachines/m", "identity.principalId").(string)
		if got.Reason != infrav1.FailedReason || !conditions.IsTrue(machine, infrav1.StalledCondition) ||
			!strings.Contains(got.Message, "Azure has not found the principal "+principal+" of roleAssignments/"+role+" in the tenant") {
			s.T.Errorf("the principal does not exist: %s: %s", got.Reason, got.Message)
		}
		s.Azure.ClearFaults()
		s.WaitReady(machine, "m")
	})
}
