package aso

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// translateForm translates a value other than null by its form.
func (t *patchTranslator) translateForm(to patchTarget, path string, have, patch any) (any, bool) {
	switch to.form {
	case Reference:
		return t.translateReference(path, patch)
	case ReferenceList:
		return t.translateList(path, patch, t.translateReference)
	case IdentityList:
		return t.translateIdentities(to.property, path, have, patch)
	case SecretKey:
		return t.readSecret(path, patch)
	case ConfigMapKey:
		t.addProblem(path, "names a key of a ConfigMap, which cannot be read here: write the value as %s", to.name)
		return nil, false
	default:
		return t.translateValue(to.property, path, have, patch)
	}
}

// translateReference returns the resource ID in {armId}.
func (t *patchTranslator) translateReference(path string, patch any) (any, bool) {
	object, ok := patch.(map[string]any)
	if !ok {
		t.addProblem(path, "must be an object with the resource's ID, such as {\"armId\": \"/subscriptions/...\"}, not %s", describeType(patch))
		return nil, false
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch {
		case key == "armId" || object[key] == nil:
		case key == "group" || key == "kind" || key == "name":
			t.addProblem(path, "refers to an object of the Azure Service Operator, which the provider does not use: write armId with the resource's ID")
			return nil, false
		default:
			t.addProblem(path+"."+key, "is not known: a reference has armId only")
			return nil, false
		}
	}
	text, ok := object["armId"].(string)
	if !ok {
		t.addProblem(path+".armId", "must be a string with a resource ID, not %s; to remove the reference, set the whole of it to null",
			describeType(object["armId"]))
		return nil, false
	}
	if _, plain := ParseID(text); !plain {
		t.addProblem(path+".armId", "must be a resource ID, such as /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>")
		return nil, false
	}
	return text, true
}

// translateIdentities returns the map for a list of {reference}, which replaces the map in the body. A patch in Azure's format is
// merged into it.
func (t *patchTranslator) translateIdentities(p armschema.Property, path string, have, patch any) (any, bool) {
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
func (t *patchTranslator) readSecret(path string, patch any) (any, bool) {
	ref, ok := t.readKeyRef(path, patch, "Secret")
	if !ok {
		return nil, false
	}
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

// readKeyRef reads {name, key}. Its errors never contain the value, which may be a password.
func (t *patchTranslator) readKeyRef(path string, patch any, kind string) (ref KeyRef, ok bool) {
	object, _ := patch.(map[string]any)
	ref = ReadKeyRef(patch)
	switch name, key := invalidNameReason(kind, ref.Name), invalidKeyReason(kind, ref.Key); {
	case ref.Name == "" || ref.Key == "" || len(object) != 2:
		t.addProblem(path, "must refer to a key of a %s, for example %s", kind, fmt.Sprintf(`{"name": "...", "key": "..."}, not %s`, describeType(patch)))
	case name != "":
		t.addProblem(path+".name", "%s", name)
	case key != "":
		t.addProblem(path+".key", "%s", key)
	default:
		return ref, true
	}
	return KeyRef{}, false
}
