package aso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// topLevelFields are the fields of a resource that are not in "properties".
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/templates/resource-declaration
var topLevelFields = []string{"eTag", "etag", "extendedLocation", "identity", "kind", "location", "managedBy", "plan", "sku", "tags", "zones"}

// irregularReferences are the names in Azure for ASO's keys of references that do not end in "Id", by provider in lower case. They are the
// tags armReference of the types in github.com/Azure/azure-service-operator/v2 v2.18.0.
var irregularReferences = map[string]map[string]string{
	"microsoft.alertsmanagement": {"scopesReferences": "scopes"},
	"microsoft.dataprotection":   {"resourceReference": "resourceID"},
}

// TranslateUnchecked returns the body of a spec of a type without a definition, and the errors that need no definition: in references,
// and values from Secrets. Azure may show the value of any property of such a type, so none can come from a Secret.
func TranslateUnchecked(spec Spec, resourceType string, values *Values, resolve Resolver) (Body, field.ErrorList) {
	provider, _, _ := strings.Cut(strings.ToLower(resourceType), "/")
	t := &uncheckedTranslator{irregular: irregularReferences[provider], specTranslator: specTranslator{spec: spec, values: values,
		resolve: resolve, paths: map[string]*field.Path{}, opaque: map[string]bool{}}}
	t.body.Unchecked = true
	body, properties := map[string]any{}, map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(spec.Fields)) {
		value, path := spec.Fields[key], spec.Path.Child(key)
		inner, isObject := value.(map[string]any)
		switch {
		case slices.Contains(operatorFields, key):
		case key == "tags":
			body[key] = value
		case key == "properties" && isObject:
			maps.Copy(properties, t.translateFields(path, inner))
		case slices.Contains(topLevelFields, key):
			t.translateField(body, path, key, value)
		default:
			t.translateField(properties, path, key, value)
		}
	}
	if len(properties) > 0 {
		body["properties"] = properties
	}
	t.body.Properties = body
	return t.body, t.errs
}

// uncheckedTranslator translates one spec without a definition.
type uncheckedTranslator struct {
	specTranslator
	irregular map[string]string
}

func (t *uncheckedTranslator) translateFields(path *field.Path, fields map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		t.translateField(out, path.Child(key), key, fields[key])
	}
	return out
}

// translateField sets the value of a field in the object that has it. References by an ID, and values of ConfigMaps, have another name.
func (t *uncheckedTranslator) translateField(out map[string]any, path *field.Path, key string, value any) {
	isSecret := func(word string) bool { return strings.HasSuffix(strings.ToLower(key), word) }
	items, isList := value.([]any)
	stem, fromConfig := strings.CutSuffix(key, "FromConfig")
	switch {
	case value == nil: // ASO's objects have no null.
	case slices.ContainsFunc(secretWords, isSecret):
		t.addError(field.Forbidden(path, "must not be set: without a definition of the kind it is not known whether Azure shows the value"))
	case key == "userAssignedIdentities" && isList:
		out[key] = t.resolveIdentities("", path, items)
	case fromConfig && isKeyRef(value):
		out[stem] = t.resolveKey("", path, value, "ConfigMap", &t.body.ConfigMaps, t.values.configMaps())
	case isKeyRef(value):
		t.addError(field.Forbidden(path,
			"cannot be the key of a Secret: without a definition of the kind it is not known whether Azure shows the value"))
	case (key == "reference" || strings.HasSuffix(key, "Reference")) && isReferenceObject(value):
		out[t.referenceName(key)] = t.resolveReference("", path, value)
	case strings.HasSuffix(key, "References") && isList && !slices.ContainsFunc(items, func(item any) bool { return !isReferenceObject(item) }):
		out[t.referenceName(key)] = t.resolveReferences("", path, value)
	default:
		out[key] = t.translateUntyped(path, value)
	}
}

func (t *uncheckedTranslator) translateUntyped(path *field.Path, value any) any {
	switch value := value.(type) {
	case string:
		if id, err := arm.ParseID(value); err == nil && strings.HasPrefix(value, "/") {
			t.body.References = append(t.body.References, id)
		}
	case map[string]any:
		return t.translateFields(path, value)
	case []any:
		out := make([]any, 0, len(value))
		for i, item := range value {
			if isKeyRef(item) {
				t.translateField(map[string]any{}, path.Index(i), fmt.Sprint(i), item)
				continue
			}
			out = append(out, t.translateUntyped(path.Index(i), item))
		}
		return out
	}
	return value
}

// referenceName returns Azure's name of the resource ID in a field of references.
func (t *uncheckedTranslator) referenceName(key string) string {
	if name, ok := t.irregular[key]; ok {
		return name
	}
	if key == "reference" {
		return idNames[0]
	}
	if stem, ok := strings.CutSuffix(key, "References"); ok {
		return stem + "Ids"
	}
	return strings.TrimSuffix(key, "Reference") + "Id"
}

// isReferenceObject reports whether a value is {armId}, or group, kind and name of a manifest.
func isReferenceObject(value any) bool {
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 {
		return false
	}
	for key := range object {
		if !slices.Contains([]string{"armId", "group", "kind", "name", "namespace"}, key) {
			return false
		}
	}
	return true
}

// isKeyRef reports whether a value is {name, key} of a Secret or ConfigMap.
func isKeyRef(value any) bool {
	object, _ := value.(map[string]any)
	ref := ReadKeyRef(object)
	return len(object) == 2 && ref.Name != "" && ref.Key != ""
}
