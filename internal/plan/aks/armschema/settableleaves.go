package armschema

import (
	"slices"
	"strings"
)

// SettableLeaves are the property paths of the values that a request of an API version may set, sorted. Lists and maps of
// scalars are one value each, as are maps whose entries are only keys; objects are not, but what is in them.
func SettableLeaves(kind Kind, version string) []string {
	var out []string
	for _, p := range findTable(kind, version).properties {
		if isSettable(p) && isLeaf(kind, version, p) {
			out = append(out, p.Path)
		}
	}
	slices.Sort(out)
	return out
}

// isSettable tells whether the property and all it is in can be set. Items and entries count with their list or map.
func isSettable(p Property) bool {
	if !p.IsSettable() || p.IsScalar() && (strings.HasSuffix(p.Path, "[]") || strings.HasSuffix(p.Path, ".*")) {
		return false
	}
	// The status blocks say of themselves that they are read-only, but not of every value.
	return p.Path != "properties.status" && !strings.HasPrefix(p.Path, "properties.status.")
}

func isLeaf(kind Kind, version string, p Property) bool {
	switch p.Type {
	case Object:
		return false
	case List, Map:
		element, ok := FindProperty(kind, version, elementPath(p))
		return !ok || element.IsScalar() || element.Type == Object && len(SettableNames(kind, version, element.Path)) == 0
	default:
		return true
	}
}

func elementPath(p Property) string {
	if p.Type == Map {
		return p.Path + ".*"
	}
	return p.Path + "[]"
}
