package standin_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/standin"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	group     = "/subscriptions/s/resourceGroups/rg"
	insights  = group + "/providers/Microsoft.Insights/"
	workspace = group + "/providers/Microsoft.OperationalInsights/workspaces/logs"
	registry  = group + "/providers/Microsoft.ContainerRegistry/registries/images"
	vault     = group + "/providers/Microsoft.KeyVault/vaults/keys"
	account   = group + "/providers/Microsoft.Monitor/accounts/metrics"
	rule      = insights + "dataCollectionRules/rule"
	flux      = account + "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/apps"
)

type azure struct {
	t     *testing.T
	clock *store.Virtual
	s     *store.Store
	env   *provider.Env
}

// newAzure serves resource groups, and all other types with package standin.
func newAzure(t *testing.T) *azure {
	t.Helper()
	clock := store.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, err := store.Open(clock, "")
	if err != nil {
		t.Fatal(err)
	}
	env := &provider.Env{Tenant: "tenant", TimeScale: 1, Rand: rand.New(rand.NewPCG(1, 2)), Locations: []string{"westus3"}}
	own := []*provider.Provider{resources.Provider()}
	env.Register(append(own, standin.NewProviders(own)...)...)
	a := &azure{t: t, clock: clock, s: s, env: env}
	if got := a.sendRequest("PUT", group, body.Object{"location": "westus3"}); got.code != "" {
		t.Fatal(got.code)
	}
	return a
}

type answer struct {
	code   string
	status int
	body   body.Object
}

// sendRequest does one request in the newest version.
func (a *azure) sendRequest(method, id string, b body.Object) (got answer) {
	a.t.Helper()
	parsed, err := store.ParseID(id)
	if err != nil {
		a.t.Fatal(err)
	}
	t := a.env.TypeOf(parsed.Type())
	if t == nil {
		a.t.Fatalf("no provider serves %s", parsed.Type())
	}
	err = a.s.Update(func(tx *store.Tx) error {
		c := &provider.Call{Tx: tx, Env: a.env, Method: method, ID: parsed, Type: t, APIVersion: t.APIVersions[0], Query: url.Values{},
			Header: http.Header{}, Body: body.Clone(b)}
		do := map[string]func() (*provider.Reply, error){"PUT": c.PutResource, "GET": c.ReadResource, "PATCH": c.PatchResource,
			"DELETE": c.DeleteResource, "LIST": func() (*provider.Reply, error) {
				list, err := c.ListCollection()
				if err != nil {
					return nil, err
				}
				rows, _ := list.CutPage("", 1000)
				return provider.OK(body.Object{"value": rows}), nil
			}}
		rep, err := do[method]()
		if rep != nil {
			got.status = rep.Status
			got.body, _ = rep.Body.(body.Object)
		}
		return err
	})
	var refused *provider.Error
	if errors.As(err, &refused) {
		got.code = refused.Code
	} else if err != nil {
		a.t.Fatal(err)
	}
	return got
}

// runUntilIdle ends all operations.
func (a *azure) runUntilIdle() {
	a.t.Helper()
	for left := 1; left > 0; {
		if err := a.s.Update(func(tx *store.Tx) error {
			running := tx.Running()
			if left = len(running); left == 0 {
				return nil
			}
			op := running[0]
			a.clock.Set(op.Due)
			id, err := store.ParseID(op.ResourceID)
			if err != nil {
				return err
			}
			c := &provider.Call{Tx: tx, Env: a.env, Method: "PUT", ID: id, APIVersion: op.APIVersion, Header: http.Header{}, Internal: true}
			c.CompleteOperation(op)
			return nil
		}); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *azure) putResource(id string, b body.Object) {
	a.t.Helper()
	if got := a.sendRequest("PUT", id, b); got.code != "" {
		a.t.Fatalf("PUT %s: %s", id, got.code)
	}
	a.runUntilIdle()
}

func inRegion(properties body.Object) body.Object {
	return body.Object{"location": "westus3", "properties": properties}
}

// TestStates checks the states during writes of the types that have recordings.
func TestStates(t *testing.T) {
	tests := map[string]struct {
		reason, id              string
		body                    body.Object
		status                  int
		state                   string
		updated, removed        int
		stateWhileDeleted, etag string
	}{
		"operation": {"a workspace takes its time", workspace, inRegion(nil), 201, "Creating", 200, 200, "", "etag"},
		"silent": {"a vault exists before its name resolves", vault,
			inRegion(body.Object{"tenantId": "00000000-0000-0000-0000-000000000000", "sku": body.Object{"family": "A", "name": "standard"}}), 200,
			"RegisteringDns", 200, 200, "", ""},
		"only removal": {"an account goes by an operation", account, inRegion(nil), 200, "Succeeded", 200, 202, "Deleting", "etag"},
		"synchronous": {"an endpoint is new with status 200", insights + "dataCollectionEndpoints/in", inRegion(nil), 200, "Succeeded", 200, 200,
			"", "etag"},
		"results": {"a storage account is shown by its operation's result", group + "/providers/Microsoft.Storage/storageAccounts/store",
			body.Object{"location": "westus3", "kind": "StorageV2", "sku": body.Object{"name": "Standard_LRS"}}, 202, "Creating", 200, 200, "", ""},
		"no row": {"unknown behaviour of a type is taken from its definition",
			group + "/providers/Microsoft.ContainerService/preparedImageSpecifications/nodes", inRegion(nil), 201, "Creating", 200, 202, "Deleting",
			"eTag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			got := a.sendRequest("PUT", test.id, test.body)
			if got.status != test.status || got.code != "" {
				t.Errorf("%s: %d %s, want %d", test.reason, got.status, got.code, test.status)
			}
			if state := body.String(a.sendRequest("GET", test.id, nil).body, "properties.provisioningState"); state != test.state {
				t.Errorf("%s: it is %q, want %q", test.reason, state, test.state)
			}
			a.runUntilIdle()
			got = a.sendRequest("GET", test.id, nil)
			if state := body.String(got.body, "properties.provisioningState"); state != store.Succeeded {
				t.Errorf("in the end it is %q", state)
			}
			if etag := body.String(got.body, test.etag); test.etag != "" && !strings.HasPrefix(etag, `"`) {
				t.Errorf("%s is %q", test.etag, etag)
			}
			changed := body.Clone(test.body)
			changed["tags"] = body.Object{"a": "b"}
			if got := a.sendRequest("PUT", test.id, changed); got.status != test.updated {
				t.Errorf("an update is answered %d %s, want %d", got.status, got.code, test.updated)
			}
			a.runUntilIdle()
			if got := a.sendRequest("PATCH", test.id, body.Object{"tags": body.Object{"c": "d"}}); got.status != 200 {
				t.Errorf("PATCH is answered %d %s", got.status, got.code)
			}
			a.runUntilIdle()
			if diff := cmp.Diff(body.Object{"c": "d"}, body.Child(a.sendRequest("GET", test.id, nil).body, "tags")); diff != "" {
				t.Errorf("PATCH replaces tags (-want +got):\n%s", diff)
			}
			parsed, _ := store.ParseID(test.id)
			for _, list := range []string{test.id[:strings.LastIndexByte(test.id, '/')], "/subscriptions/s/providers/" + parsed.Type()} {
				if listed := body.Objects(a.sendRequest("LIST", list, nil).body, "value"); len(listed) != 1 {
					t.Errorf("%s lists %d", list, len(listed))
				}
			}
			if got := a.sendRequest("DELETE", test.id, nil); got.status != test.removed {
				t.Errorf("DELETE is answered %d %s, want %d", got.status, got.code, test.removed)
			}
			if state := body.String(a.sendRequest("GET", test.id, nil).body, "properties.provisioningState"); state != test.stateWhileDeleted {
				t.Errorf("while it is deleted it is %q, want %q", state, test.stateWhileDeleted)
			}
			a.runUntilIdle()
			if got := a.sendRequest("GET", test.id, nil); got.code != "ResourceNotFound" {
				t.Errorf("it is left: %d %s", got.status, got.code)
			}
		})
	}
}

// TestRefusals checks the refusals of every type.
func TestRefusals(t *testing.T) {
	a := newAzure(t)
	a.putResource(registry, body.Object{"location": "westus3", "sku": body.Object{"name": "Basic"}})
	association := func(scope string) string {
		return scope + "/providers/Microsoft.Insights/dataCollectionRuleAssociations/use"
	}
	tests := map[string]struct {
		reason, id string
		body       body.Object
		want       string
	}{
		"parent": {"a key is in a vault", vault + "/keys/k", body.Object{"properties": body.Object{"kty": "RSA"}},
			"ParentResourceNotFound"},
		"group": {"everything is in a group", strings.Replace(registry, "/rg/", "/none/", 1), body.Object{"location": "westus3"},
			"ResourceGroupNotFound"},
		"scope": {"the extended resource must exist", association(vault), body.Object{"properties": body.Object{}}, "ResourceNotFound"},
		"reference": {"the referenced resource must exist", association(registry),
			body.Object{"properties": body.Object{"dataCollectionRuleId": rule}}, "ResourceNotFound"},
		"workspace": {"rules have words of their own, recorded", rule,
			inRegion(body.Object{"destinations": body.Object{"logAnalytics": []any{body.Object{"name": "l", "workspaceResourceId": workspace}}}}),
			"WorkspaceNotFound"},
		"network": {"the network provider has words of its own", group + "/providers/Microsoft.Network/privateLinkServices/p",
			inRegion(body.Object{"loadBalancerFrontendIpConfigurations": []any{
				body.Object{"id": group + "/providers/Microsoft.Network/loadBalancers/lb"}}}), "InvalidResourceReference"},
		"unknown": {"there is no such property", registry,
			body.Object{"location": "westus3", "sku": body.Object{"name": "Basic"}, "properties": body.Object{"banana": true}},
			"InvalidRequestContent"},
		"required": {"a registry has a SKU", registry + "2", body.Object{"location": "westus3"}, "InvalidRequestContent"},
		"name": {"a registry's name has no hyphens", registry + "-2",
			body.Object{"location": "westus3", "sku": body.Object{"name": "Basic"}}, "InvalidResourceName"},
		"location": {"a registry is somewhere", registry + "2", body.Object{"sku": body.Object{"name": "Basic"}}, "LocationRequired"},
		"fleet, no one": {"a run updates members, recorded", group + "/providers/Microsoft.ContainerService/fleets/f/updateRuns/r",
			body.Object{"properties": body.Object{"managedClusterUpdate": body.Object{"upgrade": body.Object{"type": "NodeImageOnly"}}}},
			"UpdateRunTargetingEmptyFleet"},
	}
	a.putResource(group+"/providers/Microsoft.ContainerService/fleets/f", inRegion(nil))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := a.sendRequest("PUT", test.id, test.body); got.code != test.want {
				t.Errorf("%s: %d %q, want %q", test.reason, got.status, got.code, test.want)
			}
		})
	}
}

// TestMade checks the generated values that users need: they are present, and the same in every simulator.
func TestMade(t *testing.T) {
	show := func(seed uint64) map[string]any {
		a := newAzure(t)
		a.env.Rand = rand.New(rand.NewPCG(seed, seed))
		a.putResource(registry, body.Object{"location": "westus3", "sku": body.Object{"name": "Basic"}})
		a.putResource(vault, inRegion(body.Object{"tenantId": "00000000-0000-0000-0000-000000000000",
			"sku": body.Object{"family": "A", "name": "standard"}}))
		a.putResource(vault+"/keys/etcd", body.Object{"properties": body.Object{"kty": "RSA"}})
		a.putResource(workspace, inRegion(nil))
		a.putResource(account, inRegion(nil))
		a.putResource(rule, inRegion(body.Object{"destinations": body.Object{"logAnalytics": []any{body.Object{"name": "l",
			"workspaceResourceId": workspace}}}}))
		out := map[string]any{}
		for id, paths := range map[string][]string{
			registry:             {"loginServer", "adminUserEnabled"},
			vault:                {"vaultUri", "enableSoftDelete"},
			vault + "/keys/etcd": {"keyUri", "keyUriWithVersion"},
			workspace:            {"customerId", "sku.name"},
			account:              {"accountId", "metrics.prometheusQueryEndpoint", "defaultIngestionSettings.dataCollectionRuleResourceId"},
			rule:                 {"immutableId"},
		} {
			shown := a.sendRequest("GET", id, nil).body
			for _, path := range paths {
				out[path] = body.Get(shown, "properties."+path)
			}
			if id == rule {
				out["workspaceId"] = body.Objects(shown, "properties.destinations.logAnalytics")[0]["workspaceId"]
			}
		}
		// The account's own rule is a resource like any other.
		if got := a.sendRequest("GET", out["defaultIngestionSettings.dataCollectionRuleResourceId"].(string), nil); got.status != 200 {
			t.Errorf("the account's rule is missing: %s", got.code)
		}
		a.sendRequest("DELETE", account, nil)
		a.runUntilIdle()
		if got := a.sendRequest("GET", out["defaultIngestionSettings.dataCollectionRuleResourceId"].(string), nil); got.status == 200 {
			t.Errorf("the account's rule is left")
		}
		return out
	}
	got := show(1)
	if got["workspaceId"] != got["customerId"] {
		t.Errorf("the rule knows the workspace as %v, it is %v", got["workspaceId"], got["customerId"])
	}
	if diff := cmp.Diff(got, show(2)); diff != "" {
		t.Errorf("made-up values differ (-first +second):\n%s", diff)
	}
	want := map[string]any{"loginServer": "images.azurecr.io", "adminUserEnabled": false, "vaultUri": "https://keys.vault.azure.net/",
		"enableSoftDelete": true,
		"keyUri":           "https://keys.vault.azure.net/keys/etcd", "sku.name": "PerGB2018",
		"defaultIngestionSettings.dataCollectionRuleResourceId": "/subscriptions/s/resourceGroups/MA_metrics_westus3_managed/providers/Microsoft.Insights/dataCollectionRules/metrics"}
	for path, value := range want {
		if got[path] != value {
			t.Errorf("%s is %v, want %v", path, got[path], value)
		}
	}
	for path, value := range got {
		if value == nil || value == "" {
			t.Errorf("%s has no value", path)
		}
	}
}

// Secrets are taken and never shown, in versions that have no definition, too.
func TestSecrets(t *testing.T) {
	a := newAzure(t)
	a.putResource(vault, inRegion(body.Object{"createMode": "default", "tenantId": "00000000-0000-0000-0000-000000000000",
		"sku": body.Object{"family": "A", "name": "standard"}}))
	a.putResource(account, inRegion(nil))
	a.putResource(flux, body.Object{"properties": body.Object{"sourceKind": "GitRepository",
		"configurationProtectedSettings": body.Object{"token": "c2VjcmV0"}, "kustomizations": body.Object{"apps": body.Object{}}}})
	if shown := a.sendRequest("GET", vault, nil).body; body.Has(shown, "properties.createMode") {
		t.Errorf("the mode of creation is shown")
	}
	shown := a.sendRequest("GET", flux, nil).body
	if diff := cmp.Diff(body.Object{}, body.Child(shown, "properties.configurationProtectedSettings")); diff != "" {
		t.Errorf("protected settings are shown (-want +got):\n%s", diff)
	}
	if got := body.String(shown, "properties.complianceState"); got != "Compliant" {
		t.Errorf("the configuration is %q", got)
	}
}

// Children are deleted with their parent, and all resources with their group.
func TestDeletion(t *testing.T) {
	a := newAzure(t)
	a.putResource(vault, inRegion(body.Object{"tenantId": "00000000-0000-0000-0000-000000000000",
		"sku": body.Object{"family": "A", "name": "standard"}}))
	a.putResource(vault+"/keys/etcd", body.Object{"properties": body.Object{"kty": "RSA"}})
	a.putResource(account, inRegion(nil))
	a.putResource(flux, body.Object{"properties": body.Object{"sourceKind": "GitRepository"}})
	a.sendRequest("DELETE", vault, nil)
	a.putResource(vault, inRegion(body.Object{"tenantId": "00000000-0000-0000-0000-000000000000",
		"sku": body.Object{"family": "A", "name": "standard"}, "createMode": "recover"}))
	if got := a.sendRequest("GET", vault+"/keys/etcd", nil); got.status == 200 {
		t.Error("a key outlives its vault")
	}
	a.sendRequest("DELETE", group, nil)
	a.runUntilIdle()
	left := 0
	a.s.View(func(tx *store.Tx) { left = len(tx.List("", "")) })
	if left != 0 {
		t.Errorf("%d resources are left", left)
	}
}

// Every defined type that clients can create is served, and none of those that Azure creates.
func TestServed(t *testing.T) {
	env := &provider.Env{}
	env.Register(standin.NewProviders(nil)...)
	served := map[string]bool{}
	for _, p := range env.Providers() {
		for _, each := range p.Types {
			served[each.Name] = true
		}
	}
	for name, want := range map[string]bool{
		"Microsoft.ContainerRegistry/registries": true, "Microsoft.KeyVault/vaults": true, "Microsoft.OperationalInsights/workspaces": true,
		"Microsoft.Insights/dataCollectionRules": true, "Microsoft.Insights/dataCollectionEndpoints": true,
		"Microsoft.Insights/dataCollectionRuleAssociations": true,
		"Microsoft.Monitor/accounts":                        true, "Microsoft.ContainerService/snapshots": true,
		"Microsoft.ContainerService/fleets/updateRuns":         true,
		"Microsoft.KubernetesConfiguration/fluxConfigurations": true,
		"Microsoft.ContainerService/locations/aiModels":        false, "Microsoft.ContainerService/managedClusters/meshUpgradeProfiles": false,
		"Microsoft.ManagedIdentity/identities": false, "Microsoft.Resources/deployments": false,
		"Microsoft.KeyVault/vaults/accessPolicies": false,
	} {
		if served[name] != want {
			t.Errorf("%s: served is %t, want %t", name, served[name], want)
		}
	}
	t.Logf("%d types: %s", len(served), strings.Join(slices.Sorted(maps.Keys(served)), " "))
}
