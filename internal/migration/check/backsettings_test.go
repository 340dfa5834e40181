package check

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
)

// TestOwnFields holds that the definitions of this provider have the fields that a return to the established provider drops.
func TestOwnFields(t *testing.T) {
	found := map[string]bool{}
	files, err := fs.Glob(crd.Files, "bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		raw, err := crd.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, definition); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == storedVersion })
		for field := range ownFields[definition.Spec.Names.Kind] {
			schema := *definition.Spec.Versions[i].Schema.OpenAPIV3Schema
			for step := range strings.SplitSeq(field, ".") {
				next, has := schema.Properties[step]
				if !has {
					t.Errorf("%s has no field %s", definition.Spec.Names.Kind, field)
				}
				schema = next
			}
			found[definition.Spec.Names.Kind] = true
		}
	}
	if len(found) != len(ownFields) {
		t.Errorf("kinds %v of %d were found", found, len(ownFields))
	}
}
