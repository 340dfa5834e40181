package server_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// TestRegisteredProviders writes to resources of a provider before and after its registration.
func TestRegisteredProviders(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.Unregistered = []string{"microsoft.network"} })
	const provider, vnet = "/subscriptions/" + server.DefaultSubscription + "/providers/Microsoft.Network",
		"/subscriptions/" + server.DefaultSubscription + "/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/vnet"
	content := obj{"location": "eastus", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}}
	a.mustSucceed("PUT", "/subscriptions/"+server.DefaultSubscription+"/resourceGroups/g", obj{"location": "eastus"})
	for _, step := range []struct {
		reason, method, path string
		content              any
		status               int
		want                 string
	}{
		{"the list of providers shows the state", "GET", provider, nil, 200, "NotRegistered"},
		{"a write is refused", "PUT", vnet, content, 409, "MissingSubscriptionRegistration"},
		{"a read is answered", "GET", vnet, nil, 404, "ResourceNotFound"},
		{"registration is a POST", "GET", provider + "/register", nil, 405, "MethodNotAllowed"},
		{"registration is at once", "POST", provider + "/register", nil, 200, "Registered"},
		{"and shows", "GET", provider, nil, 200, "Registered"},
		{"a write is accepted", "PUT", vnet, content, 201, ""},
		{"a registration can end", "POST", provider + "/unregister", nil, 200, "NotRegistered"},
		{"a delete is a write", "DELETE", vnet, nil, 409, "MissingSubscriptionRegistration"},
	} {
		answer := a.sendRequest(step.method, step.path, step.content)
		got, _ := answer.body["registrationState"].(string)
		if failure, is := answer.body["error"].(map[string]any); is {
			got, _ = failure["code"].(string)
		}
		if answer.status != step.status || got != step.want {
			t.Errorf("%s: %d %q, want %d %q", step.reason, answer.status, got, step.status, step.want)
		}
	}
}

// TestPermissions lists the permissions of a caller with one role in the subscription and one in a group.
func TestPermissions(t *testing.T) {
	a := newGuarded(t)
	for name, grant := range map[string]struct {
		scope   string
		actions []string
	}{
		"77777777-7777-4777-8777-777777777771": {groupA, []string{"Microsoft.Network/*", "*/read"}},
		"77777777-7777-4777-8777-777777777772": {groupA + "b", []string{"Microsoft.Compute/*", "*/read"}},
	} {
		if err := a.sim.Grant(name, memberID, grant.scope, grant.actions); err != nil {
			t.Fatal(err)
		}
	}
	list := func(token, scope string) (out [][]string) {
		a.token = token
		answer := a.sendRequest("GET", scope+"/providers/Microsoft.Authorization/permissions", nil)
		var body struct {
			Value []struct{ Actions []string }
		}
		if err := json.Unmarshal(answer.raw, &body); err != nil || answer.status != 200 {
			t.Fatalf("%s: %d %s", scope, answer.status, answer.raw)
		}
		for _, permission := range body.Value {
			out = append(out, permission.Actions)
		}
		return out
	}
	if diff := cmp.Diff([][]string{{"Microsoft.Network/*", "*/read"}}, list(a.sim.Token(memberID), groupA)); diff != "" {
		t.Errorf("of the group alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"*"}}, list(a.sim.Token(ownerID), groupA)); diff != "" {
		t.Errorf("of an owner (-want +got):\n%s", diff)
	}
	a.token = a.sim.Token(memberID)
	if answer := a.sendRequest("GET", "/subscriptions/"+server.DefaultSubscription+"/providers/Microsoft.Authorization/permissions", nil); answer.status != 403 {
		t.Errorf("without a role in the subscription: %d, want 403", answer.status)
	}
}
