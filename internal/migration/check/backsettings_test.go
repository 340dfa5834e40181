package check

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
)

// covered are annotations that users set and that need no finding of their own before a return.
var covered = map[string]string{
	"infrastructure.cluster.x-k8s.io/reconcile-requested-at": "it asks for one reconciliation of this provider",
	"sigs.k8s.io/cluster-api-provider-azure-delete-adopted":  "a finding names each object with adopted resources, which the established provider deletes in any case",
	"infrastructure.cluster.x-k8s.io/unchecked":              "the operator decides by its own definitions",
	"infrastructure.cluster.x-k8s.io/plain-object":           "the record of plain objects on the object has a finding",
}

// TestSettings checks that a return lists every annotation of this provider that users set, as docs/architecture.md names them.
func TestSettings(t *testing.T) {
	page, err := os.ReadFile("../../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "### Written by users and other programs")
	table, _, _ = strings.Cut(table, "\n#")
	found := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "users") && !strings.Contains(cells[3], "owner") {
			continue
		}
		key := strings.Trim(cells[1], " `")
		if !strings.HasPrefix(key, "infrastructure.cluster.x-k8s.io/") && !strings.HasPrefix(key, "sigs.k8s.io/cluster-api-provider-azure") {
			continue
		}
		found++
		if (settings[key] == "") == (covered[key] == "") {
			t.Errorf("the annotation %s is to be either in settings or in covered", key)
		}
	}
	if want := len(covered) + len(settings) - 1; found != want { // PlainObjectsAnnotation is written by the manager.
		t.Errorf("%d annotations of users, want %d", found, want)
	}
}

// TestOwnFields checks that the definitions of this provider have the fields that a return to the established provider drops.
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
