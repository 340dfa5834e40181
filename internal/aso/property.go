package aso

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// Form is the form of a property's value in ASO's spec.
type Form int

const (
	// Literal is Azure's form. Objects have their properties in ASO's spelling.
	Literal Form = iota
	// Reference is {armId} or {group, kind, name} for a resource ID, ReferenceList a list of them.
	Reference
	ReferenceList
	// IdentityList is a list of {reference} for a map with resource IDs as keys and empty objects as values.
	IdentityList
	// SecretKey is {name, key} of a Secret for a text, SecretMap is {name} of a Secret for a map of texts.
	SecretKey
	SecretMap
	// ConfigMapKey is {name, key} of a ConfigMap for a text.
	ConfigMapKey
)

// Place is a place in a body of Azure.
type Place struct {
	schema.Part
	// hidden is set if Azure never shows the value and all below it. named is set if the name of the property shows that it is a
	// secret, which holds for the value, its items and its entries.
	hidden, named bool
}

// BodyOf returns the place of the whole body of a resource.
func BodyOf(definition schema.Definition) Place { return Place{Part: definition.Body()} }

// Items returns the place of the items of a list.
func (p Place) Items() Place { return Place{Part: p.Part.Items(), hidden: p.hidden, named: p.named} }

// Values returns the place of the entries of a map.
func (p Place) Values() Place { return Place{Part: p.Part.Values(), hidden: p.hidden, named: p.named} }

// secretWords are endings of names of properties that Azure keeps secret, although the definitions do not mark all of them.
var secretWords = []string{"password", "secret", "sharedkey", "privatekey"}

// child returns the place of a property. Keys of maps are no properties: users choose them, and tags named "password" are shown.
func (p Place) child(name string, part schema.Part) Place {
	isWord := func(word string) bool { return strings.HasSuffix(strings.ToLower(name), word) }
	return Place{Part: part, hidden: p.hidden || part.Shape().IsHidden(name), named: slices.ContainsFunc(secretWords, isWord)}
}

// IsSecret reports whether Azure keeps the value secret. Other values cannot come from Secrets, because Azure shows them, and authors
// of manifests may lack the right to read Secrets.
func (p Place) IsSecret() bool { return p.hidden || p.named || p.Shape().IsHidden("") }

// form returns the form of a value of the place that has Azure's name.
func (p Place) form(name string) Form {
	switch kind := p.Shape().Type; {
	case kind == "map" && name == "userAssignedIdentities":
		return IdentityList
	case kind == "map" && p.IsSecret():
		return SecretMap
	case kind == "string" && p.IsSecret():
		return SecretKey
	}
	return Literal
}

// Property is a property of an object of Azure in the spelling of ASO.
type Property struct {
	// Key is the key in ASO's spec, Name the name in Azure's object.
	Key, Name string
	Form      Form
	Place     Place
	// Nested is set for a property of Azure's object "properties", whose properties ASO has on the level above.
	Nested bool
}

// nested returns the place of the object "properties" of an object.
func (p Place) nested(fields map[string]any) (Place, bool) {
	_, inner, ok := p.Part.Property("properties", fields)
	return p.child("properties", inner), ok && inner.IsObject()
}

// FindProperty returns the property of Azure for a key of an object with these fields in ASO's spec. Keys in Azure's spelling and in
// another case are found, too.
func (p Place) FindProperty(key string, fields map[string]any) (Property, bool) {
	inner, nested := p.nested(fields)
	return p.findIn(inner, nested, key, fields)
}

// findIn is FindProperty for an object whose place of "properties" is known.
func (p Place) findIn(inner Place, nested bool, key string, fields map[string]any) (Property, bool) {
	if nested {
		if found, ok := inner.findOwn(key, fields); ok {
			found.Nested = true
			return found, true
		}
	}
	return p.findOwn(key, fields)
}

// keyEnding is an ending of ASO's keys that stands for one of the endings of Azure's names.
type keyEnding struct {
	ending string
	form   Form
	// kind is the type of Azure's value.
	kind string
	// names are the endings of Azure's names, the preferred one first.
	names []string
}

// keyEndings are all differences between ASO's keys and Azure's names, apart from the key "reference". vnetSubnetReference is
// vnetSubnetID, applicationSecurityGroupsReferences is applicationSecurityGroups, principalIdFromConfig is principalId. The tests in
// test/recordings compare them with the types of ASO.
var keyEndings = []keyEnding{
	{"References", ReferenceList, "array", []string{"Ids", "IDs", "ResourceIds", "ResourceIDs", "ArmIds", "", "s"}},
	{"Reference", Reference, "string", []string{"Id", "ID", "ResourceId", "ResourceID", "ArmId", ""}},
	{"FromConfig", ConfigMapKey, "string", []string{""}},
}

// idNames are the names for the key "reference", the preferred one first.
var idNames = []string{"id", "resourceId"}

// findOwn is FindProperty without the properties of "properties".
func (p Place) findOwn(key string, fields map[string]any) (Property, bool) {
	name, part, ok := p.Part.Property(key, fields)
	literal := Property{Key: name, Name: name, Place: p.child(name, part)}
	literal.Form = literal.Place.form(name)
	// An object that allows any properties has this one, too.
	if ok && name == key && !isAny(part.Shape()) {
		return literal, true
	}
	for _, e := range keyEndings {
		stem, is := strings.CutSuffix(key, e.ending)
		for _, ending := range e.names {
			if name, part, ok := p.Part.Property(stem+ending, fields); is && ok && part.Shape().Type == e.kind {
				return Property{Key: name[:len(stem)] + e.ending, Name: name, Form: e.form, Place: p.child(name, part)}, true
			}
		}
	}
	if key == "reference" {
		for _, name := range idNames {
			if name, part, ok := p.Part.Property(name, fields); ok {
				return Property{Key: key, Name: name, Form: Reference, Place: p.child(name, part)}, true
			}
		}
	}
	return literal, ok // Azure's name in another case, or any name.
}

func isAny(shape schema.Shape) bool {
	return shape.Object == "" && len(shape.AnyOf) == 0 && (shape.Type == "" || shape.Type == "any")
}

// ListKeys returns the keys that an object with these fields may have, for suggestions. A key like a reference gets references.
func (p Place) ListKeys(like string, fields map[string]any) []string {
	out := p.listOwnKeys(like, fields)
	if inner, ok := p.nested(fields); ok {
		out = append(out, inner.listOwnKeys(like, fields)...)
	}
	return out
}

func (p Place) listOwnKeys(like string, fields map[string]any) []string {
	names := p.SettableNames(fields)
	if isLikeReference(like) {
		for i, name := range names {
			names[i] = p.referenceKey(name, fields)
		}
	}
	return names
}

// isLikeReference reports whether a misspelt key was meant as one of a reference.
func isLikeReference(key string) bool { return strings.Contains(strings.ToLower(key), "ref") }
