package asoresource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// valueSource is the source of the value of a property.
type valueSource int

const (
	fromLiteral valueSource = iota
	// fromReference is {armId} or {group, kind, name} for a resource ID, fromReferences a list of them.
	fromReference
	fromReferences
	// fromConfigMap is {name, key} of a ConfigMap for a string.
	fromConfigMap
)

// idSuffixes are the endings of Azure's properties that end in "Reference" in the operator: vnetSubnetReference is vnetSubnetID.
var idSuffixes = []string{"Id", "ID", "ResourceId", "ResourceID", "ArmId", ""}

// findProperty returns the property of Azure for a key of a manifest.
func findProperty(part schema.Part, key string, fields map[string]any) (name string, found schema.Part, from valueSource, ok bool) {
	if name, found, ok = part.Property(key, fields); ok && name == key {
		return name, found, fromLiteral, true
	}
	for _, form := range []struct {
		ending   string
		from     valueSource
		plural   string
		type_    string
		suffixes []string
	}{
		{"References", fromReferences, "s", "array", idSuffixes}, {"Reference", fromReference, "", "string", idSuffixes}, {"FromConfig", fromConfigMap, "", "string", []string{""}},
	} {
		stem, is := strings.CutSuffix(key, form.ending)
		if !is {
			continue
		}
		for _, suffix := range form.suffixes {
			if suffix == "" && form.from == fromReferences {
				// applicationSecurityGroupsReferences is applicationSecurityGroups.
				if name, found, ok := part.Property(stem, fields); ok && found.Shape().Type == form.type_ {
					return name, found, form.from, true
				}
			}
			if name, found, ok := part.Property(stem+suffix+form.plural, fields); ok && found.Shape().Type == form.type_ {
				return name, found, form.from, true
			}
		}
	}
	if key == "reference" {
		for _, id := range []string{"id", "resourceId"} {
			if name, found, ok := part.Property(id, fields); ok {
				return name, found, fromReference, true
			}
		}
	}
	name, found, ok = part.Property(key, fields) // Azure's name in another case.
	return name, found, fromLiteral, ok
}

// resolveReference returns the ID in {armId}, or that of the manifest in {group, kind, name}.
func (t *translator) resolveReference(at string, path *field.Path, value any) any {
	object, _ := value.(map[string]any)
	if hasNamespace(object) {
		t.addError(newNamespaceError(path))
		return nil
	}
	if text, ok := object["armId"].(string); ok {
		id, plain := parseAbsoluteID(text)
		if !plain {
			t.addError(field.Invalid(path.Child("armId"), "", "is not the ID of an Azure resource, as in /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>"))
			return nil
		}
		t.body.References = append(t.body.References, id)
		return string(id)
	}
	group, _ := object["group"].(string)
	kind, _ := object["kind"].(string)
	name, _ := object["name"].(string)
	if group == "" || kind == "" || name == "" {
		t.addError(field.Invalid(path, "", "must be {armId: ...} or {group: ..., kind: ..., name: ...} of a resource manifest of the Cluster"))
		return nil
	}
	t.opaque[at] = true
	found, ok := t.set.findManifest(group, kind, name)
	if !ok {
		t.body.Missing = append(t.body.Missing, fmt.Sprintf("a resource manifest %s %s in the Cluster, which %s names", kind, name, path))
		return ""
	}
	id, err := t.set.ResourceID(found)
	if err != nil {
		if wrong, waits := toFieldError(err, path); wrong == nil {
			t.body.Missing = append(t.body.Missing, waits)
		}
		return ""
	}
	t.body.References = append(t.body.References, id)
	return string(id)
}

func (t *translator) resolveReferences(at string, path *field.Path, value any) any {
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
func (t *translator) resolveIdentities(at string, path *field.Path, items []any) any {
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
func (t *translator) resolveKey(at string, path *field.Path, value any, of string, refs *[]KeyRef, values map[KeyRef]string) any {
	object, _ := value.(map[string]any)
	name, _ := object["name"].(string)
	key, _ := object["key"].(string)
	if name == "" || key == "" || len(object) != 2 {
		t.addError(field.Invalid(path, "", "must be a string, or a key of a "+of+" as in {name: ..., key: ...}"))
		return nil
	}
	for _, wrong := range []*field.Error{checkObjectName(path.Child("name"), of, name), checkDataKey(path.Child("key"), of, key)} {
		if wrong != nil {
			t.addError(wrong)
			return nil
		}
	}
	ref := KeyRef{Name: name, Key: key}
	*refs = append(*refs, ref)
	text, ok := values[ref]
	if t.values == nil {
		t.opaque[at] = true
		return ""
	}
	if !ok {
		t.opaque[at] = true
		t.body.Missing = append(t.body.Missing, fmt.Sprintf("key %q of %s %q, which %s names", key, of, name, path))
		return ""
	}
	return text
}

// isSecret reports whether Azure keeps a property secret. Other properties cannot take values of Secrets, because Azure shows them,
// and authors of manifests may lack the right to read Secrets.
func isSecret(shape schema.Shape, at string) bool {
	name := strings.ToLower(at[strings.LastIndex(at, ".")+1:])
	return shape.IsHidden(at) ||
		slices.ContainsFunc([]string{"password", "secret", "sharedkey", "privatekey"}, func(word string) bool { return strings.HasSuffix(name, word) })
}

// resolveWholeSecret returns all keys of a Secret as a map.
func (t *translator) resolveWholeSecret(at string, path *field.Path, name string) any {
	if wrong := checkObjectName(path.Child("name"), "Secret", name); wrong != nil {
		t.addError(wrong)
		return nil
	}
	t.body.Secrets = append(t.body.Secrets, KeyRef{Name: name})
	out := map[string]any{}
	for ref, value := range t.secretValues() {
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

func (t *translator) secretValues() map[KeyRef]string {
	if t.values == nil {
		return nil
	}
	return t.values.Secrets
}

func (t *translator) configMapValues() map[KeyRef]string {
	if t.values == nil {
		return nil
	}
	return t.values.ConfigMaps
}
