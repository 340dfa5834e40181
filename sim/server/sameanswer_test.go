package server_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSameErrorOfMany sends requests with several errors. Azure reports one of them, and the simulator always the same one.
func TestSameErrorOfMany(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	missing := obj{}
	for i := range 5 {
		missing[fmt.Sprintf("%s/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i%d", groupA, i)] = obj{}
	}
	for name, tc := range map[string]struct {
		reason, path string
		body         obj
	}{
		"identities": {"none of them exists", net + "/routeTables/x", nil},
		"tags":       {"none is a string", net + "/routeTables/x", obj{"location": "westus3", "tags": obj{"a": 1, "b": 2, "c": 3, "d": 4}}},
		"subnet": {"nothing that it refers to exists", net + "/virtualNetworks/vnet/subnets/new", obj{"properties": obj{"addressPrefix": "10.9.0.0/24",
			"networkSecurityGroup": obj{"id": net + "/networkSecurityGroups/no"}, "routeTable": obj{"id": net + "/routeTables/no"},
			"natGateway": obj{"id": net + "/natGateways/no"}}}},
		"deployment": {"several properties are not simulated", groupA + "/providers/Microsoft.Resources/deployments/d",
			obj{"properties": obj{"mode": "Incremental", "a": 1, "b": 2, "c": 3, "d": 4}}},
		"machine": {"neither exists", comp + "/virtualMachines/new", obj{"location": "westus3", "properties": obj{
			"hardwareProfile": obj{"vmSize": "Standard_D2s_v3"}, "availabilitySet": obj{"id": comp + "/availabilitySets/no"},
			"proximityPlacementGroup": obj{"id": comp + "/proximityPlacementGroups/no"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.body == nil {
				tc.path, tc.body = comp+"/virtualMachines/new", obj{"location": "westus3", "identity": obj{"type": "UserAssigned", "userAssignedIdentities": missing},
					"properties": obj{"hardwareProfile": obj{"vmSize": "Standard_D2s_v3"}}}
			}
			first := a.sendRequest("PUT", tc.path, tc.body)
			if first.status < 400 {
				t.Fatalf("PUT = %d: %s", first.status, tc.reason)
			}
			for range 30 {
				if d := cmp.Diff(first.body, a.sendRequest("PUT", tc.path, tc.body).body); d != "" {
					t.Fatalf("%s: another answer (-first +later):\n%s", tc.reason, d)
				}
			}
		})
	}
}
