package aso

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resolveReference returns the ID in {armId}, or that of the object in {group, kind, name}.
func (t *specTranslator) resolveReference(at string, path *field.Path, value any) any {
	object, _ := value.(map[string]any)
	if err := NamespaceError(path, object); err != nil {
		t.addError(err)
		return nil
	}
	if text, ok := object["armId"].(string); ok {
		id, plain := ParseID(text)
		if !plain {
			t.addError(field.Invalid(path.Child("armId"), "",
				"is not the ID of an Azure resource, such as /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>"))
			return nil
		}
		t.body.References = append(t.body.References, id)
		return string(id)
	}
	ref := readObjectRef(object)
	if ref.Group == "" || ref.Kind == "" || ref.Name == "" {
		t.addError(field.Invalid(path, "", "must be {armId: ...} or {group: ..., kind: ..., name: ...} of a resource manifest of the Cluster"))
		return nil
	}
	t.opaque[at] = true
	id, waits := t.resolve(ref, path)
	switch {
	case waits != "":
		t.body.Missing = append(t.body.Missing, waits)
	case id != "":
		t.body.References = append(t.body.References, id)
	}
	return string(id)
}

func (t *specTranslator) resolveReferences(at string, path *field.Path, value any) any {
	items, ok := value.([]any)
	if !ok {
		t.addError(field.Invalid(path, "", "must be a list of {armId: ...} or {group: ..., kind: ..., name: ...}"))
		return nil
	}
	out := make([]any, 0, len(items))
	for i, item := range items {
		out = append(out, t.resolveReference(fmt.Sprintf("%s[%d]", at, i), path.Index(i), item))
	}
	return out
}

// resolveIdentities returns Azure's map for a list of {reference}.
func (t *specTranslator) resolveIdentities(at string, path *field.Path, items []any) any {
	out := map[string]any{}
	for i, item := range items {
		object, _ := item.(map[string]any)
		id, _ := t.resolveReference(fmt.Sprintf("%s[%d]", at, i), path.Index(i).Child("reference"), object["reference"]).(string)
		if id != "" {
			out[id] = map[string]any{}
		}
	}
	return out
}

// resolveKey returns the value of a key of a Secret or ConfigMap. Its errors never contain the value, which may be a password.
func (t *specTranslator) resolveKey(at string, path *field.Path, value any, kind string, refs *[]KeyRef, values map[KeyRef]string) any {
	object, _ := value.(map[string]any)
	ref := ReadKeyRef(object)
	if ref.Name == "" || ref.Key == "" || len(object) != 2 {
		t.addError(field.Invalid(path, "", "must be a string, or a key of a "+kind+" such as {name: ..., key: ...}"))
		return nil
	}
	for _, wrong := range []*field.Error{CheckObjectName(path.Child("name"), kind, ref.Name),
		CheckObjectKey(path.Child("key"), kind, ref.Key)} {
		if wrong != nil {
			t.addError(wrong)
			return nil
		}
	}
	*refs = append(*refs, ref)
	text, ok := values[ref]
	if t.values == nil {
		t.opaque[at] = true
		return ""
	}
	if !ok {
		t.opaque[at] = true
		t.body.Missing = append(t.body.Missing, fmt.Sprintf("key %q of %s %q, which %s names", ref.Key, kind, ref.Name, path))
		return ""
	}
	return text
}

// resolveWholeSecret returns all keys of a Secret as a map.
func (t *specTranslator) resolveWholeSecret(at string, path *field.Path, name string) any {
	if wrong := CheckObjectName(path.Child("name"), "Secret", name); wrong != nil {
		t.addError(wrong)
		return nil
	}
	t.body.Secrets = append(t.body.Secrets, KeyRef{Name: name})
	out := map[string]any{}
	for ref, value := range t.values.secrets() {
		if ref.Name == name && ref.Key != "" {
			out[ref.Key] = value
		}
	}
	if len(out) == 0 && t.values != nil {
		t.body.Missing = append(t.body.Missing, fmt.Sprintf("Secret %q, which is empty or does not exist", name))
	}
	t.opaque[at] = true
	return out
}
