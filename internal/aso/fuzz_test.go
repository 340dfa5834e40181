package aso_test

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// FuzzPatches applies patches to a cluster and to a pool. What Check accepts can be applied, twice gives what once gives, and
// neither changes the body that it was given.
func FuzzPatches(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "spec:", "spec: {}", "spec: []", "spec: null", `{"spec":{"autoUpgradeProfile":{"nodeOSUpgradeChannel":"NodeImage"}}}`,
		"spec:\n  windowsProfile:\n    adminUsername: a\n    adminPassword: {name: win, key: password}",
		"spec:\n  diskEncryptionSetReference: {armId: /subscriptions/s}",
		"spec:\n  identity:\n    userAssignedIdentities:\n    - reference: {armId: /x}",
		"spec:\n  osSKU: AzureLinux\n  upgradeSettings:\n    maxSurge: 33%",
		"spec:\n  operatorSpec:\n    secrets:\n      adminCredentials: {name: a, key: b}", "spec: &a\n  b: *a", "---\n---",
		"spec:\n  agentPoolProfiles: [null, {}]", "spec:\n  tags: {a: null, 1: 2}",
		"metadata: {name: x}", "apiVersion: containerservice.azure.com/v1\nkind: ManagedCluster\nspec:\n  networkProfile: {podCidrs: []}",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	secrets := aso.Secrets{}
	f.Fuzz(func(t *testing.T, patch string, preview bool) {
		version := aso.APIVersionOf(nil, preview)
		for _, kind := range []aso.Kind{aso.ManagedCluster, aso.AgentPool} {
			body := map[string]any{"location": "eastus",
				"properties": map[string]any{"agentPoolProfiles": []any{map[string]any{"name": "pool0"}}, "tags": map[string]any{"a": "b"}}}
			before := toJSON(t, body)
			aso.ReferencedSecrets(kind, []string{patch})
			problems := aso.CheckPatches(kind, version, []string{patch}, aso.PatchField(kind))
			once, err := aso.ApplyPatches(kind, version, body, []string{patch}, secrets)
			if toJSON(t, body) != before {
				t.Fatalf("the patch changed the body that it was applied to")
			}
			if _, missing := err.(*aso.MissingSecretsError); missing {
				continue
			}
			if (len(problems) > 0) != (err != nil) {
				t.Fatalf("Check finds %v and Apply returns %v", problems, err)
			}
			if err != nil {
				continue
			}
			twice, err := aso.ApplyPatches(kind, version, once.Body, []string{patch}, secrets)
			if err != nil {
				t.Fatalf("the second time: %v", err)
			}
			if toJSON(t, once.Body) != toJSON(t, twice.Body) {
				t.Errorf("once gives %s, twice %s", toJSON(t, once.Body), toJSON(t, twice.Body))
			}
		}
	})
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("a body is JSON: %v", err)
	}
	return string(raw)
}
