package crd_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

var filterPattern = regexp.MustCompile(`\[\?\(@\.\w+==['"](\w+)['"]\)\]`)

// TestColumns checks the columns of kubectl get: the schema has the field of each column, columns of conditions show conditions that
// the provider reports, and a paused object is shown as paused.
func TestColumns(t *testing.T) {
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := crdClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	wanted := map[string][]string{
		"AzureCluster": {"Ready", "Reason", "Paused"}, "AzureMachine": {"Ready", "Reason", "Paused"},
		"AzureClusterIdentity": {"Ready", "Reason", "Paused"},
		"AzureManagedCluster":  {"Ready", "Paused"}, "AzureManagedControlPlane": {"Ready", "Reason", "Paused"},
		"AzureManagedMachinePool": {"Ready", "Reason", "Paused"},
		"AzureMachinePool":        {"Replicas", "Ready", "Reason", "State", "Paused", "Age"},
		"AzureMachinePoolMachine": {"Version", "Ready", "Reason", "State", "Paused", "Age"},
	}
	seen := 0
	for _, crd := range list.Items {
		if crd.Spec.Group != infrav1.GroupVersion.Group {
			continue
		}
		seen++
		version, kind := crd.Spec.Versions[0], crd.Spec.Names.Kind
		var names []string
		for _, column := range version.AdditionalPrinterColumns {
			if column.Priority == 0 {
				names = append(names, column.Name)
			}
			checkColumn(t, kind, *version.Schema.OpenAPIV3Schema, column)
		}
		for _, name := range wanted[kind] {
			if !slices.Contains(names, name) {
				t.Errorf("kubectl get %s has no column %s, only %v", crd.Spec.Names.Plural, name, names)
			}
		}
	}
	if seen < len(wanted) {
		t.Errorf("only %d CRDs were looked at", seen)
	}
}

func checkColumn(t *testing.T, kind string, schema apiextensionsv1.JSONSchemaProps, column apiextensionsv1.CustomResourceColumnDefinition) {
	t.Helper()
	path, isStatus := strings.CutPrefix(column.JSONPath, ".status.")
	if !isStatus && !strings.HasPrefix(column.JSONPath, ".spec.") {
		return
	}
	here := schema.Properties["status"]
	if !isStatus {
		path, here = strings.TrimPrefix(column.JSONPath, ".spec."), schema.Properties["spec"]
	}
	for _, name := range strings.Split(filterPattern.ReplaceAllString(path, "[]"), ".") {
		field, isList := strings.CutSuffix(name, "[]")
		below, ok := here.Properties[field]
		if !ok {
			t.Errorf("the column %s of %s is about %s, and there is no %s: it is always empty", column.Name, kind, column.JSONPath, field)
			return
		}
		if here = below; isList {
			here = *here.Items.Schema
		}
	}
}
