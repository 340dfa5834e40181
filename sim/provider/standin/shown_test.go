package standin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// callVersion is call in a version of its own.
func (a *azure) callVersion(method, id, version string, b body.Object) answer {
	a.t.Helper()
	t := a.env.TypeOf(typeOf(id))
	was := t.APIVersions
	t.APIVersions = []string{version}
	defer func() { t.APIVersions = was }()
	return a.sendRequest(method, id, b)
}

func typeOf(id string) string {
	parts := strings.Split(id[strings.LastIndex(id, "/providers/")+len("/providers/"):], "/")
	out := parts[0]
	for i := 1; i < len(parts); i += 2 {
		out += "/" + parts[i]
	}
	return out
}

// The answer of a vault depends on the version and on the properties sent; soft deletion cannot be turned off.
func TestVaults(t *testing.T) {
	paths := []string{"enableSoftDelete", "softDeleteRetentionInDays", "publicNetworkAccess", "enableRbacAuthorization", "createMode",
		"vaultUri", "provisioningState"}
	const early, late = "https://keys.vault.azure.net", "https://keys.vault.azure.net/"
	for name, c := range map[string]struct {
		reason, version string
		sent            body.Object
		made, read      []any
	}{
		"old": {"recorded in 2021-04-01-preview", "2021-04-01-preview", body.Object{"createMode": "default", "enableSoftDelete": false},
			[]any{true, nil, nil, nil, nil, early, "RegisteringDns"}, []any{true, nil, nil, nil, nil, late, "Succeeded"}},
		"new": {"recorded in 2023-07-01", "2023-07-01", body.Object{"createMode": "default"},
			[]any{true, 90.0, "Enabled", false, nil, early, "RegisteringDns"}, []any{true, 90.0, "Enabled", false, nil, late, "Succeeded"}},
		"set": {"only the requested setting of soft deletion is shown", "2023-07-01", body.Object{"enableSoftDelete": true},
			[]any{true, nil, "Enabled", false, nil, early, "RegisteringDns"}, []any{true, nil, "Enabled", false, nil, late, "Succeeded"}},
		"days": {"days are kept", "2023-07-01", body.Object{"softDeleteRetentionInDays": 7.0},
			[]any{true, 7.0, "Enabled", false, nil, early, "RegisteringDns"}, []any{true, 7.0, "Enabled", false, nil, late, "Succeeded"}},
		"recovered": {"its name resolves already", "2023-07-01", body.Object{"createMode": "recover"},
			[]any{true, 90.0, "Enabled", false, nil, late, "Succeeded"}, []any{true, 90.0, "Enabled", false, nil, late, "Succeeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			sent := body.Object{"tenantId": "00000000-0000-0000-0000-000000000000", "sku": body.Object{"family": "A", "name": "standard"}}
			for k, v := range c.sent {
				sent[k] = v
			}
			shown := func(got answer) []any {
				var out []any
				for _, path := range paths {
					out = append(out, body.Get(got.body, "properties."+path))
				}
				return out
			}
			if diff := cmp.Diff(c.made, shown(a.callVersion("PUT", vault, c.version, inRegion(sent)))); diff != "" {
				t.Errorf("%s: answer to PUT (-want +got):\n%s", c.reason, diff)
			}
			a.runUntilIdle()
			if diff := cmp.Diff(c.read, shown(a.callVersion("GET", vault, c.version, nil))); diff != "" {
				t.Errorf("%s: read (-want +got):\n%s", c.reason, diff)
			}
			key := a.sendRequest("PUT", vault+"/keys/etcd", body.Object{"properties": body.Object{"kty": "RSA"}})
			want := map[bool]string{true: "CustomizedRecoverable+Purgeable",
				false: "Recoverable+Purgeable"}[c.sent["softDeleteRetentionInDays"] != nil]
			if level := body.String(key.body, "properties.attributes.recoveryLevel"); level != want ||
				body.Int(key.body, "properties.attributes.created") < 1e9 {
				t.Errorf("its key shows %v, want %s", key.body["properties"], want)
			}
		})
	}
}

// TestShown covers other differences between recordings and definitions.
func TestShown(t *testing.T) {
	a := newAzure(t)
	storage := group + "/providers/Microsoft.Storage/storageAccounts/store"
	of := func(kind string) body.Object {
		return body.Object{"location": "westus3", "kind": kind, "sku": body.Object{"name": "Standard_LRS"},
			"properties": body.Object{"accessTier": "Hot"}}
	}
	a.putResource(storage, of("StorageV2"))
	a.putResource(storage+"2", of("BlobStorage"))
	a.putResource(workspace, inRegion(body.Object{"sku": body.Object{"name": "Standalone"}}))
	a.putResource(group+"/providers/Microsoft.Compute/diskAccesses/disks", body.Object{"location": "westus3"})
	a.putResource(registry, body.Object{"location": "westus3", "sku": body.Object{"name": "Basic"}})
	a.putResource(other, inRegion(nil))
	a.putResource(strings.Replace(flux, account, other, 1),
		body.Object{"properties": body.Object{"sourceKind": "GitRepository",
			"gitRepository": body.Object{"url": "https://example.com", "provider": "Generic"}}})
	for name, c := range map[string]struct {
		reason, id, version string
		want                map[string]any
	}{
		"storage, old": {"recorded", storage, "2021-04-01",
			map[string]any{"properties.networkAcls.ipv6Rules": nil, "properties.allowCrossTenantDelegationSas": nil,
				"properties.minimumTlsVersion": "TLS1_2", "properties.primaryEndpoints.web": "https://store.z1.web.core.windows.net/"}},
		"storage": {"recorded", storage, "2025-06-01",
			map[string]any{"properties.networkAcls.ipv6Rules": []any{}, "properties.allowCrossTenantDelegationSas": false}},
		"blobs": {"has blobs and tables only", storage + "2", "2021-04-01",
			map[string]any{"properties.primaryEndpoints": body.Object{"blob": "https://store2.blob.core.windows.net/",
				"dfs": "https://store2.dfs.core.windows.net/", "table": "https://store2.table.core.windows.net/"}}},
		"workspace": {"an old name of a tier, and no systemData", workspace, "2023-09-01",
			map[string]any{"properties.sku.name": "PerGB2018", "systemData": nil}},
		"disk access": {"no list of connections while there are none, and no systemData",
			group + "/providers/Microsoft.Compute/diskAccesses/disks", "2024-03-02",
			map[string]any{"properties.privateEndpointConnections": nil, "systemData": nil}},
		"registry": {"recorded", registry, "2021-09-01",
			map[string]any{"properties.anonymousPullEnabled": nil, "properties.policies.softDeletePolicy": nil,
				"properties.policies.trustPolicy.status": "disabled"}},
		"flux": {"the creator is unknown, and the provider has one casing", strings.Replace(flux, account, other, 1),
			"2024-11-01", map[string]any{"systemData.createdBy": nil, "properties.gitRepository.provider": "generic"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, shown := a.callVersion("GET", c.id, c.version, nil), map[string]any{}
			for path := range c.want {
				shown[path] = body.Get(got.body, path)
			}
			if diff := cmp.Diff(c.want, shown); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	missing := a.env.TypeOf("Microsoft.Insights/dataCollectionRuleAssociations").Missing(nil)
	if diff := cmp.Diff(body.Object{"code": "ResourceNotFound"}, missing.InnerObject(false)); diff != "" {
		t.Errorf("a missing association has a code and nothing else, as recorded (-want +got):\n%s", diff)
	}
}

const other = group + "/providers/Microsoft.Monitor/accounts/other"
