package aso

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// SpellSpec returns the spec of ASO for a body of Azure, which TranslateSpec translates to the same body. Resource IDs become
// references by armId, identities become a list of them, and the properties of "properties" are on the level above. Keys of maps
// belong to users and stay.
func SpellSpec(definition schema.Definition, body map[string]any) map[string]any {
	return BodyOf(definition).spellObject(body)
}

func (p Place) spellObject(object map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range object {
		_, part, ok := p.Part.Property(key, object)
		child := p.child(key, part)
		inner, isObject := value.(map[string]any)
		switch {
		case !ok:
			out[key] = p.Values().spellValue(value)
		case key == "properties" && isObject && child.IsObject():
			maps.Copy(out, child.spellObject(inner))
		case isObject && child.form(key) == IdentityList:
			out[key] = spellIdentities(inner)
		default:
			name, spelled := p.spellProperty(child, key, value, object)
			out[name] = spelled
		}
	}
	return out
}

func (p Place) spellValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if p.IsObject() {
			return p.spellObject(value)
		}
		out := map[string]any{}
		for key, entry := range value {
			out[key] = p.Values().spellValue(entry)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, p.Items().spellValue(item))
		}
		return out
	}
	return value
}

// spellProperty returns ASO's key and value of a property of the object. Whether ASO has a reference is seen by the value, because
// the definitions do not mark resource IDs.
func (p Place) spellProperty(child Place, name string, value any, object map[string]any) (string, any) {
	list, isList := value.([]any)
	switch {
	case isResourceID(value):
		if key := p.referenceKey(name, object); key != name {
			return key, newReference(value)
		}
	case isList && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool { return !isResourceID(item) }):
		if key := p.referenceKey(name, object); key != name {
			references := make([]any, 0, len(list))
			for _, id := range list {
				references = append(references, newReference(id))
			}
			return key, references
		}
	}
	return name, child.spellValue(value)
}

// referenceKey returns ASO's key of a property with a name as of resource IDs. It is the name itself for another name, and for one
// that the key would not lead back to.
func (p Place) referenceKey(name string, fields map[string]any) string {
	key, form := name, Literal
	switch lower := strings.ToLower(name); {
	case lower == "id":
		key, form = "reference", Reference
	case strings.HasSuffix(lower, "ids"):
		key, form = name[:len(name)-len("ids")]+"References", ReferenceList
	case strings.HasSuffix(lower, "id"):
		key, form = name[:len(name)-len("id")]+"Reference", Reference
	}
	if found, ok := p.findOwn(key, fields); ok && found.Form == form && strings.EqualFold(found.Name, name) {
		return key
	}
	return name
}

func newReference(id any) map[string]any { return map[string]any{"armId": id} }

func isResourceID(value any) bool {
	text, ok := value.(string)
	return ok && strings.HasPrefix(strings.ToLower(text), "/subscriptions/")
}

func spellIdentities(ids map[string]any) []any {
	var out []any
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, map[string]any{"reference": newReference(id)})
	}
	return out
}
