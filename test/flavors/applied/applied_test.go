package applied_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// templateVariables are values for the variables that templates require.
func templateVariables(file string) map[string]string {
	more := map[string]string{
		"CLUSTER_CLASS_NAME": "default", "ASO_CREDENTIAL_SECRET_NAME": harness.OperatorSecret, "AZURE_SSH_PUBLIC_KEY": flavors.SSHKey,
		"AZURE_SSH_PUBLIC_KEY_B64": flavors.SSHKeyB64,
	}
	if strings.Contains(file, "aks") {
		more["KUBERNETES_VERSION"] = harness.ManagedVersion
	}
	return flavors.TemplateVariables(more)
}

// TestTemplatesAgain takes the templates that the packages selfmanaged and apiserverilb do not take.
func TestTemplatesAgain(t *testing.T) {
	t.Parallel()
	flavors.LogApplies(t)
	classes, err := filepath.Glob(filepath.Join(flavors.RepositoryRoot(t), "templates", "clusterclass-*.yaml"))
	if err != nil || len(classes) == 0 {
		t.Fatalf("no ClusterClass files: %v", err)
	}
	files := flavors.TemplateNames(t)
	for _, class := range classes {
		files = append(files, filepath.Base(class))
	}
	for _, file := range files {
		if !strings.Contains(file, "-aks") && !strings.Contains(file, "machinepool") && !strings.Contains(file, "clusterclass") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, file, templateVariables(file)))
			if err != nil {
				t.Fatal(err)
			}
			stage := flavors.NewStage(t, environment)
			if file == "cluster-template-aks-topology.yaml" {
				class, err := flavors.DecodeManifest(flavors.RenderTemplate(t, "cluster-template-aks-clusterclass.yaml", templateVariables(file)))
				if err != nil {
					t.Fatal(err)
				}
				if objects, err = flavors.ManagedTopology(class, objects); err != nil {
					t.Fatal(err)
				}
			}
			applyTwice(t, stage, objects)
		})
	}
}

// TestEmbeddersAgain takes shapes of projects that build on the established provider.
func TestEmbeddersAgain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests of embedders: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			manifest, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			stage := flavors.NewStage(t, environment)
			objects, err := flavors.DecodeManifest([]byte(strings.NewReplacer("SUBSCRIPTION", stage.Azure.SubscriptionID, "AKSVERSION",
				strings.TrimPrefix(harness.ManagedVersion, "v")).Replace(string(manifest))))
			if err != nil {
				t.Fatal(err)
			}
			applyTwice(t, stage, objects)
		})
	}
}
