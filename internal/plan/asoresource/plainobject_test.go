package asoresource

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

// plainManifest returns a document that asks for being applied as an object of Kubernetes.
func plainManifest(apiVersion, kind, metadata, rest string) string {
	return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"annotations":{"` + PlainObjectAnnotation + `":"true","a":"b"}` + metadata + `}` + rest + `}`
}

func TestPlainObjects(t *testing.T) {
	const named = `,"name":"w"`
	for name, tc := range map[string]struct {
		reason, document string
		// path and message are those of the refusal, "" if the object is applied.
		path, message string
	}{
		"kind of others": {"an operator granted the right to create it", plainManifest("example.com/v1", "Widget", named, `,"spec":{"size":1}`),
			"",
			""},
		"own namespace": {"it repeats the object's own namespace", plainManifest("example.com/v1", "Widget", named+`,"namespace":"ns"`, ""), "",
			""},
		"namespace": {"another namespace is another tenant's",
			plainManifest("example.com/v1", "Widget", named+`,"namespace":"kube-system"`, ""), "metadata.namespace", "must not be set"},
		"no text": {"a list is no namespace", plainManifest("example.com/v1", "Widget", named+`,"namespace":["ns"]`, ""),
			"metadata.namespace", "must not be set"},
		"Secret": {"tokens of ServiceAccounts are made by Secrets", plainManifest("v1", "Secret", named, ""), "apiVersion",
			"cannot create their objects"},
		"Pod": {"a Pod has the rights of its ServiceAccount", plainManifest("v1", "Pod", named, ""), "apiVersion",
			"cannot create their objects"},
		"Deployment": {"the Pods of a Deployment have the rights of their ServiceAccount",
			plainManifest("apps/v1", "Deployment", named, ""), "apiVersion",
			"cannot create their objects"},
		"Role": {"rights", plainManifest("rbac.authorization.k8s.io/v1", "Role", named, ""), "apiVersion",
			"cannot create their objects"},
		"webhook": {"the owner of a webhook sees all requests",
			plainManifest("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", named, ""), "apiVersion",
			"cannot create their objects"},
		"Cluster": {"Cluster API's own", plainManifest("cluster.x-k8s.io/v1beta2", "Cluster", named, ""), "apiVersion",
			"cannot create their objects"},
		"resource set": {"addons make Secrets in other clusters",
			plainManifest("addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", named, ""), "apiVersion", "cannot create their objects"},
		"identity": {"an identity of ours: its author chooses a credential",
			plainManifest("infrastructure.cluster.x-k8s.io/v1beta1", "AzureClusterIdentity", named, ""), "apiVersion",
			"cannot create their objects"},
		"case": {"the group looks the same to a careless reader", plainManifest("RBAC.authorization.K8s.io/v1", "Role", named, ""),
			"apiVersion", "cannot create their objects"},
		"dot": {"the group with a dot at its end looks the same to a careless reader",
			plainManifest("rbac.authorization.k8s.io./v1", "Role", named, ""), "apiVersion",
			"cannot create their objects"},
		"Azure's": {"the provider makes it itself", plainManifest("containerservice.azure.com/v1api20240901", "ManagedCluster", named, ""),
			"metadata.annotations[" + PlainObjectAnnotation + "]", "Leave the annotation out"},
		"owner": {"the provider sets owners", plainManifest("example.com/v1", "Widget", named+`,"ownerReferences":[]`, ""),
			"metadata.ownerReferences", "only"},
		"finalizer": {"it would never go", plainManifest("example.com/v1", "Widget", named+`,"finalizers":["a/b"]`, ""),
			"metadata.finalizers", "only"},
		"generated name": {"it would be another one each time", plainManifest("example.com/v1", "Widget", `,"generateName":"w"`, ""),
			"metadata.generateName", "only"},
		"name": {"it leads elsewhere", plainManifest("example.com/v1", "Widget", `,"name":"../w"`, ""), "metadata.name", "RFC 1123"},
		"status": {"manifests do not write it", plainManifest("example.com/v1", "Widget", named, `,"status":{}`), "status",
			"controller of the kind"},
		"no version": {"it cannot be looked up", plainManifest("", "Widget", named, ""), "apiVersion", "group and version"},
		"no kind":    {"it cannot be looked up", plainManifest("example.com/v1", "", named, ""), "kind", "kind of the object"},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := ReadPlainObjects("ns", []runtime.RawExtension{{Raw: []byte(tc.document)}})
			if tc.path == "" {
				if len(errs) > 0 || len(got) != 1 {
					t.Fatalf("%s: %v, %v", tc.reason, got, errs)
				}
				metadata := got[0].Object["metadata"].(map[string]any)
				if diff := cmp.Diff(map[string]any{"a": "b"}, metadata["annotations"]); diff != "" {
					t.Errorf("annotations that are applied (-want +got):\n%s", diff)
				}
				return
			}
			if len(got) != 0 || len(errs) == 0 || errs[0].Field != "spec.resources[0]."+tc.path || !strings.Contains(errs[0].Error(), tc.message) {
				t.Errorf("%s: %v, %v, want a refusal of %s with %q", tc.reason, got, errs, tc.path, tc.message)
			}
			if wrong := ValidateManifests("ns", []runtime.RawExtension{{Raw: []byte(tc.document)}}, "", "", nil); len(wrong) != len(errs) {
				t.Errorf("the webhook finds %v", wrong)
			}
		})
	}
}

// TestUnknownKindIsRefused checks that objects of unknown kinds without the annotation are refused, and that duplicates are.
func TestUnknownKindIsRefused(t *testing.T) {
	asks := plainManifest("example.com/v1", "Widget", `,"name":"w"`, "")
	for name, document := range map[string]string{"silent": strings.ReplaceAll(asks, PlainObjectAnnotation, "b"),
		"no": strings.ReplaceAll(asks, `"true"`, `"false"`)} {
		errs := ValidateManifests("ns", []runtime.RawExtension{{Raw: []byte(document)}}, "", "", nil)
		if len(errs) != 1 || errs[0].Field != "spec.resources[0].kind" || !strings.Contains(errs[0].Error(), PlainObjectAnnotation) {
			t.Errorf("%s: %v, want a refusal of the kind that names the annotation", name, errs)
		}
	}
	if errs := ValidateManifests("ns", []runtime.RawExtension{{Raw: []byte(asks)}, {Raw: []byte(asks)}}, "", "", nil); len(errs) != 1 ||
		!strings.Contains(errs[0].Error(), "Duplicate") {
		t.Errorf("twice the same: %v", errs)
	}
}
