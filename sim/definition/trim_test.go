package definition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDropReadOnly(t *testing.T) {
	tests := map[string]struct{ reason, resource, version, body, want string }{
		"parts": {"read-only properties are Azure's at any depth", "Microsoft.Network/virtualNetworks", "2025-05-01",
			`{"id":"/x","name":"x","etag":"e","properties":{"resourceGuid":"g","subnets":[{"id":"/y","name":"y","type":"t","properties":{"addressPrefix":"10.0.0.0/8","ipConfigurations":[]}}]}}`, `{"id":"/x","name":"x","properties":{"subnets":[{"id":"/y","name":"y","properties":{"addressPrefix":"10.0.0.0/8"}}]}}`},
		"unknown": {"an unpublished property is not known to be read-only", "Microsoft.Network/virtualNetworks", "2025-05-01",
			`{"properties":{"banana":1}}`, `{"properties":{"banana":1}}`},
		"entries": {"maps have entries", "Microsoft.ContainerService/managedClusters", "2025-10-01",
			`{"properties":{"addonProfiles":{"a":{"enabled":true,"identity":{"clientId":"c"}}}}}`,
			`{"properties":{"addonProfiles":{"a":{"enabled":true}}}}`},
		"untold": {"no definition tells", "Microsoft.Unheard/of", "2025-05-01", `{"properties":{"provisioningState":"x"}}`,
			`{"properties":{"provisioningState":"x"}}`},
		"null too": {"null for a read-only property is dropped", "Microsoft.Network/virtualNetworks", "2025-05-01",
			`{"properties":{"subnets":null,"resourceGuid":null}}`, `{"properties":{"subnets":null}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := decodeJSON(t, test.body)
			DropReadOnly(test.resource, test.version, got)
			if diff := cmp.Diff(decodeJSON(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestHide(t *testing.T) {
	const (
		cluster = "Microsoft.ContainerService/managedClusters"
		shown   = `{"identity":{"type":"None"},"properties":{"enableFIPS":true,"unpublished":1,"agentPoolProfiles":[{"name":"a","nodeInitializationTaints":["x"],"count":1}],"addonProfiles":{"a":{"enabled":true}}}}`
		stable  = `{"identity":{"type":"None"},"properties":{"enableFIPS":true,"unpublished":1,"agentPoolProfiles":[{"name":"a","count":1}],"addonProfiles":{"a":{"enabled":true}}}}`
	)
	tests := map[string]struct{ reason, resource, version, want string }{
		"preview": {"the version knows all of it", cluster, "2026-05-02-preview", shown},
		"stable": {"properties of previews are not shown; unpublished ones are, and those that Azure shows early", cluster, "2025-10-01",
			stable},
		"before all":      {"the oldest that is known tells", cluster, "2022-04-01", stable},
		"unknown preview": {"its properties are not known", cluster, "2024-04-02-preview", shown},
		"one version":     {"there is nothing to tell it from", "Microsoft.Compute/disks", "2025-01-02", shown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := decodeJSON(t, shown)
			HideOtherVersions(test.resource, test.version, got)
			if diff := cmp.Diff(decodeJSON(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
