package server_test

import "testing"

// TestProtectedVault: purge protection stays once it is on, and keeps the deleted vault.
func TestProtectedVault(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const vaults = groupA + "/providers/Microsoft.KeyVault/vaults/"
	const deleted = "/subscriptions/" + sub + "/providers/Microsoft.KeyVault/locations/westus3/deletedVaults/"
	vault := func(protection any) obj {
		properties := obj{"tenantId": "00000000-0000-0000-0000-000000000000", "sku": obj{"family": "A", "name": "standard"}}
		if protection != nil {
			properties["enablePurgeProtection"] = protection
		}
		return obj{"location": "westus3", "properties": properties}
	}
	a.mustSucceed("PUT", vaults+"safe", vault(true))
	expectCode(t, "a PUT turns it off", a.sendRequest("PUT", vaults+"safe", vault(false)), "BadRequest")
	expectCode(t, "a PATCH turns it off", a.sendRequest("PATCH", vaults+"safe", obj{"properties": obj{"enablePurgeProtection": false}}), "BadRequest")
	a.mustSucceed("PUT", vaults+"safe", vault(nil))
	if got := a.sendRequest("GET", vaults+"safe", nil).valueAt("properties.enablePurgeProtection"); got != true {
		t.Errorf("after a PUT without it the protection is %v", got)
	}
	a.mustSucceed("DELETE", vaults+"safe", nil)
	expectCode(t, "a purge", a.sendRequest("POST", deleted+"safe/purge", nil), "MethodNotAllowed")
	if got := a.sendRequest("GET", deleted+"safe", nil); got.status != 200 {
		t.Errorf("after the purge was refused: %d", got.status)
	}

	a.mustSucceed("PUT", vaults+"plain", vault(nil))
	a.mustSucceed("DELETE", vaults+"plain", nil)
	for _, request := range [][2]string{{"GET", deleted + "plain/purge"}, {"PUT", deleted + "plain/purge"}, {"DELETE", deleted + "plain"},
		{"PATCH", deleted + "plain"}, {"POST", "/subscriptions/" + sub + "/providers/Microsoft.Compute/locations/westus3/usages"},
		{"PUT", "/subscriptions/" + sub + "/providers/Microsoft.Compute/locations/westus3/vmSizes"},
		{"DELETE", "/subscriptions/" + sub + "/providers/Microsoft.Compute/skus"}} {
		if r := a.sendRequest(request[0], request[1], obj{}); r.status != 405 {
			t.Errorf("%s %s = %d %v, want 405", request[0], request[1], r.status, r.body)
		}
	}
	if got := a.sendRequest("GET", deleted+"plain", nil); got.status != 200 {
		t.Errorf("the vault was purged by another method: %d", got.status)
	}
	a.mustSucceed("POST", deleted+"plain/purge", nil)
}
