package aso

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	subnet = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/pods"
	disks  = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/diskEncryptionSets/d"
	userA  = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/a"
	userB  = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/b"
)

// stable is the usual version, preview one that has what these tests name of previews.
const (
	stable  = "2025-10-01"
	preview = "2025-10-02-preview"
)

func versionOf(isPreview bool) string {
	if isPreview {
		return preview
	}
	return stable
}

func TestApply(t *testing.T) {
	tests := map[string]struct {
		reason  string
		kind    Kind
		preview bool
		body    string
		patches []string
		want    string
	}{
		"no patch": {
			reason: "without patches the body of the plan is unchanged", kind: AgentPool,
			body: `{"properties":{"count":3,"spotMaxPrice":-1,"nodeTaints":[],"tags":{"a":"b"}}}`,
			want: `{"properties":{"count":3,"spotMaxPrice":-1,"nodeTaints":[],"tags":{"a":"b"}}}`,
		},
		"enableNamespaceResources": {
			reason: "a property of the preview version", kind: ManagedCluster, preview: true,
			patches: []string{`{"spec": {"enableNamespaceResources": true}}`}, want: `{"properties":{"enableNamespaceResources":true}}`,
		},
		"nodeInitializationTaints": {
			reason: "a property of the preview version", kind: AgentPool, preview: true,
			patches: []string{`{"spec": {"nodeInitializationTaints": ["a=b:NoSchedule"]}}`},
			want:    `{"properties":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`,
		},
		"nodeOSUpgradeChannel": {
			reason: "objects merge, YAML is as good as JSON, and Azure's spelling of a value is used", kind: ManagedCluster,
			body:    `{"properties":{"autoUpgradeProfile":{"upgradeChannel":"stable"}}}`,
			patches: []string{"spec:\n  autoUpgradeProfile:\n    nodeOSUpgradeChannel: nodeimage\n"},
			want:    `{"properties":{"autoUpgradeProfile":{"upgradeChannel":"stable","nodeOSUpgradeChannel":"NodeImage"}}}`,
		},
		"osSKU and maxSurge": {
			reason: "several properties in one patch", kind: AgentPool,
			patches: []string{"spec:\n  osSKU: AzureLinux\n  upgradeSettings:\n    maxSurge: 33%\n    drainTimeoutInMinutes: 20"},
			want:    `{"properties":{"osSKU":"AzureLinux","upgradeSettings":{"maxSurge":"33%","drainTimeoutInMinutes":20}}}`,
		},
		"podSubnetReference": {
			reason: "a reference becomes an ID", kind: AgentPool,
			patches: []string{`{"spec":{"podSubnetReference":{"armId":"` + subnet + `"}}}`}, want: `{"properties":{"podSubnetID":"` + subnet + `"}}`,
		},
		"podSubnetID": {
			reason: "Azure's own name is understood, too", kind: AgentPool,
			patches: []string{`{"spec":{"podSubnetID":"` + subnet + `"}}`}, want: `{"properties":{"podSubnetID":"` + subnet + `"}}`,
		},
		"diskEncryptionSetReference": {
			reason: "the ID's name differs in its ending from kind to kind", kind: ManagedCluster,
			patches: []string{`{"spec":{"diskEncryptionSetReference":{"armId":"` + disks + `"}}}`},
			want:    `{"properties":{"diskEncryptionSetID":"` + disks + `"}}`,
		},
		"natGatewayProfile": {
			reason: "nested objects are made", kind: ManagedCluster,
			patches: []string{
				`{"spec":{"networkProfile":{"natGatewayProfile":{"idleTimeoutInMinutes":10,"managedOutboundIPProfile":{"count":2}}}}}`},
			want: `{"properties":{"networkProfile":{"natGatewayProfile":{"idleTimeoutInMinutes":10,"managedOutboundIPProfile":{"count":2}}}}}`,
		},
		"customCATrustCertificates": {
			reason: "certificates are base64 in both documents", kind: ManagedCluster,
			patches: []string{`{"spec":{"securityProfile":{"customCATrustCertificates":["Y2VydA=="]}}}`},
			want:    `{"properties":{"securityProfile":{"customCATrustCertificates":["Y2VydA=="]}}}`,
		},
		"beside properties": {
			reason: "fields of ASO's spec are in the body or in properties in Azure", kind: ManagedCluster,
			body:    `{"sku":{"name":"Base","tier":"Free"},"properties":{}}`,
			patches: []string{`{"spec":{"sku":{"tier":"Premium"},"supportPlan":"AKSLongTermSupport","tags":{"a.b/c":"d"},"kind":"Base"}}`},
			want:    `{"kind":"Base","sku":{"name":"Base","tier":"Premium"},"properties":{"supportPlan":"AKSLongTermSupport"},"tags":{"a.b/c":"d"}}`,
		},
		"identities as a list": {
			reason: "ASO's list becomes Azure's map, and replaces it as lists do", kind: ManagedCluster,
			body:    `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"` + userA + `":{}}}}`,
			patches: []string{`{"spec":{"identity":{"userAssignedIdentities":[{"reference":{"armId":"` + userB + `"}}]}}}`},
			want:    `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"` + userB + `":{}}}}`,
		},
		"no identities": {
			reason: "an empty list is sent as an empty map", kind: ManagedCluster,
			patches: []string{`{"spec":{"identity":{"type":"SystemAssigned","userAssignedIdentities":[]}}}`},
			want:    `{"identity":{"type":"SystemAssigned","userAssignedIdentities":{}}}`,
		},
		"identities as a map": {
			reason: "Azure's own map merges", kind: ManagedCluster,
			body:    `{"identity":{"userAssignedIdentities":{"` + userA + `":{}}}}`,
			patches: []string{`{"spec":{"identity":{"userAssignedIdentities":{"` + userB + `":{},"` + userA + `":null}}}}`},
			want:    `{"identity":{"userAssignedIdentities":{"` + userB + `":{}}}}`,
		},
		"identityProfile": {
			reason: "references below maps", kind: ManagedCluster,
			patches: []string{`{"spec":{"identityProfile":{"kubeletidentity":{"resourceReference":{"armId":"` + userA + `"}}}}}`},
			want:    `{"properties":{"identityProfile":{"kubeletidentity":{"resourceId":"` + userA + `"}}}}`,
		},
		"references in lists": {
			reason: "items of lists are translated, too", kind: ManagedCluster,
			patches: []string{`{"spec":{"networkProfile":{"loadBalancerProfile":{"outboundIPs":{"publicIPs":[{"reference":{"armId":"` + disks + `"}}]}}},
				"ingressProfile":{"webAppRouting":{"dnsZoneResourceReferences":[{"armId":"` + disks + `"}]}}}}`},
			want: `{"properties":{"networkProfile":{"loadBalancerProfile":{"outboundIPs":{"publicIPs":[{"id":"` + disks + `"}]}}},
				"ingressProfile":{"webAppRouting":{"dnsZoneResourceIds":["` + disks + `"]}}}}`,
		},
		"null deletes": {
			reason: "null removes a value, an entry and a reference; null for an absent value is no mistake", kind: AgentPool,
			body:    `{"properties":{"maxPods":30,"vnetSubnetID":"` + subnet + `","nodeLabels":{"a":"b","c":"d"}}}`,
			patches: []string{`{"spec":{"maxPods":null,"vnetSubnetReference":null,"nodeLabels":{"a":null},"messageOfTheDay":null,"kubeletConfig":{"cpuCfsQuota":null}}}`},
			want:    `{"properties":{"nodeLabels":{"c":"d"},"kubeletConfig":{}}}`,
		},
		"later patches win": {
			reason: "the order of the list decides", kind: AgentPool,
			patches: []string{`{"spec":{"osSKU":"Ubuntu","nodeTaints":["a=b:NoSchedule","c=d:NoSchedule"]}}`,
				`{"spec":{"osSKU":"AzureLinux","nodeTaints":["e=f:NoExecute"]}}`},
			want: `{"properties":{"osSKU":"AzureLinux","nodeTaints":["e=f:NoExecute"]}}`,
		},
		"a whole document": {
			reason:  "documents of the Azure Service Operator are patches, too; the two annotations never had an effect from a patch",
			kind:    ManagedCluster,
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1api20250801","kind":"ManagedCluster","metadata":{"annotations":{"serviceoperator.azure.com/reconcile-policy":"skip"}},"spec":{"enableRBAC":false}}`},
			want:    `{"properties":{"enableRBAC":false}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			body := decodeObject(t, test.body)
			got, err := ApplyPatches(test.kind, versionOf(test.preview), body, test.patches, nil)
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if diff := cmp.Diff(decodeObject(t, test.want), got.Body); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(decodeObject(t, test.body), body); diff != "" {
				t.Errorf("the body of the plan was changed (-before +after):\n%s", diff)
			}
			if problems := CheckPatches(test.kind, versionOf(test.preview), test.patches, PatchField(test.kind)); len(problems) > 0 {
				t.Errorf("Check refuses a patch that Apply accepts: %v", problems)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	patches := []string{
		"spec:\n  servicePrincipalProfile:\n    clientId: c\n    secret: {name: sp, key: password}",
		"spec:\n  windowsProfile:\n    adminUsername: a\n    adminPassword: {name: win, key: password}",
	}
	sp, win := KeyRef{Name: "sp", Key: "password"}, KeyRef{Name: "win", Key: "password"}
	if diff := cmp.Diff([]KeyRef{sp, win}, ReferencedSecrets(ManagedCluster, patches)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	got, err := ApplyPatches(ManagedCluster, stable, nil, patches, Secrets{sp: "one", win: "two"})
	if err != nil {
		t.Fatal(err)
	}
	want := decodeObject(t,
		`{"properties":{"servicePrincipalProfile":{"clientId":"c","secret":"one"},"windowsProfile":{"adminUsername":"a","adminPassword":"two"}}}`)
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	_, err = ApplyPatches(ManagedCluster, stable, nil, patches, Secrets{sp: "one"})
	var missing *MissingSecretsError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v, want the missing keys", err)
	}
	if diff := cmp.Diff([]KeyRef{win}, missing.Refs); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if _, err := ApplyPatches(ManagedCluster, stable, nil, patches, nil); !errors.As(err, &missing) {
		t.Errorf("without Secrets an empty password would be sent: %v", err)
	}
	if !strings.Contains(err.Error(), `key "password" of Secret "win"`) {
		t.Errorf("the error does not name the missing key: %v", err)
	}
}

func TestExports(t *testing.T) {
	patches := []string{
		`{"spec":{"operatorSpec":{"secrets":{"adminCredentials":{"name":"a","key":"k"},"userCredentials":{"name":"u","key":"k"}},"configMaps":{"principalId":{"name":"p","key":"k"}}}}}`,
		`{"spec":{"operatorSpec":{"secrets":{"adminCredentials":{"name":"b","key":"k"},"userCredentials":null},"configMaps":{"oidcIssuerProfile":{"name":"i","key":"k"}}}}}`,
	}
	got, err := ApplyPatches(ManagedCluster, stable, nil, patches, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Exports{AdminCredentials: &KeyRef{Name: "b", Key: "k"}, OIDCIssuerProfile: &KeyRef{Name: "i", Key: "k"},
		PrincipalID: &KeyRef{Name: "p", Key: "k"}}
	if diff := cmp.Diff(want, got.Exports); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{}, got.Body); diff != "" {
		t.Errorf("nothing of operatorSpec is Azure's (-want +got):\n%s", diff)
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

func TestCheckPath(t *testing.T) {
	got := CheckPatches(AgentPool, stable, []string{`{}`, `{"spec":{"maxPod":1}}`}, field.NewPath("spec", "patches"))
	want := `spec.patches[1]: Invalid value: "spec.maxPod": is not a property of agentPools in API version 2025-10-01; names most like it: maxPods`
	if len(got) != 1 || !strings.HasPrefix(got[0].Error(), want) {
		t.Errorf("got %v, want %s", got, want)
	}
}
