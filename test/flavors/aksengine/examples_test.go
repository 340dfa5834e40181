package aksengine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// TestExamplesReachEndState checks that the API server, with the definitions of Cluster API, admits the manifests of each example, and that
// their clusters and machines reach their end state.
func TestExamplesReachEndState(t *testing.T) {
	folder := filepath.Join(flavors.RepositoryRoot(t), "internal", "aksengine", "testdata")
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			model, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			variables := flavors.TemplateVariables(nil)
			result, err := aksengine.Convert(model, aksengine.Options{Location: "eastus", KubernetesVersion: variables["KUBERNETES_VERSION"],
				SubscriptionID: variables["AZURE_SUBSCRIPTION_ID"], TenantID: variables["AZURE_TENANT_ID"], Identity: "cluster-identity"})
			if err != nil {
				t.Fatal(err)
			}
			manifests, err := result.YAML()
			if err != nil {
				t.Fatal(err)
			}
			if flavors.TryManifest(t, environment, string(manifests), nil) != flavors.Made {
				t.Error("the manifests have nothing to reconcile")
			}
		})
	}
}
