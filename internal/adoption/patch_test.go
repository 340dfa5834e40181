package adoption

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// TestFindLeaf reads the value of a leaf at its path, also where keys have dots and brackets.
func TestFindLeaf(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		object map[string]any
	}{
		"property": {"a name of Azure", map[string]any{"networkProfile": map[string]any{"podCidr": "leaf"}}},
		"dots":     {"a label is one key", map[string]any{"nodeLabels": map[string]any{"example.com/a.b": "leaf"}}},
		"brackets": {"a key may look like an element of a list", map[string]any{"nodeLabels": map[string]any{"a[0]": "leaf"}}},
	} {
		t.Run(name, func(t *testing.T) {
			path, value := findLeaf(jsonpath.Parse("properties"), test.object)
			got := jsonpath.Get(map[string]any{"properties": test.object}, path.String())
			if value != "leaf" || got != value {
				t.Errorf("%s: %s leads to %v, want %v", test.reason, path, got, value)
			}
		})
	}
}
