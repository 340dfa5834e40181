package armschema

import (
	"slices"
	"strings"
)

// SettableLeaves returns the property paths of the values that a request of an api-version may set, sorted. Lists and maps of
// scalars are one value each, as are maps whose entries are only keys. Objects are not values, but their properties are.
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

// isSettable reports whether the property and all its parents can be set. Items and entries count with their list or map.
func isSettable(p Property) bool {
	if !p.IsSettable() || p.IsScalar() && (strings.HasSuffix(p.Path, "[]") || strings.HasSuffix(p.Path, ".*")) {
		return false
	}
	// The definitions mark the status objects as read-only, but not all their properties.
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
