package asoresource

import (
	"encoding/json"
	"fmt"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// TestExports looks for each value that documents can have written into a ConfigMap where Azure shows it.
func TestExports(t *testing.T) {
	tests := map[string]struct {
		reason, document, observed string
	}{
		"issuer": {"credentials of workloads name it",
			`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: it}, spec: {owner: {name: g}, operatorSpec: {configMaps: {oidcIssuerProfile: {name: m, key: k}}}}}`,
			`{"properties":{"oidcIssuerProfile":{"issuerURL":"value"}}}`},
		"kubelets": {"registries give it the right to pull",
			`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: it}, spec: {owner: {name: g}, operatorSpec: {configMaps: {kubeletPrincipalId: {name: m, key: k}}}}}`,
			`{"properties":{"identityProfile":{"kubeletidentity":{"objectId":"value"}}}}`},
		"extension": {"the resource that it writes to grants the right",
			`{apiVersion: kubernetesconfiguration.azure.com/v20241101, kind: Extension, metadata: {name: it}, spec: {owner: {group: resources.azure.com, kind: ResourceGroup, name: g}, operatorSpec: {configMaps: {principalId: {name: m, key: k}}}}}`,
			`{"properties":{"aksAssignedIdentity":{"principalId":"value"}}}`},
		"key": {"AKS names the version, too",
			`{apiVersion: keyvault.azure.com/v20230701, kind: VaultsKey, metadata: {name: it}, spec: {owner: {armId: /subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v}, operatorSpec: {configMaps: {keyUriWithVersion: {name: m, key: k}}}}}`,
			`{"properties":{"keyUriWithVersion":"value"}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newInput(t, groupManifest, test.document).Manifests()[1]
			if errs := checkOperatorSpec(d); len(errs) > 0 {
				t.Errorf("%s: %v", test.reason, errs)
			}
			for observed, want := range map[string]int{test.observed: 1, `{"properties":{}}`: 0} {
				got := ListExports(d, json.RawMessage(observed))
				if len(got) != want || want == 1 && (got[0].To != aso.KeyRef{Name: "m", Key: "k"} || got[0].Value != "value") {
					t.Errorf("%s: of %s got %s", test.reason, observed, fmt.Sprint(got))
				}
			}
		})
	}
}
