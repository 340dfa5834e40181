package armschema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeaves(t *testing.T) {
	body := decodeObject(t, `{"location":"westeurope","tags":{"a":"b"},"identity":{"userAssignedIdentities":{"/subscriptions/s":{}}},
		"properties":{"kubernetesVersion":"1.33.1","agentPoolProfiles":[{"name":"p"}],"count":3,"orchestratorVersion":"1.33.1",
		"nodeLabels":{"example.com/team~a":"x"},"networkProfile":{"podCidr":null,"serviceCidrs":[]},"enableRBAC":false,"aadProfile":{}}}`)
	want := []string{
		"/identity/userAssignedIdentities/~1subscriptions~1s", "/properties/aadProfile", "/properties/enableRBAC",
		"/properties/networkProfile/serviceCidrs", "/properties/nodeLabels/example.com~1team~0a",
	}
	if diff := cmp.Diff(want, LeafPaths(body)); diff != "" {
		t.Errorf("agent pools, versions, counts and tags belong to others; keys are escaped (-want +got):\n%s", diff)
	}
}

func TestRetract(t *testing.T) {
	tests := map[string]struct {
		reason   string
		kind     Kind
		preview  bool
		before   string // the body that was sent
		body     string // the body of the present plan
		want     string
		wantKept []string
	}{
		"nothing before": {reason: "a first plan takes nothing back", kind: AgentPool, body: `{"properties":{"maxPods":30}}`,
			want: `{"properties":{"maxPods":30}}`},
		"the same": {reason: "a property that the plan still has is not reset, whatever its value", kind: AgentPool,
			before: `{"properties":{"osSKU":"Ubuntu"}}`, body: `{"properties":{"osSKU":"AzureLinux"}}`,
			want: `{"properties":{"osSKU":"AzureLinux"}}`},
		"null now": {reason: "the plan resets it already", kind: AgentPool, before: `{"properties":{"osSKU":"Ubuntu"}}`,
			body: `{"properties":{"osSKU":null}}`, want: `{"properties":{"osSKU":null}}`},
		"a boolean": {
			reason: "a boolean goes back to false where no default is stated", kind: ManagedCluster,
			before: `{"properties":{"disableLocalAccounts":true}}`, body: `{"properties":{}}`, want: `{"properties":{"disableLocalAccounts":false}}`,
		},
		"a boolean that is true by default": {
			reason: "a driver that is on by default is on again", kind: ManagedCluster,
			before: `{"properties":{"storageProfile":{"diskCSIDriver":{"enabled":false}}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"storageProfile":{"diskCSIDriver":{"enabled":true}}}}`,
		},
		"a documented default": {
			reason: "scalars go back to Azure's default", kind: AgentPool,
			before: `{"properties":{"upgradeSettings":{"maxSurge":"50%","drainTimeoutInMinutes":5}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"upgradeSettings":{"maxSurge":"10%","drainTimeoutInMinutes":30}}}`,
		},
		"no documented default": {
			reason: "null asks Azure to choose", kind: AgentPool,
			before: `{"properties":{"osSKU":"AzureLinux"}}`, body: `{"properties":{}}`, want: `{"properties":{"osSKU":null}}`,
		},
		"a channel": {
			reason: "the default of a value that Azure's comment hedges", kind: ManagedCluster,
			before: `{"properties":{"autoUpgradeProfile":{"upgradeChannel":"stable","nodeOSUpgradeChannel":"None"}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"autoUpgradeProfile":{"upgradeChannel":"none","nodeOSUpgradeChannel":"NodeImage"}}}`,
		},
		"a list": {
			reason: "a list becomes empty", kind: ManagedCluster,
			before: `{"properties":{"apiServerAccessProfile":{"authorizedIPRanges":["1.2.3.4/32"]}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"apiServerAccessProfile":{"authorizedIPRanges":[]}}}`,
		},
		"an entry of a map": {
			reason: "maps are replaced whole, so the map without the entry is enough", kind: AgentPool,
			before: `{"properties":{"nodeLabels":{"a":"b","c":"d"}}}`, body: `{"properties":{"nodeLabels":{"a":"b"}}}`,
			want: `{"properties":{"nodeLabels":{"a":"b"}}}`,
		},
		"the last entry of a map": {
			reason: "a map that is gone from the body is sent empty", kind: AgentPool,
			before: `{"properties":{"nodeLabels":{"example.com/a":"b"}}}`, body: `{"properties":{}}`, want: `{"properties":{"nodeLabels":{}}}`,
		},
		"an identity": {
			reason: "IDs are keys with slashes", kind: ManagedCluster,
			before: `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/subscriptions/s/a":{}}}}`,
			body:   `{"identity":{"type":"SystemAssigned"}}`,
			want:   `{"identity":{"type":"SystemAssigned","userAssignedIdentities":{}}}`,
		},
		"an add-on": {
			reason: "add-ons cannot be removed; they are switched off, without settings", kind: ManagedCluster,
			before: `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true,"config":{"a":"b"}},"omsagent":{"enabled":true}}}}`,
			body:   `{"properties":{"addonProfiles":{"omsagent":{"enabled":true}}}}`,
			want:   `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":false},"omsagent":{"enabled":true}}}}`,
		},
		"a setting of an add-on": {
			reason: "the add-on stays and its configuration is sent without the key", kind: ManagedCluster,
			before: `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true,"config":{"a":"b"}}}}}`,
			body:   `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true}}}}`,
			want:   `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true,"config":{}}}}}`,
		},
		"an object with a switch": {
			reason: "key and vault of a switched-off feature need no reset", kind: ManagedCluster,
			before: `{"properties":{"securityProfile":{"azureKeyVaultKms":{"enabled":true,"keyId":"https://v/keys/k","keyVaultNetworkAccess":"Public"}}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"securityProfile":{"azureKeyVaultKms":{"enabled":false}}}}`,
		},
		"the service mesh": {
			reason: "a mode that is called Disabled is a switch, too", kind: ManagedCluster,
			before: `{"properties":{"serviceMeshProfile":{"mode":"Istio","istio":{"revisions":["asm-1-24"]}}}}`, body: `{"properties":{}}`,
			want: `{"properties":{"serviceMeshProfile":{"mode":"Disabled"}}}`,
		},
		"create only": {
			reason: "a field that cannot change is not sent; a condition reports it", kind: ManagedCluster,
			before: `{"properties":{"dnsPrefix":"a","networkProfile":{"podCidr":"10.0.0.0/16"}}}`, body: `{"properties":{}}`,
			want:     `{"properties":{}}`,
			wantKept: []string{"/properties/dnsPrefix", "/properties/networkProfile/podCidr"},
		},
		"no way back": {
			reason: "AKS does not switch the issuer off; asking for it would fail every request", kind: ManagedCluster,
			before: `{"properties":{"oidcIssuerProfile":{"enabled":true}}}`, body: `{"properties":{}}`, want: `{"properties":{}}`,
			wantKept: []string{"/properties/oidcIssuerProfile/enabled"},
		},
		"below create only": {
			reason: "a block that cannot change keeps all that is in it", kind: AgentPool,
			before: `{"properties":{"kubeletConfig":{"cpuCfsQuota":false}}}`, body: `{"properties":{}}`, want: `{"properties":{}}`,
			wantKept: []string{"/properties/kubeletConfig/cpuCfsQuota"},
		},
		"required": {
			reason: "a block is not sent without its required properties", kind: ManagedCluster,
			before: `{"properties":{"windowsProfile":{"adminUsername":"a","enableCSIProxy":true}}}`, body: `{"properties":{}}`,
			want:     `{"properties":{}}`,
			wantKept: []string{"/properties/windowsProfile/adminUsername", "/properties/windowsProfile/enableCSIProxy"},
		},
		"preview switched off": {
			reason: "the stable version has no word for it", kind: ManagedCluster,
			before: `{"properties":{"enableNamespaceResources":true}}`, body: `{"properties":{}}`, want: `{"properties":{}}`,
			wantKept: []string{"/properties/enableNamespaceResources"},
		},
		"preview on": {
			reason: "the preview version has", kind: ManagedCluster, preview: true,
			before: `{"properties":{"enableNamespaceResources":true}}`, body: `{"properties":{}}`,
			want: `{"properties":{"enableNamespaceResources":false}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := decodeObject(t, test.body)
			got, kept := ResetDropped(test.kind, versionOf(test.preview), body, LeafPaths(decodeObject(t, test.before)))
			if diff := cmp.Diff(decodeObject(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(test.wantKept, kept); diff != "" {
				t.Errorf("%s: kept (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(decodeObject(t, test.body), body); diff != "" {
				t.Errorf("the plan's body was changed (-before +after):\n%s", diff)
			}
			again, _ := ResetDropped(test.kind, versionOf(test.preview), got, append(LeafPaths(decodeObject(t, test.before)), LeafPaths(got)...))
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("retracting from the result changes it (-first +second):\n%s", diff)
			}
		})
	}
}

// TestRetractNeverTouches makes sure that what other objects own is never emptied: an empty agentPoolProfiles would delete
// every pool.
func TestRetractNeverTouches(t *testing.T) {
	previous := []string{
		"/location", "/tags/a", "/properties/agentPoolProfiles", "/properties/kubernetesVersion", "/properties/count",
		"/properties/orchestratorVersion",
		"/properties/powerState/code", "/id",
	}
	for _, kind := range []Kind{ManagedCluster, AgentPool} {
		got, _ := ResetDropped(kind, versionOf(false), map[string]any{}, previous)
		delete(got, "properties") // an agent pool can be started again
		if len(got) > 0 {
			t.Errorf("%s: %v", kind, got)
		}
	}
	got, kept := ResetDropped(ManagedCluster, versionOf(false), map[string]any{"properties": map[string]any{}}, previous)
	if diff := cmp.Diff(map[string]any{"properties": map[string]any{}}, got); diff != "" || len(kept) > 0 {
		t.Errorf("kept %v (-want +got):\n%s", kept, diff)
	}
}

func decodeObject(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if text == "" {
		return out
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// versionOf returns a version that has, or has not, what these tests name of previews.
func versionOf(preview bool) string {
	if preview {
		return "2025-10-02-preview"
	}
	return "2025-10-01"
}
