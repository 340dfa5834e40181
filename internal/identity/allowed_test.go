package identity

import (
	"encoding/json"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestAllowed(t *testing.T) {
	labels := map[string]string{"team": "blue"}
	tests := map[string]struct {
		reason  string
		allowed string // JSON of spec.allowedNamespaces
		want    bool
	}{
		"absent":           {"an identity is private by default", `null`, false},
		"empty object":     {"the documented way to admit all namespaces", `{}`, true},
		"empty list":       {"an empty list admits no namespace, unlike an absent list", `{"list":[]}`, false},
		"listed":           {"the list is checked first", `{"list":["other","ns"]}`, true},
		"not listed":       {"a list is exhaustive", `{"list":["other"]}`, false},
		"prefix of a name": {"names are whole", `{"list":["n"]}`, false},
		"selected":         {"labels of the namespace match", `{"selector":{"matchLabels":{"team":"blue"}}}`, true},
		"not selected":     {"another team", `{"selector":{"matchLabels":{"team":"red"}}}`, false},
		"selected by absence": {"an expression may match absent labels",
			`{"selector":{"matchExpressions":[{"key":"prod","operator":"DoesNotExist"}]}}`, true},
		"empty selector": {"unlike elsewhere in Kubernetes it selects nothing, as clusters of the established provider know it",
			`{"selector":{}}`, false},
		"broken selector": {"a selector that does not parse admits no namespace",
			`{"selector":{"matchExpressions":[{"key":"team","operator":"Near","values":["blue"]}]}}`, false},
		"list or selector":    {"they are alternatives", `{"list":["other"],"selector":{"matchLabels":{"team":"blue"}}}`, true},
		"selector or list":    {"they are alternatives", `{"list":["ns"],"selector":{"matchLabels":{"team":"red"}}}`, true},
		"empty list selected": {"an empty list does not close the selector", `{"list":[],"selector":{"matchLabels":{"team":"blue"}}}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			identity := &infrav1.AzureClusterIdentity{}
			if err := json.Unmarshal([]byte(test.allowed), &identity.Spec.AllowedNamespaces); err != nil {
				t.Fatal(err)
			}
			if got := IsNamespaceAllowed(identity, "ns", labels); got != test.want {
				t.Errorf("%s: got %v", test.reason, got)
			}
		})
	}
}

// TestAllowedSurvivesStorage makes sure that an empty list is still one after the API server stored it.
func TestAllowedSurvivesStorage(t *testing.T) {
	identity := &infrav1.AzureClusterIdentity{
		Spec: infrav1.AzureClusterIdentitySpec{AllowedNamespaces: &infrav1.AllowedNamespaces{NamespaceList: []string{}}}}
	raw, err := json.Marshal(identity)
	if err != nil {
		t.Fatal(err)
	}
	stored := &infrav1.AzureClusterIdentity{}
	if err := json.Unmarshal(raw, stored); err != nil {
		t.Fatal(err)
	}
	if IsNamespaceAllowed(stored, "ns", nil) {
		t.Errorf("an empty list became the empty object, which admits all namespaces: %s", raw)
	}
}

func TestFinalizerKey(t *testing.T) {
	const prefix = "azurecluster.infrastructure.cluster.x-k8s.io"
	// The key is what existing clusters have on their identities.
	if got, want := FinalizerKey(prefix, "foo", "bar"), prefix+"/48998dbcd8fb929369c78981cbfb6f26145ea0412e6e05a1423941a6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := LegacyFinalizerKey(prefix, "foo", "bar"), prefix+"/foo-bar"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
