package server_test

import (
	"testing"
	"time"
)

// An account has its services from the beginning, and containers, shares, queues and tables in them. Source: recordings.
func TestStorageAccountsHaveServices(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const account = groupA + "/providers/Microsoft.Storage/storageAccounts/store"
	a.mustSucceed("PUT", account, obj{"location": "westus3", "kind": "StorageV2", "sku": obj{"name": "Standard_LRS"}})
	for name, c := range map[string]struct {
		reason, path, id string
		made, gone       int
		code             string
		shown            obj
	}{
		"container": {"shown whole when it is read", "blobServices/default/containers/c", "", 201, 200, "ContainerNotFound",
			obj{"properties.publicAccess": "None", "properties.leaseState": "Available"}},
		"share":  {"with its quota", "fileServices/default/shares/s", "", 201, 200, "ShareNotFound", obj{"properties.shareQuota": 102400.0}},
		"queue":  {"a deletion has no content", "queueServices/default/queues/q", "", 200, 204, "QueueNotFound", obj{"properties.approximateMessageCount": 0.0}},
		"table":  {"with its name", "tableServices/default/tables/t", "", 200, 204, "TableNotFound", obj{"properties.tableName": "t"}},
		"policy": {"its name is Azure's", "managementPolicies/default", "", 200, 200, "ManagementPolicyNotFound", obj{"name": "DefaultManagementPolicy"}},
	} {
		path := account + "/" + c.path + "?api-version=2023-01-01"
		if got := a.sendRequest("GET", path, nil); got.status != 404 || got.errorCode() != c.code {
			t.Errorf("%s: a missing one is %d %s, want %s", name, got.status, got.errorCode(), c.code)
		}
		if got := a.sendRequest("PUT", path, obj{"properties": obj{}}); got.status != c.made {
			t.Errorf("%s: PUT = %d %s, want %d", name, got.status, got.errorMessage(), c.made)
		}
		got := a.sendRequest("GET", path, nil)
		for key, want := range c.shown {
			if got.valueAt(key) != want {
				t.Errorf("%s: %s: %s is %v, want %v", name, c.reason, key, got.valueAt(key), want)
			}
		}
		if got := a.sendRequest("DELETE", path, nil); got.status != c.gone {
			t.Errorf("%s: DELETE = %d, want %d", name, got.status, c.gone)
		}
	}
	queues := account + "/queueServices/default?api-version="
	if old, got := a.sendRequest("GET", queues+"2021-04-01", nil), a.sendRequest("GET", queues+"2022-09-01", nil); old.valueAt("properties.logging") != nil ||
		got.valueAt("properties.logging.version") != "1.0" {
		t.Errorf("logging of queues since 2022-09-01, as recorded: before %v, since then %v", old.body, got.body)
	}
	service := account + "/blobServices/default"
	if got := a.sendRequest("GET", service, nil); got.valueAt("sku.tier") != "Standard" {
		t.Errorf("the service is %v, want it with the account's SKU", got.body)
	}
	sent := obj{"properties": obj{"deleteRetentionPolicy": obj{"enabled": true, "days": 7}}}
	if got := a.sendRequest("PUT", service, sent); got.valueAt("properties.deleteRetentionPolicy.days") != 7.0 || got.valueAt("properties.cors") != nil || got.valueAt("id") == nil {
		t.Errorf("PUT shows %v, want the sent properties alone", got.body)
	}
	if got := a.sendRequest("PUT", service, obj{"name": "default"}); len(got.body) != 1 {
		t.Errorf("PUT without properties shows %v, want the name alone", got.body)
	}
	a.mustSucceed("PUT", service, sent)
	if got := a.sendRequest("GET", service, nil); got.valueAt("properties.deleteRetentionPolicy.days") != 7.0 {
		t.Errorf("the service shows %v, want the days that were sent", got.body)
	}
	if got := a.sendRequest("DELETE", service, nil); got.status != 405 {
		t.Errorf("DELETE of a service = %d, want 405", got.status)
	}
	a.mustSucceed("DELETE", account, nil)
	if got := a.sendRequest("GET", service, nil); got.status != 404 {
		t.Errorf("the service of a deleted account is %d", got.status)
	}
}

// A deleted vault keeps its name until it is recovered or purged.
func TestDeletedVaults(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const vaults = groupA + "/providers/Microsoft.KeyVault/vaults/"
	const deleted = "/subscriptions/" + sub + "/providers/Microsoft.KeyVault/locations/westus3/deletedVaults/"
	vault := func(mode string) obj {
		properties := obj{"tenantId": "00000000-0000-0000-0000-000000000000", "sku": obj{"family": "A", "name": "standard"},
			"enabledForDeployment": true}
		if mode != "" {
			properties = obj{"tenantId": "00000000-0000-0000-0000-000000000000", "sku": obj{"family": "A", "name": "standard"}, "createMode": mode}
		}
		return obj{"location": "westus3", "properties": properties}
	}
	a.mustSucceed("PUT", vaults+"kept", vault(""))
	if got := a.sendRequest("GET", deleted+"kept", nil); got.errorCode() != "DeletedVaultNotFound" {
		t.Errorf("an existing vault: %d %s", got.status, got.errorCode())
	}
	a.mustSucceed("DELETE", vaults+"kept", nil)
	if got := a.sendRequest("GET", deleted+"kept", nil); got.valueAt("properties.vaultId") != vaults+"kept" {
		t.Errorf("the deleted vault is %v", got.body)
	}
	if got := a.sendRequest("GET", "/subscriptions/"+sub+"/providers/Microsoft.KeyVault/deletedVaults", nil); len(got.valueAt("value").([]any)) != 1 {
		t.Errorf("the list of deleted vaults is %v", got.body)
	}
	if got := a.sendRequest("PUT", vaults+"kept", vault("")); got.status != 409 || got.errorCode() != "ConflictError" {
		t.Errorf("a new vault with the name: %d %s, want a conflict", got.status, got.errorCode())
	}
	a.mustSucceed("PUT", vaults+"kept", vault("recover"))
	if got := a.sendRequest("GET", vaults+"kept", nil); got.valueAt("properties.enabledForDeployment") != true {
		t.Errorf("the recovered vault is %v, want it as it was", got.body)
	}
	a.mustSucceed("DELETE", vaults+"kept", nil)
	purge := a.sendRequest("POST", deleted+"kept/purge", nil)
	if purge.status != 202 || purge.header.Get("Retry-After") != "5" {
		t.Fatalf("purge = %d %v", purge.status, purge.header)
	}
	if got := a.sendRequest("GET", purge.header.Get("Location"), nil); got.status != 202 || got.valueAt("status") != "NotStarted" || got.valueAt("createdDateTime") == nil {
		t.Errorf("the running purge is %d %v, recordings have a state and a time", got.status, got.body)
	}
	a.sim.Settle()
	if got := a.sendRequest("GET", purge.header.Get("Location"), nil); got.valueAt("status") != "Succeeded" {
		t.Errorf("the result of the purge is %d %v", got.status, got.body)
	}
	a.mustSucceed("PUT", vaults+"kept", vault(""))
	a.mustSucceed("PUT", vaults+"old", vault(""))
	a.mustSucceed("DELETE", vaults+"old", nil)
	a.sim.Advance(91 * 24 * time.Hour)
	if got := a.sendRequest("GET", deleted+"old", nil); got.status != 404 {
		t.Errorf("after its retention a vault is %d, want it purged", got.status)
	}
}
