package server_test

import (
	"net/url"
	"testing"
)

// TestImportImage copies an image into a registry, as clients of Resource Manager do, and refuses a request without a source.
func TestImportImage(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const registry = groupA + "/providers/Microsoft.ContainerRegistry/registries/images"
	a.mustSucceed("PUT", registry, obj{"location": "westus3", "sku": obj{"name": "Standard"}})
	if got := a.sendRequest("POST", registry+"/importImage", obj{"source": obj{"registryUri": "registry.example"}}); got.status != 400 {
		t.Errorf("an image without a name: %d %s, want 400", got.status, got.errorCode())
	}
	got := a.sendRequest("POST", registry+"/importImage", obj{"source": obj{"registryUri": "registry.example", "sourceImage": "library/nginx"}})
	if got.status != 202 || got.header.Get("Location") == "" || len(got.raw) > 0 {
		t.Fatalf("POST importImage = %d %s, Location %q, want 202 with the URL of an operation", got.status, got.raw, got.header.Get("Location"))
	}
	a.sim.Settle()
	target, err := url.Parse(got.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if ended := a.sendRequest("GET", target.RequestURI(), nil); ended.valueAt("status") != "Succeeded" {
		t.Errorf("the operation ended with %d %s, want the status Succeeded", ended.status, ended.raw)
	}
}

// TestEmptyLastPage lists key vaults: an empty page follows the last page that has vaults.
func TestEmptyLastPage(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const vaults = groupA + "/providers/Microsoft.KeyVault/vaults"
	if got := a.sendRequest("GET", vaults, nil); got.valueAt("nextLink") != nil {
		t.Errorf("an empty list has the next page %v", got.valueAt("nextLink"))
	}
	for _, name := range []string{"vault-one", "vault-two"} {
		a.mustSucceed("PUT", vaults+"/"+name, obj{"location": "westus3", "properties": obj{"tenantId": "11111111-2222-4333-8444-555555555555",
			"sku": obj{"family": "A", "name": "standard"}, "accessPolicies": []any{}}})
	}
	first := a.sendRequest("GET", vaults, nil)
	next, _ := first.valueAt("nextLink").(string)
	target, err := url.Parse(next)
	if err != nil || next == "" || first.valueAt("value.1.name") != "vault-two" {
		t.Fatalf("the list is %s, want both vaults and a next page (%v)", first.raw, err)
	}
	if got := a.sendRequest("GET", target.RequestURI(), nil); string(got.raw) != `{"value":[]}` {
		t.Errorf("the next page is %s, want an empty one", got.raw)
	}
}
