package installation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	operatorv1 "sigs.k8s.io/cluster-api-operator/api/v1alpha2"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/installation"
)

// TestOperatorProvider decodes the manifest of the release with the types of the Cluster API operator: it selects the ConfigMap that the commands of
// the book create, with the keys that the operator reads.
func TestOperatorProvider(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "book", "release.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	manifest, err := installation.OperatorProvider("v2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	provider := &operatorv1.InfrastructureProvider{}
	if err := yaml.UnmarshalStrict(manifest, provider); err != nil {
		t.Fatal(err)
	}
	if provider.APIVersion != operatorv1.GroupVersion.String() || provider.Kind != "InfrastructureProvider" || provider.Name != "azure" {
		t.Errorf("the manifest is %s %s %s", provider.APIVersion, provider.Kind, provider.Name)
	}
	if provider.Spec.FetchConfig == nil || provider.Spec.FetchConfig.Selector == nil {
		t.Fatal("the manifest selects no ConfigMap")
	}
	labels := provider.Spec.FetchConfig.Selector.MatchLabels
	for _, label := range []string{operatorv1.ConfigMapNameLabel, operatorv1.ConfigMapTypeLabel} {
		if value := labels[label]; value == "" || !strings.Contains(page, label+"="+value) {
			t.Errorf("no command of the page sets the label %s=%s", label, value)
		}
	}
	for _, part := range []string{"kubectl create configmap " + provider.Spec.Version + " ", "--from-file=" + operatorv1.ComponentsConfigMapKey + "=infrastructure-components.yaml",
		"--from-file=" + operatorv1.MetadataConfigMapKey + "=metadata.yaml"} {
		if !strings.Contains(page, part) {
			t.Errorf("no command of the page has %q", part)
		}
	}
}
