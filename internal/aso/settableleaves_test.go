package aso

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// settableLeaves returns the property paths of the values that a request of an api-version may set, sorted. Lists and maps of
// scalars are one value each, as are maps whose entries are only keys. Objects are not values, but their properties are.
func settableLeaves(kind Kind, version string) []string {
	var out []string
	var addProperties func(path string)
	var add func(property armschema.Property)
	addProperties = func(path string) {
		for _, name := range armschema.SettableNames(kind, version, path) {
			property, _ := armschema.FindProperty(kind, version, jsonpath.JoinMember(path, name))
			// The definitions mark the status objects as read-only, but not all their properties.
			if !strings.HasPrefix(property.Path+".", "properties.status.") {
				add(property)
			}
		}
	}
	add = func(property armschema.Property) {
		element := property.Path + "[]"
		switch property.Type {
		case armschema.Object:
			addProperties(property.Path)
			return
		case armschema.Map:
			element = property.Path + ".*"
		case armschema.List:
		default:
			out = append(out, property.Path)
			return
		}
		of, ok := armschema.FindProperty(kind, version, element)
		switch isObject := ok && of.Type == armschema.Object; {
		case !ok || of.IsScalar() || isObject && len(armschema.SettableNames(kind, version, element)) == 0:
			out = append(out, property.Path)
		case of.IsSettable():
			add(of)
		}
	}
	addProperties("")
	slices.Sort(out)
	return out
}
