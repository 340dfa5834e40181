package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTemplatesRefuseWhatTheirObjectsRefuse changes each field that is immutable by the schema of a kind in a template of the kind. Cluster
// API would roll the change out to objects that refuse it. Immutable fields of webhooks are in functions that both kinds share.
func TestTemplatesRefuseWhatTheirObjectsRefuse(t *testing.T) {
	for kind, test := range map[string]struct {
		least  int
		update func(t *testing.T, old, changed []byte) []string
	}{
		"AzureManagedMachinePool": {11, func(t *testing.T, old, changed []byte) []string {
			return refusedFields(t, poolTemplates, newPoolTemplate(), old, changed)
		}},
	} {
		schema := objectSchema(t, kind)
		fields := listImmutableFields(schema)
		if len(fields) < test.least {
			t.Errorf("%s has immutable fields that are not found: %v", kind, fields)
		}
		for _, field := range fields {
			leaf := schema.Properties["spec"]
			steps := strings.Split(field, ".")
			for _, step := range steps {
				leaf = leaf.Properties[step]
			}
			old, changed := differentValues(t, leaf)
			if refused := test.update(t, patchOf(t, steps, old), patchOf(t, steps, changed)); !slices.Contains(refused, "spec.template.spec."+field) {
				t.Errorf("%s cannot change spec.%s, and its template can: add the rule to the template, which refuses %v", kind, field, refused)
			}
		}
	}
}

// listImmutableFields returns the paths below the spec of fields that have a rule about their former value.
func listImmutableFields(object *apiextensionsv1.JSONSchemaProps) (out []string) {
	for _, rule := range object.XValidations {
		if path, below := strings.CutPrefix(rule.FieldPath, ".spec."); below && isAboutFormer(rule) {
			out = append(out, path)
		}
	}
	for _, rule := range object.Properties["spec"].XValidations {
		if isAboutFormer(rule) {
			out = append(out, strings.TrimPrefix(rule.FieldPath, "."))
		}
	}
	return out
}

// isAboutFormer reports whether a rule is one of updates only.
func isAboutFormer(rule apiextensionsv1.ValidationRule) bool {
	return strings.Contains(rule.Rule, "oldSelf") && rule.OptionalOldSelf == nil
}

// differentValues returns two values of a field. The change from the first to the second is one that no rule allows.
func differentValues(t *testing.T, schema apiextensionsv1.JSONSchemaProps) (old, changed any) {
	t.Helper()
	if len(schema.Enum) > 1 {
		return schema.Enum[0], schema.Enum[len(schema.Enum)-1]
	}
	switch schema.Type {
	case "boolean":
		return true, false
	case "integer":
		return 30, 40
	case "string":
		return "a", "b"
	}
	if len(schema.Properties) > 0 {
		t.Fatal("give an object the values of a field in it")
	}
	return nil, nil
}

// patchOf returns a spec of a template with one field.
func patchOf(t *testing.T, steps []string, value any) []byte {
	t.Helper()
	for _, step := range slices.Backward(steps) {
		value = map[string]any{step: value}
	}
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": value}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// refusedFields returns the fields that the webhook of a kind refuses when an object with one patch gets another one.
func refusedFields[T client.Object](t *testing.T, k kind[T], object T, old, changed []byte) (out []string) {
	t.Helper()
	var versions []T
	for _, patch := range [][]byte{old, changed} {
		version := object.DeepCopyObject().(T)
		if err := json.Unmarshal(patch, version); err != nil {
			t.Fatal(err)
		}
		if err := k.Default(context.Background(), version); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	for _, err := range validateUpdate(t, k, versions[0], versions[1]) {
		out = append(out, err.Field)
	}
	return out
}
