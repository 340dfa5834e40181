package aso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
)

// shape is how ASO writes a value that Azure writes otherwise; 0 where both write the same.
type shape int

const (
	_ shape = iota
	// reference is {armId} for a resource ID, references a list of them.
	reference
	references
	// identities is a list of {reference} for a map with the IDs as keys and empty objects as values.
	identities
	// secret is {name, key} of a Secret for its value.
	secret
	// configMap is {name, key} of a ConfigMap, which nobody reads here.
	configMap
)

// shaped translates a value that is not null by its shape.
func (t *translation) shaped(to target, path string, have, patch any) (any, bool) {
	switch to.shape {
	case reference:
		return t.reference(path, patch)
	case references:
		return t.items(path, patch, t.reference)
	case identities:
		return t.identities(to.property, path, have, patch)
	case secret:
		return t.secret(path, patch)
	case configMap:
		t.refuse(path, "names a key of a ConfigMap, which cannot be read here: write the value as %s", to.name)
		return nil, false
	default:
		return t.value(to.property, path, have, patch)
	}
}

// reference gives the resource ID of {armId}.
func (t *translation) reference(path string, patch any) (any, bool) {
	object, ok := patch.(map[string]any)
	if !ok {
		t.refuse(path, "must be an object with the resource's ID, as in {\"armId\": \"/subscriptions/...\"}, not %s", describe(patch))
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch {
		case key == "armId" || object[key] == nil:
		case key == "group" || key == "kind" || key == "name":
			t.refuse(path, "names an object of the Azure Service Operator, of which there are none here: write armId with the resource's ID")
			return nil, false
		default:
			t.refuse(path+"."+key, "is not known: a reference has armId only")
			return nil, false
		}
	}
	text, ok := object["armId"].(string)
	if !ok {
		t.refuse(path+".armId", "must be a string with a resource ID, not %s; to remove the reference, set the whole of it to null", describe(object["armId"]))
		return nil, false
	}
	if _, plain := arm.ParsePlainID(text); !plain || !strings.HasPrefix(text, "/") {
		t.refuse(path+".armId", "must be a resource ID, as in /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>")
		return nil, false
	}
	return text, true
}

// identities gives the map of a list of {reference}, which replaces the one in the body. Azure's own map merges into it.
func (t *translation) identities(p armschema.Property, path string, have, patch any) (any, bool) {
	if _, ok := patch.([]any); !ok {
		return t.value(p, path, have, patch)
	}
	list, ok := t.items(path, patch, func(path string, item any) (any, bool) {
		object, ok := t.asObject(path, item)
		if !ok {
			return nil, false
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key != "reference" {
				t.refuse(path+"."+key, "is not known: an identity has reference only")
				return nil, false
			}
		}
		return t.reference(path+".reference", object["reference"])
	})
	if !ok {
		return nil, false
	}
	out := map[string]any{}
	for _, id := range list.([]any) {
		out[id.(string)] = map[string]any{}
	}
	return out, true
}

// secret gives the value of a key of a Secret.
func (t *translation) secret(path string, patch any) (any, bool) {
	name, key, ok := t.nameAndKey(path, patch, "Secret")
	if !ok {
		return nil, false
	}
	ref := SecretRef{Name: name, Key: key}
	t.references = append(t.references, ref)
	if t.secrets == nil {
		return "", true
	}
	value, ok := t.secrets[ref]
	if !ok {
		t.missing = append(t.missing, ref)
	}
	return value, ok
}

// nameAndKey reads {name, key}. Nothing of a value that has another shape is told: it may be a password.
func (t *translation) nameAndKey(path string, patch any, what string) (name, key string, ok bool) {
	object, isObject := patch.(map[string]any)
	name, _ = object["name"].(string)
	key, _ = object["key"].(string)
	if !isObject || name == "" || key == "" || len(object) != 2 {
		t.refuse(path, "must name a key of a %s, as in %s", what, fmt.Sprintf(`{"name": "...", "key": "..."}, not %s`, describe(patch)))
		return "", "", false
	}
	if wrong := objectkey.WrongName(what, name); wrong != "" {
		t.refuse(path+".name", "%s", wrong)
		return "", "", false
	}
	if wrong := objectkey.WrongKey(what, key); wrong != "" {
		t.refuse(path+".key", "%s", wrong)
		return "", "", false
	}
	return name, key, true
}
