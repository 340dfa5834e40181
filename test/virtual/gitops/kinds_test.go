package gitops_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/gitops"
)

// withoutStatus are objects of all kinds without a status. An AzureMachineTemplate has one.
func withoutStatus(namespace string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "class"}
	controlPlane := &infrav1.AzureManagedControlPlaneTemplate{ObjectMeta: meta}
	controlPlane.Spec.Template.Spec.Location, controlPlane.Spec.Template.Spec.Version = "eastus", "v1.33.2"
	controlPlane.Spec.Template.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "none"}
	cluster := &infrav1.AzureClusterTemplate{ObjectMeta: meta}
	cluster.Spec.Template.Spec.Location = "eastus"
	cluster.Spec.Template.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "none"}
	pool := &infrav1.AzureManagedMachinePoolTemplate{ObjectMeta: meta}
	pool.Spec.Template.Spec.Mode, pool.Spec.Template.Spec.SKU = infrav1.NodePoolModeUser, "Standard_D2s_v3"
	return []client.Object{
		cluster, controlPlane, pool, &infrav1.AzureManagedClusterTemplate{ObjectMeta: meta}, &infrav1.AzureASOManagedClusterTemplate{ObjectMeta: meta},
		&infrav1.AzureASOManagedControlPlaneTemplate{ObjectMeta: meta}, &infrav1.AzureASOManagedMachinePoolTemplate{ObjectMeta: meta},
	}
}

// TestFirstHealthOfAllKinds computes the health of an object of each kind as the API server stores it first, with the defaults of the
// schema. An object that has a status is not Current before it is reconciled. The book names the kinds without a status, and no others.
func TestFirstHealthOfAllKinds(t *testing.T) {
	entries, err := crd.Files.ReadDir("bases")
	if err != nil {
		t.Fatal(err)
	}
	without := map[string]bool{}
	for _, entry := range entries {
		raw, err := crd.Files.ReadFile("bases/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, definition); err != nil {
			t.Fatal(err)
		}
		object := storeFirst(t, definition)
		kind := object.GetKind()
		result, err := kstatus.Compute(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, hasStatus := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]; !hasStatus {
			without[kind] = true
			for _, found := range gitops.FindWrongHealthWithoutStatus(object, result.Status) {
				t.Errorf("%s: %s", kind, found)
			}
			continue
		}
		if result.Status != kstatus.InProgressStatus {
			t.Errorf("%s: kstatus returns %s before the first reconciliation, want InProgress", kind, result.Status)
		}
		for _, found := range gitops.FindWrongHealth(object, kstatus.InProgressStatus) {
			t.Errorf("%s: %s", kind, found)
		}
	}
	if len(entries) != 19 {
		t.Errorf("%d kinds were checked, want 19", len(entries))
	}
	if diff := cmp.Diff(kindsOfBook(t), slices.Sorted(maps.Keys(without))); diff != "" {
		t.Errorf("the book names other kinds without a status (-book +definitions):\n%s", diff)
	}
}

// storeFirst returns an object as the API server stores it when it is created.
func storeFirst(t *testing.T, definition *apiextensionsv1.CustomResourceDefinition) *unstructured.Unstructured {
	t.Helper()
	version := definition.Spec.Versions[0]
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": definition.Spec.Group + "/" + version.Name, "kind": definition.Spec.Names.Kind, "spec": map[string]any{},
		"metadata": map[string]any{"name": "o", "generation": int64(1)},
	}}
	defaulting.Default(object.Object, structural)
	return object
}

// kindsOfBook returns the kinds that the page about GitOps names as those without a status, sorted.
func kindsOfBook(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/book/gitops.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "### Kinds without a status\n")
	section, _, _ = strings.Cut(section, ". ")
	return slices.Sorted(slices.Values(regexp.MustCompile(`Azure\w+`).FindAllString(section, -1)))
}
