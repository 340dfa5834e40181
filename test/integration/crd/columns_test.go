package crd_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

var filterPattern = regexp.MustCompile(`\[\?\(@\.\w+==['"](\w+)['"]\)\]`)

// kindRow is a row of the table in docs/book/conditions.md.
var kindRow = regexp.MustCompile("(?m)^\\| (Azure\\w+) \\| `(\\w+)` \\| (.*) \\| (.*) \\|$")

// readRows returns the rows of the book by kind: the short name, the columns, and those of the wide output.
func readRows(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/book/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, row := range kindRow.FindAllStringSubmatch(string(page), -1) {
		out[row[1]] = strings.Join(row[2:], "|")
	}
	return out
}

// TestColumns checks the columns of kubectl get and the names of all kinds: each kind has a short name that no other kind has, READY and
// REASON are those of the condition Ready, no column has IDs, the message is at the end of the wide output, and the schema has the field of
// each column. The book lists them.
func TestColumns(t *testing.T) {
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := crdClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	rows, shortNames := readRows(t), map[string]string{}
	for _, crd := range list.Items {
		if crd.Spec.Group != infrav1.GroupVersion.Group {
			continue
		}
		kind := crd.Spec.Names.Kind
		if len(crd.Spec.Names.ShortNames) != 1 || !slices.Equal(crd.Spec.Names.Categories, []string{"cluster-api"}) {
			t.Errorf("%s has the short names %q and the categories %q, want one and cluster-api", kind, crd.Spec.Names.ShortNames, crd.Spec.Names.Categories)
		}
		for _, short := range crd.Spec.Names.ShortNames {
			if other := shortNames[short]; other != "" {
				t.Errorf("%s and %s have the short name %s", kind, other, short)
			}
			shortNames[short] = kind
		}
		for _, version := range crd.Spec.Versions {
			if got := strings.Join(crd.Spec.Names.ShortNames, ",") + "|" + describeColumns(version.AdditionalPrinterColumns); got != rows[kind] {
				t.Errorf("the row of %s in docs/book/conditions.md is %q, want %q", kind, rows[kind], got)
			}
			checkColumns(t, kind, version)
		}
	}
	if len(shortNames) != len(rows) {
		t.Errorf("%d kinds have short names, and the book lists %d kinds", len(shortNames), len(rows))
	}
}

// describeColumns lists the names of columns as the book does.
func describeColumns(all []apiextensionsv1.CustomResourceColumnDefinition) string {
	var narrow, wide []string
	for _, column := range all {
		if column.Priority == 0 {
			narrow = append(narrow, strings.ToUpper(column.Name))
		} else {
			wide = append(wide, strings.ToUpper(column.Name))
		}
	}
	return strings.Join(narrow, ", ") + "|" + strings.Join(wide, ", ")
}

// checkColumns checks the columns of a version of a kind.
func checkColumns(t *testing.T, kind string, version apiextensionsv1.CustomResourceDefinitionVersion) {
	t.Helper()
	of := map[string]apiextensionsv1.CustomResourceColumnDefinition{}
	for _, column := range version.AdditionalPrinterColumns {
		of[column.Name] = column
		checkColumn(t, kind, *version.Schema.OpenAPIV3Schema, column)
		if strings.HasSuffix(column.JSONPath, "ID") {
			t.Errorf("the column %s of %s shows IDs, which are longer than a line", column.Name, kind)
		}
	}
	if _, has := version.Schema.OpenAPIV3Schema.Properties["status"].Properties["conditions"]; !has {
		return
	}
	for name, path := range map[string]string{"Ready": "status", "Reason": "reason", "Message": "message"} {
		if want := ".status.conditions[?(@.type=='Ready')]." + path; of[name].JSONPath != want {
			t.Errorf("the column %s of %s shows %s, want %s", name, kind, of[name].JSONPath, want)
		}
	}
	if last := version.AdditionalPrinterColumns[len(version.AdditionalPrinterColumns)-1]; last.Name != "Message" || last.Priority == 0 {
		t.Errorf("the last column of %s is %s: a message that is not at the end of the wide output moves all columns after it", kind, last.Name)
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
		if here.XPreserveUnknownFields != nil && *here.XPreserveUnknownFields {
			return // The schema does not know the content of resource manifests.
		}
		if here.AdditionalProperties != nil {
			return // A map has any key.
		}
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
