package crd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// unbounded are the paths, behind the kind, of the fields without a maximum, with the reason.
var unbounded = map[string]string{
	"spec.allowedNamespaces.selector.matchExpressions":          "a type of Kubernetes, whose schema is not ours; nothing is planned from it",
	"spec.allowedNamespaces.selector.matchExpressions[].values": "likewise",
	"spec.allowedNamespaces.selector.matchLabels":               "likewise",
	"spec.template.metadata.annotations":                        "a type of Cluster API, whose schema is not ours; nothing is planned from it",
	"spec.template.metadata.labels":                             "likewise",
}

// TestMaxima walks the schemas of all kinds and names the lists, maps and numbers that have no maximum: the number of resources in a
// plan follows from them, and all clusters share the memory of the manager. Controllers write the status, and quantities and
// percentages are text as well as numbers.
func TestMaxima(t *testing.T) {
	files, err := filepath.Glob("../../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: %v", files, err)
	}
	var missing []string
	used := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
			walkSchema("spec", &spec, func(path string) {
				if used[path] = true; unbounded[path] == "" {
					missing = append(missing, crd.Spec.Names.Kind+" "+version.Name+" "+path)
				}
			})
		}
	}
	slices.Sort(missing)
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("without a maximum; add a marker, with the source where Azure has one (-want +got):\n%s", diff)
	}
	for path := range unbounded {
		if !used[path] {
			t.Errorf("%s is bounded or gone: take it out of the list", path)
		}
	}
}

// walkSchema calls found for every list, map and number below a schema that has no maximum.
func walkSchema(path string, schema *apiextensionsv1.JSONSchemaProps, found func(string)) {
	bounded := len(schema.Enum) > 0
	switch {
	case schema.Type == "array":
		bounded = schema.MaxItems != nil
	case schema.Type == "integer", schema.Type == "number":
		bounded = bounded || schema.Maximum != nil
	case schema.AdditionalProperties != nil:
		bounded = schema.MaxProperties != nil
	default:
		bounded = true
	}
	if !bounded {
		found(path)
	}
	for name, below := range schema.Properties {
		walkSchema(strings.TrimPrefix(path+"."+name, "."), &below, found)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walkSchema(path+"[]", schema.Items.Schema, found)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walkSchema(path+"{}", schema.AdditionalProperties.Schema, found)
	}
}
