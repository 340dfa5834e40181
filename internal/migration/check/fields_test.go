package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// TestFields holds which findings the fields of a stored AzureClusterIdentity lead to.
func TestFields(t *testing.T) {
	tests := map[string]struct {
		reason string
		spec   map[string]any
		want   []string
	}{
		"valid": {"an object in order has no findings", map[string]any{}, nil},
		"unknown field": {"a field that the types do not have is dropped", map[string]any{"shape": "round"},
			[]string{"to-know: This provider has no field spec.shape. The API server drops it with the next write."}},
		"misread value": {"a value that Azure reads as another path is never planned from", map[string]any{"tenantID": ".."},
			[]string{`blocks: The object would not be reconciled. spec.tenantID: Invalid value: "..": leads to another path in Azure: write the name of the resource.`}},
		"wrong type": {"an object that cannot be decoded stops the manager", map[string]any{"clientID": map[string]any{}},
			[]string{"blocks: A field has another type than this provider expects: spec.clientID: Invalid value: \"object\": must be of type string."}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := map[string]any{"type": "WorkloadIdentity", "tenantID": "t", "clientID": "c"}
			for key, value := range test.spec {
				spec[key] = value
			}
			stored := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": infrav1.GroupVersion.String(), "kind": "AzureClusterIdentity",
				"metadata": map[string]any{"name": "one", "namespace": "default"}, "spec": spec,
				"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "severity": "Info"}}},
			}}
			c := &checker{}
			err := c.checkObject(t.Context(), webhook.NewStoredRules(nil, plan.Features{}), stored, &infrav1.AzureClusterIdentity{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range c.report.Findings {
				got = append(got, string(finding.Severity)+": "+finding.Found)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
