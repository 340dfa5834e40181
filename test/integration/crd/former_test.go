package crd_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFormerVersion applies operator-shaped objects in their former version: they are stored as all others, and the same mistakes are
// refused.
func TestFormerVersion(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	former := func(kind string, document map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": kind,
			"metadata": map[string]any{"namespace": stage.Namespace, "name": "c1"},
			"spec":     map[string]any{"resources": []any{document}},
		}}
	}
	group := map[string]any{
		"apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
		"metadata": map[string]any{"name": "c1"}, "spec": map[string]any{"location": "eastus"},
	}
	if err := stage.Client.Create(t.Context(), former("AzureASOManagedCluster", group)); err != nil {
		t.Fatal(err)
	}
	cluster := &infrav1.AzureASOManagedCluster{}
	stage.ReadObject(cluster, "c1")
	if len(cluster.Spec.Resources) != 1 || !strings.Contains(string(cluster.Spec.Resources[0].Raw), `"location":"eastus"`) {
		t.Errorf("the object is another one in its version of today: %v", cluster.Spec)
	}
	misspelt := map[string]any{
		"apiVersion": "containerservice.azure.com/v1api20251001", "kind": "ManagedCluster", "metadata": map[string]any{"name": "c1"},
		"spec": map[string]any{"owner": map[string]any{"name": "c1"}, "location": "eastus", "dnsPrefx": "c1"},
	}
	err := stage.Client.Create(t.Context(), former("AzureASOManagedControlPlane", misspelt))
	if err == nil || !strings.Contains(err.Error(), "spec.resources[0].spec.dnsPrefx") {
		t.Errorf("a mistake gets another answer than in the version of today: %v", err)
	}
}
