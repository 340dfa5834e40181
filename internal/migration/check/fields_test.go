package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// TestFields checks which findings the fields of a stored AzureClusterIdentity lead to.
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

// TestManifestFields holds that resource manifests which a reconciliation refuses, or of which it skips a part, block a migration, for all
// kinds with manifests.
func TestManifestFields(t *testing.T) {
	manifest := func(kind, apiVersion, name string, annotations, spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "annotations": annotations}, "spec": spec}
	}
	group := func(name string, annotations, operator map[string]any) map[string]any {
		return manifest("ResourceGroup", "resources.azure.com/v1api20200601", name, annotations, map[string]any{"location": "eastus", "operatorSpec": operator})
	}
	from := func(secret string) map[string]any {
		return map[string]any{"serviceoperator.azure.com/credential-from": secret}
	}
	const ineffective = "blocks: The resource manifests would not be carried out. spec.resources"
	tests := map[string]struct {
		reason    string
		manifests []any
		// want are beginnings of findings.
		want []string
	}{
		"valid": {"an object in order has no findings", []any{group("one", nil, map[string]any{})}, nil},
		"two credentials": {"a reconciliation has one identity", []any{group("one", from("a"), map[string]any{}), group("two", from("b"), map[string]any{})},
			[]string{ineffective + `[1].metadata.annotations[serviceoperator.azure.com/credential-from]: Invalid value: "b"`}},
		"kind without definition": {"it is refused by name",
			[]any{manifest("Dashboard", "dashboard.azure.com/v1api20220801", "one", nil, map[string]any{})}, []string{ineffective + "[0].kind: Invalid value:"}},
		"expressions": {"the Secret would not be updated any more",
			[]any{group("one", nil, map[string]any{"secretExpressions": []any{}, "configMapExpressions": []any{}})},
			[]string{ineffective + "[0].spec.operatorSpec.configMapExpressions: Forbidden", ineffective + "[0].spec.operatorSpec.secretExpressions: Forbidden"}},
		"unreadable": {"it was never applied", []any{map[string]any{"kind": "ResourceGroup"}}, []string{ineffective + "[0].apiVersion: Required", ineffective + "[0].metadata.name: Required"}},
		"namespace of an owner": {"the namespace has no effect, and the object is reconciled",
			[]any{group("one", nil, map[string]any{}), manifest("VirtualNetwork", "network.azure.com/v1api20201101", "one", nil,
				map[string]any{"location": "eastus", "addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/16"}},
					"owner": map[string]any{"name": "one", "namespace": "other"}})},
			[]string{"to-know: An object with this spec cannot be created again. spec.resources[1].spec.owner"}},
	}
	for kind, object := range map[string]client.Object{"AzureASOManagedCluster": &infrav1.AzureASOManagedCluster{},
		"AzureASOManagedControlPlane": &infrav1.AzureASOManagedControlPlane{}, "AzureASOManagedMachinePool": &infrav1.AzureASOManagedMachinePool{}} {
		for name, test := range tests {
			t.Run(kind+"/"+name, func(t *testing.T) {
				stored := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": infrav1.GroupVersion.String(), "kind": kind, "metadata": map[string]any{"name": "one", "namespace": "default"},
					"spec": map[string]any{"resources": test.manifests},
				}}
				c := &checker{}
				rules := webhook.NewStoredRules(nil, plan.Features{ASOAPI: true})
				if err := c.checkObject(t.Context(), rules, stored, object.DeepCopyObject().(client.Object)); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, finding := range c.report.Findings {
					line := string(finding.Severity) + ": " + finding.Found
					// The manifests of the last two kinds need one of AKS.
					if !strings.Contains(line, "a resource manifest of kind Managed") {
						got = append(got, line)
					}
				}
				same := slices.EqualFunc(test.want, got, func(want, got string) bool { return strings.HasPrefix(got, want) })
				if !same {
					t.Errorf("%s:\n%s\nwant:\n%s", test.reason, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		}
	}
}
