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

// valueShape is ASO's format of a value that Azure writes in another format. It is 0 if both are the same.
type valueShape int

const (
	_ valueShape = iota
	// referenceShape is {armId} for a resource ID, referenceListShape a list of them.
	referenceShape
	referenceListShape
	// identityMapShape is a list of {reference} for a map with the IDs as keys and empty objects as values.
	identityMapShape
	// secretShape is {name, key} of a Secret for its value.
	secretShape
	// configMapShape is {name, key} of a ConfigMap, which is not supported here.
	configMapShape
)

// translateShaped translates a value other than null by its shape.
func (t *translator) translateShaped(to target, path string, have, patch any) (any, bool) {
	switch to.shape {
	case referenceShape:
		return t.translateReference(path, patch)
	case referenceListShape:
		return t.translateList(path, patch, t.translateReference)
	case identityMapShape:
		return t.translateIdentities(to.property, path, have, patch)
	case secretShape:
		return t.readSecret(path, patch)
	case configMapShape:
		t.addProblem(path, "names a key of a ConfigMap, which cannot be read here: write the value as %s", to.name)
		return nil, false
	default:
		return t.translateValue(to.property, path, have, patch)
	}
}

// translateReference returns the resource ID in {armId}.
func (t *translator) translateReference(path string, patch any) (any, bool) {
	object, ok := patch.(map[string]any)
	if !ok {
		t.addProblem(path, "must be an object with the resource's ID, as in {\"armId\": \"/subscriptions/...\"}, not %s", describeType(patch))
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch {
		case key == "armId" || object[key] == nil:
		case key == "group" || key == "kind" || key == "name":
			t.addProblem(path, "names an object of the Azure Service Operator, of which there are none here: write armId with the resource's ID")
			return nil, false
		default:
			t.addProblem(path+"."+key, "is not known: a reference has armId only")
			return nil, false
		}
	}
	text, ok := object["armId"].(string)
	if !ok {
		t.addProblem(path+".armId", "must be a string with a resource ID, not %s; to remove the reference, set the whole of it to null", describeType(object["armId"]))
		return nil, false
	}
	if _, plain := arm.ParsePlainID(text); !plain || !strings.HasPrefix(text, "/") {
		t.addProblem(path+".armId", "must be a resource ID, as in /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>")
		return nil, false
	}
	return text, true
}

// translateIdentities returns the map for a list of {reference}, which replaces the map in the body. A patch in Azure's format is
// merged into it.
func (t *translator) translateIdentities(p armschema.Property, path string, have, patch any) (any, bool) {
	if _, ok := patch.([]any); !ok {
		return t.translateValue(p, path, have, patch)
	}
	list, ok := t.translateList(path, patch, func(path string, item any) (any, bool) {
		object, ok := t.requireObject(path, item)
		if !ok {
			return nil, false
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key != "reference" {
				t.addProblem(path+"."+key, "is not known: an identity has reference only")
				return nil, false
			}
		}
		return t.translateReference(path+".reference", object["reference"])
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

// readSecret returns the value of a key of a Secret.
func (t *translator) readSecret(path string, patch any) (any, bool) {
	name, key, ok := t.readNameAndKey(path, patch, "Secret")
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

// readNameAndKey reads {name, key}. Its errors never contain the value, which may be a password.
func (t *translator) readNameAndKey(path string, patch any, what string) (name, key string, ok bool) {
	object, isObject := patch.(map[string]any)
	name, _ = object["name"].(string)
	key, _ = object["key"].(string)
	if !isObject || name == "" || key == "" || len(object) != 2 {
		t.addProblem(path, "must name a key of a %s, as in %s", what, fmt.Sprintf(`{"name": "...", "key": "..."}, not %s`, describeType(patch)))
		return "", "", false
	}
	if wrong := objectkey.InvalidNameReason(what, name); wrong != "" {
		t.addProblem(path+".name", "%s", wrong)
		return "", "", false
	}
	if wrong := objectkey.InvalidKeyReason(what, key); wrong != "" {
		t.addProblem(path+".key", "%s", wrong)
		return "", "", false
	}
	return name, key, true
}
