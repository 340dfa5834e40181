package command

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// TestUncheckedKinds holds that kinds without a definition block a migration unless its flag allows them, as that of the next manager will.
func TestUncheckedKinds(t *testing.T) {
	scheme, err := environment.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	inventory := migration.InventoryKind.GroupVersion()
	scheme.AddKnownTypeWithName(inventory.WithKind("Provider"), &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(inventory.WithKind("ProviderList"), &unstructured.UnstructuredList{})
	object := &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}
	object.Spec.Resources = []runtime.RawExtension{
		{Raw: []byte(`{"apiVersion":"resources.azure.com/v1api20200601","kind":"ResourceGroup","metadata":{"name":"one"},"spec":{"location":"eastus"}}`)},
		{Raw: []byte(`{"apiVersion":"dashboard.azure.com/v1api20220801","kind":"Grafana","metadata":{"name":"one"},"spec":{"location":"eastus","owner":{"name":"one"}}}`)},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithIndex(&appsv1.Deployment{}, metav1.ObjectNameField,
		func(o client.Object) []string { return []string{o.GetName()} }).Build()
	for name, test := range map[string]struct {
		reason    string
		unchecked []string
		want      int
	}{
		"refused": {"the manager has no definition", nil, 1},
		"allowed": {"the next manager sends it without a check", []string{"dashboard.azure.com/Grafana"}, 0},
		"another": {"the flag names another kind", []string{"dataprotection.azure.com/BackupVault"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			flags := &planFlags{unchecked: test.unchecked}
			cmd := &cobra.Command{}
			cmd.SetContext(t.Context())
			report, err := flags.findAll(cmd, &environment.Environment{}, c, "v2.0.0", func(context.Context, string) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, finding := range report.Findings {
				if finding.Check == "fields" && finding.Severity == migration.Blocks {
					got++
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: findings that block (-want +got):\n%s\n%+v", test.reason, diff, report.Findings)
			}
		})
	}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	if _, err := (&planFlags{unchecked: []string{"Grafana"}}).findAll(cmd, &environment.Environment{}, c, "v2.0.0", nil); err == nil {
		t.Error("the flag takes a kind that the manager's flag refuses, so the new manager would not start")
	}
}
