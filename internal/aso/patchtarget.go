package aso

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// patchTarget is the destination of a key of a patch in Azure's body.
type patchTarget struct {
	// name is Azure's JSON name.
	name     string
	form     Form
	property armschema.Property
}

// literalSecrets are secrets that ASO has as texts, so patches contain them.
var literalSecrets = map[Kind][]string{ManagedCluster: {"properties.aadProfile.serverAppSecret"}}

// findTarget returns the target of a key of the object at a property path.
func (t *patchTranslator) findTarget(parent, key string) (patchTarget, bool) {
	return findPatchTarget(t.kind, t.version, parent, key)
}

func findPatchTarget(kind Kind, version, parent, key string) (patchTarget, bool) {
	out := patchTarget{name: key}
	place, _ := findPatchPlace(kind, version, parent)
	// Keys have to be in ASO's or in Azure's spelling. Another case is refused, with the right one as a suggestion.
	if found, ok := place.findOwn(key, nil); ok && found.Key == key {
		out.name, out.form = found.Name, found.Form
	}
	var ok bool
	out.property, ok = armschema.FindProperty(kind, version, jsonpath.JoinMember(parent, out.name))
	if out.form == SecretKey && slices.Contains(literalSecrets[kind], out.property.Path) {
		out.form = Literal
	}
	return out, ok
}

// findPatchPlace returns the place at a property path. "" is the path of the body.
func findPatchPlace(kind Kind, version, path string) (Place, bool) {
	place := Place{Part: armschema.Body(kind, version)}
	if path == "" {
		return place, true
	}
	for _, step := range jsonpath.Parse(path) {
		switch {
		case step.Element:
			place = place.Items()
		case step.Name == "*":
			place = place.Values()
		default:
			_, part, ok := place.Part.Property(step.Name, nil)
			if !ok {
				return Place{}, false
			}
			place = place.child(step.Name, part)
		}
	}
	return place, true
}
