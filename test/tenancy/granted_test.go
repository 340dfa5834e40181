package tenancy_test

import (
	"strings"
	"testing"
	"testing/synctest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestGranted lets the owner of the identity grant access that is denied without the grant.
func TestGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(spec *infrav1.AzureClusterIdentitySpec) {
			subscription := "/subscriptions/00000000-0000-0000-0000-000000000001"
			spec.AllowedResources = []string{subscription + "/" + admin}
			spec.AllowedRoleScopes = []string{subscription}
		})
		w.startManager()
		w.createNetwork(nil)
		w.waitProvisioned()
		w.createMachine(func(m *infrav1.AzureMachine) { m.Spec.ManagedIdentities = userAssigned(w.expandID(admin)) })
		w.createPool(func(p *infrav1.AzureMachinePool) { p.Spec.ManagedIdentities = systemAssigned(w, "") })
		w.waitReady("AzureMachine")
		w.waitReady("AzureMachinePool")
	})
}

// TestDefaultRole gives a machine a role without a scope; it expects that the role counts in the Cluster's group, where it needs no grant.
func TestDefaultRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.startManager()
		w.createNetwork(nil)
		w.waitProvisioned()
		w.createMachine(func(m *infrav1.AzureMachine) {
			m.Spec.Identity = infrav1.VMIdentitySystemAssigned
			m.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: assignment}
		})
		w.waitReady("AzureMachine")
		var roles []string
		for _, request := range w.Azure.WritesSince(0) {
			if strings.Contains(request, assignment) {
				roles = append(roles, request)
			}
		}
		if len(roles) != 1 || roles[0] != "PUT resourceGroups/c1/Microsoft.Authorization/roleAssignments/"+assignment {
			t.Errorf("the role counts in the resource group: %q", roles)
		}
	})
}

// TestExistingStays removes the grants of an identity that machines were created with. Machines keep their references,
// and the provider still writes to them where no such reference changes.
func TestExistingStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(spec *infrav1.AzureClusterIdentitySpec) {
			subscription := "/subscriptions/00000000-0000-0000-0000-000000000001"
			spec.AllowedResources, spec.AllowedRoleScopes = []string{subscription + "/" + admin}, []string{subscription}
		})
		w.startManager()
		w.createNetwork(nil)
		w.waitProvisioned()
		w.createMachine(func(m *infrav1.AzureMachine) { m.Spec.ManagedIdentities = systemAssigned(w, "") })
		w.createPool(func(p *infrav1.AzureMachinePool) { p.Spec.ManagedIdentities = userAssigned(w.expandID(admin)) })
		w.waitReady("AzureMachine")
		w.waitReady("AzureMachinePool")
		w.revokeGrants()
		mark := w.Azure.MarkRequests()
		for _, kind := range []string{"AzureMachine", "AzureMachinePool"} {
			w.touchObject(kind, "after")
		}
		w.addPoolTag()
		w.WaitUntil("the scale set has the tag", func() bool {
			for _, request := range w.Azure.WritesSince(mark) {
				if strings.Contains(request, "virtualMachineScaleSets/vms") {
					return true
				}
			}
			return false
		})
		w.waitReady("AzureMachine")
		w.waitReady("AzureMachinePool")
		for _, request := range w.Azure.WritesSince(mark) {
			if strings.Contains(request, "roleAssignments") || strings.HasPrefix(request, "DELETE") {
				t.Errorf("what exists was touched: %s", request)
			}
		}
	})
}
