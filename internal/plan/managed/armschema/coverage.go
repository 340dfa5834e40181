package armschema

import "strings"

// SettableLeaves are the property paths of the values that a request of an API version may set, sorted. Lists and maps of
// scalars are one value each, as are maps whose entries are only keys; objects are not, but what is in them.
func SettableLeaves(kind Kind, preview bool) []string {
	var out []string
	for _, p := range tables()[kind].Properties {
		if settable(preview, p) && leaf(kind, preview, p) {
			out = append(out, p.Path)
		}
	}
	return out
}

// settable tells whether the property and all it is in can be set. Items and entries count with their list or map.
func settable(preview bool, p Property) bool {
	if !p.Settable(preview) || p.Scalar() && (strings.HasSuffix(p.Path, "[]") || strings.HasSuffix(p.Path, ".*")) {
		return false
	}
	// The status blocks say of themselves that they are read-only, but not of every value.
	return p.Path != "properties.status" && !strings.HasPrefix(p.Path, "properties.status.")
}

func leaf(kind Kind, preview bool, p Property) bool {
	switch p.Type {
	case Object:
		return false
	case List, Map:
		element, ok := Lookup(kind, elementPath(p))
		return !ok || element.Scalar() || element.Type == Object && len(Names(kind, preview, element.Path)) == 0
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
