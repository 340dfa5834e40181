package server_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

const (
	ownerID, memberID = server.DefaultClientID, "33333333-3333-3333-3333-333333333333"
	memberObject      = "44444444-4444-4444-4444-444444444444"
	assignmentName    = "55555555-5555-5555-5555-555555555555"
	reader            = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
	contributor       = "b24988ac-6180-42a0-ab88-20f7382dd24c"
)

// newGuarded returns a simulator that enforces roles, with an owner who is the default caller and a group with a network.
func newGuarded(t *testing.T) *azure {
	t.Helper()
	a := newAzure(t, func(o *server.Options) {
		o.EnforceRBAC, o.Owners, o.TimeScale = true, []string{ownerID}, 0
		o.Principals = []server.Principal{{ClientID: ownerID, Secret: "s"}, {ClientID: memberID, Secret: "t", ObjectID: memberObject}}
	})
	a.mustSucceed("PUT", groupA, `{"location":"eastus"}`)
	a.mustSucceed("PUT", groupA+"b", `{"location":"eastus"}`)
	a.mustSucceed("PUT", groupA+vnetPath("v1"),
		`{"location":"eastus","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]},"subnets":[{"name":"s","properties":{"addressPrefix":"10.0.0.0/24"}}]}}`)
	return a
}

func vnetPath(name string) string { return "/providers/Microsoft.Network/virtualNetworks/" + name }

// sendAsMember sends a request of the member.
func (a *azure) sendAsMember(method, path, content string) response {
	a.t.Helper()
	return a.sendRequest(method, path, content, "Authorization", "Bearer "+a.sim.Token(memberID))
}

// assignRole gives the member a role as the owner does it.
func (a *azure) assignRole(scope, role string) {
	a.t.Helper()
	a.mustSucceed("PUT", scope+"/providers/Microsoft.Authorization/roleAssignments/"+assignmentName, body.Object{"properties": body.Object{
		"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/" + role, "principalId": memberObject,
		"principalType": "ServicePrincipal"}})
}

func TestEnforcedRoles(t *testing.T) {
	const (
		subscription = "/subscriptions/" + sub
		custom       = "66666666-6666-6666-6666-666666666666"
		nic          = `{"location":"eastus","properties":{"ipConfigurations":[{"name":"i","properties":{"subnet":{"id":"` + groupA + `/providers/Microsoft.Network/virtualNetworks/v1/subnets/s"}}}]}}`
	)
	denied := func(action, scope string) string {
		return "AuthorizationFailed: The client '" + memberID + "' with object id '" + memberObject + "' does not have authorization to " +
			"perform action '" + action + "' over scope '" + scope +
			"' or the scope is invalid. If access was recently granted, please refresh your credentials."
	}
	tests := map[string]struct {
		reason      string
		scope, role string
		// actions and not are those of a role that the owner made; role is its GUID.
		actions, not          []any
		method, path, content string
		// want is code and message; "" is success.
		want string
	}{
		"nothing": {reason: "a principal without a role reads nothing", method: "GET", path: groupA + vnetPath("v1"),
			want: denied("Microsoft.Network/virtualNetworks/read", groupA+vnetPath("v1"))},
		"does not exist": {reason: "and does not learn what there is", method: "GET", path: groupA + vnetPath("none"),
			want: denied("Microsoft.Network/virtualNetworks/read", groupA+vnetPath("none"))},
		"list": {reason: "a list is asked of the provider in the group", method: "GET",
			path: groupA + "/providers/Microsoft.Network/virtualNetworks",
			want: denied("Microsoft.Network/virtualNetworks/read", groupA+"/providers/Microsoft.Network")},
		"group": {reason: "groups are Resource Manager's", method: "PUT", path: groupA, content: `{"location":"eastus"}`,
			want: denied("Microsoft.Resources/subscriptions/resourceGroups/write", groupA)},
		"subscriptions": {reason: "the list of subscriptions has those that one sees", method: "GET", path: "/subscriptions"},
		"reads": {reason: "of the subscription, inherited", scope: subscription, role: reader, method: "GET",
			path: groupA + vnetPath("v1")},
		"reader writes": {reason: "reading is not writing", scope: subscription, role: reader, method: "DELETE", path: groupA + vnetPath("v1"),
			want: denied("Microsoft.Network/virtualNetworks/delete", groupA+vnetPath("v1"))},
		"of one group": {reason: "nothing of another, whose name begins alike", scope: groupA, role: reader, method: "GET",
			path: groupA + "b", want: denied("Microsoft.Resources/subscriptions/resourceGroups/read", groupA+"b")},
		"contributor": {reason: "may write resources, except for access", scope: groupA, role: contributor, method: "PUT",
			path: groupA + "/providers/Microsoft.Network/networkInterfaces/n", content: nic},
		"contributor assigns": {reason: "the built-in role excepts it", scope: groupA, role: contributor, method: "DELETE",
			path: groupA + "/providers/Microsoft.Authorization/roleAssignments/" + assignmentName,
			want: denied("Microsoft.Authorization/roleAssignments/delete",
				groupA+"/providers/Microsoft.Authorization/roleAssignments/"+assignmentName)},
		"custom": {reason: "a role of one's own, with a wildcard", scope: groupA, role: custom,
			actions: []any{"Microsoft.Network/*/read"}, method: "GET", path: groupA + vnetPath("v1") + "/subnets/s"},
		"custom excepts": {reason: "notActions of a role are not granted", scope: groupA, role: custom,
			actions: []any{"Microsoft.Network/*"}, not: []any{"Microsoft.Network/virtualNetworks/delete"}, method: "DELETE",
			path: groupA + vnetPath("v1"), want: denied("Microsoft.Network/virtualNetworks/delete", groupA+vnetPath("v1"))},
		"action": {reason: "a POST names its action", scope: groupA, role: reader, method: "POST",
			path: groupA + "/providers/Microsoft.ContainerService/managedClusters/c/listClusterAdminCredential",
			want: denied("Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action",
				groupA+"/providers/Microsoft.ContainerService/managedClusters/c")},
		"register": {reason: "registration is the provider's own action", method: "POST",
			path: subscription + "/providers/Microsoft.Network/register", want: denied("Microsoft.Network/register/action", subscription)},
		"health": {reason: "the current status has an action of its own", scope: groupA, role: custom,
			actions: []any{"Microsoft.ResourceHealth/availabilityStatuses/read"}, method: "GET",
			path: groupA + vnetPath("v1") + "/providers/Microsoft.ResourceHealth/availabilityStatuses/current",
			want: denied("Microsoft.ResourceHealth/AvailabilityStatuses/current/read",
				groupA+vnetPath("v1")+"/providers/Microsoft.ResourceHealth/availabilityStatuses/current")},
		"linked": {
			reason: "a reference needs a right on the referenced resource", scope: groupA, role: custom,
			actions: []any{"Microsoft.Network/networkInterfaces/write"},
			method:  "PUT", path: groupA + "/providers/Microsoft.Network/networkInterfaces/n", content: nic,
			want: "LinkedAuthorizationFailed: The client '" + memberID + "' with object id '" + memberObject + "' has permission to perform " +
				"action 'Microsoft.Network/networkInterfaces/write' on scope '" + groupA +
				"/providers/Microsoft.Network/networkInterfaces/n'; however, it does not have permission to perform action(s) " +
				"'Microsoft.Network/virtualNetworks/subnets/join/action' on the linked scope(s) '" + groupA + vnetPath(
				"v1") + "/subnets/s' (respectively) or the linked scope(s) are invalid.",
		},
		"joins": {reason: "with the right to join it works", scope: groupA, role: custom,
			actions: []any{"Microsoft.Network/networkInterfaces/write", "Microsoft.Network/virtualNetworks/subnets/join/action"},
			method:  "PUT", path: groupA + "/providers/Microsoft.Network/networkInterfaces/n", content: nic},
		"own parts": {reason: "a reference inside of the resource needs no right to join", scope: groupA, role: custom,
			actions: []any{"Microsoft.Network/loadBalancers/write", "Microsoft.Network/virtualNetworks/subnets/join/action"},
			method:  "PUT", path: groupA + "/providers/Microsoft.Network/loadBalancers/l",
			content: `{"location":"eastus","sku":{"name":"Standard"},"properties":{"frontendIPConfigurations":[{"name":"f","properties":{"subnet":{"id":"` + groupA + vnetPath("v1") + `/subnets/s"}}}],
				"probes":[{"name":"p","properties":{"protocol":"Tcp","port":80}}],"backendAddressPools":[{"name":"b"}],"loadBalancingRules":[{"name":"r","properties":{"protocol":"Tcp","frontendPort":80,"backendPort":80,
				"frontendIPConfiguration":{"id":"` + groupA + `/providers/Microsoft.Network/loadBalancers/l/frontendIPConfigurations/f"},"probe":{"id":"` + groupA + `/providers/Microsoft.Network/loadBalancers/l/probes/p"}}}]}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newGuarded(t)
			if test.actions != nil {
				a.mustSucceed("PUT", test.scope+"/providers/Microsoft.Authorization/roleDefinitions/"+test.role, body.Object{"properties": body.Object{
					"roleName": "custom", "assignableScopes": []any{test.scope},
					"permissions": []any{body.Object{"actions": test.actions, "notActions": test.not}}}})
			}
			if test.role != "" {
				a.assignRole(test.scope, test.role)
			}
			answer, got := a.sendAsMember(test.method, test.path, test.content), ""
			if answer.status > 299 {
				got = answer.errorCode() + ": " + answer.errorMessage()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if test.want != "" && answer.status != http.StatusForbidden {
				t.Errorf("status %d, want 403", answer.status)
			}
		})
	}
}

// TestLoggedActions checks the logged actions, which are the same whether roles are enforced or not.
func TestLoggedActions(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.TimeScale = 0 })
	a.mustSucceed("PUT", groupA, `{"location":"eastus"}`)
	a.mustSucceed("PUT", groupA+vnetPath("w1"), `{"location":"eastus","properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`)
	a.sendRequest("PUT", groupA+vnetPath("w1")+"/virtualNetworkPeerings/p",
		`{"properties":{"remoteVirtualNetwork":{"id":"`+groupA+vnetPath("other")+`"}}}`)
	requests := a.sim.Requests()
	want := []string{"Microsoft.Network/virtualNetworks/virtualNetworkPeerings/write", "Microsoft.Network/virtualNetworks/peer/action"}
	if diff := cmp.Diff(want, requests[len(requests)-1].Actions); diff != "" {
		t.Errorf("a peering takes a right at both ends (-want +got):\n%s", diff)
	}
	a.sendRequest("DELETE", groupA+vnetPath("w1"), nil)
	requests = a.sim.Requests()
	want = []string{"Microsoft.Network/virtualNetworks/delete", "Microsoft.Network/locations/operations/read"}
	if diff := cmp.Diff(want, requests[len(requests)-1].Actions); diff != "" {
		t.Errorf("who starts an operation has to follow it (-want +got):\n%s", diff)
	}
}
