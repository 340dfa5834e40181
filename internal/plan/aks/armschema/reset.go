package armschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// ResetDropped returns a copy of a body that also resets values which were sent before and are not in the body. AKS keeps the
// properties that a request leaves out, so removal must be explicit.
//
// previous are the LeafPaths that earlier plans sent. A missing path is reset as follows. A map is sent without the entry. An entry
// or object with a switch is switched off ("enabled" false, or its documented default), without its other properties. A list becomes
// empty. A scalar becomes its documented default, or false, else null.
//
// unremovable are the leaf paths that cannot be reset, sorted: properties that cannot change after creation, that Azure requires, or
// that do not exist in the api-version. body is not changed.
func ResetDropped(kind Kind, version string, body map[string]any, previous []string) (out map[string]any, unremovable []string) {
	r := reset{kind: kind, version: version, before: body, body: jsonpath.CloneObject(body), previous: slices.Sorted(slices.Values(previous))}
	for _, path := range r.previous {
		r.resetPath(path)
	}
	r.dropIncompleteObjects()
	slices.Sort(r.unremovable)
	return r.body, slices.Compact(r.unremovable)
}

type reset struct {
	kind         Kind
	version      string
	before, body map[string]any
	previous     []string
	// added are the leaf paths that were reset, unremovable those that cannot be.
	added, unremovable []string
}

func (r *reset) resetPath(path string) {
	if hasValue(r.before, path) || slices.ContainsFunc(ownedElsewhere, func(owned string) bool { return isWithin(path, owned) }) {
		return
	}
	properties, ok := propertiesOnPath(r.kind, r.version, path)
	if !ok {
		r.unremovable = append(r.unremovable, path)
		return
	}
	leaf := properties[len(properties)-1]
	switch {
	case leaf.CreateOnly:
		r.unremovable = append(r.unremovable, path)
		return
	case !leaf.IsSettable() || r.isSwitchedOff(path, properties):
		return
	}
	if at, ok := r.missingMapEntry(path, properties); ok {
		r.setValue(at, r.objectAt(at))
		return
	}
	switch {
	case leaf.Type == Object || leaf.Type == Map:
	case leaf.IsScalar() && leaf.DefaultValue() != nil:
		r.setValue(path, leaf.DefaultValue())
	case leaf.Required:
		r.unremovable = append(r.unremovable, path)
	case leaf.Type == List:
		r.setValue(path, []any{})
	default:
		r.setValue(path, nil)
	}
}

// DefaultValue returns the value of an absent scalar: the documented default, or false. It is nil if unknown.
func (p Property) DefaultValue() any {
	switch {
	case p.Type == Boolean:
		return p.DocumentedDefault == "true"
	case p.DocumentedDefault == "":
		return nil
	case p.Type == Integer || p.Type == Number:
		return json.Number(p.DocumentedDefault)
	default:
		return p.DocumentedDefault
	}
}

// isOffByDefault reports whether the property is a switch that is off by default.
func (p Property) isOffByDefault() bool {
	return p.DefaultValue() == "Disabled" || strings.HasSuffix(p.Path, ".enabled") && p.DefaultValue() == false
}

// isSwitchedOff reports whether the leaf belongs to an object that is off: the body switches it off, or the body lacks the object
// and the reset of its switch turns it off. Other settings of such an object need no reset.
func (r *reset) isSwitchedOff(path string, properties []Property) bool {
	for i := range len(properties) - 1 {
		object := pathPrefix(path, i+1)
		for _, name := range SettableNames(r.kind, r.version, properties[i].Path) {
			p, _ := FindProperty(r.kind, r.version, jsonpath.JoinMember(properties[i].Path, name))
			at := object + "/" + name
			if !p.isOffByDefault() || at == path {
				continue
			}
			if hasValue(r.before, at) && jsonpath.ParsePointer(at).Get(r.before) == p.DefaultValue() || !hasValue(r.before, object) &&
				slices.Contains(r.previous, at) {
				return true
			}
		}
	}
	return false
}

// missingMapEntry returns the path of the outermost map that lacks the path's entry and must be sent without it. Entries with a
// switch, such as add-ons, cannot be removed.
func (r *reset) missingMapEntry(path string, properties []Property) (string, bool) {
	for i, p := range properties[:len(properties)-1] {
		if p.Type != Map || hasValue(r.before, pathPrefix(path, i+2)) {
			continue
		}
		if enabled, ok := FindProperty(r.kind, r.version, jsonpath.JoinMember(properties[i+1].Path, "enabled")); ok && enabled.IsSettable() &&
			slices.Contains(r.previous, pathPrefix(path, i+2)+"/enabled") {
			continue
		}
		return pathPrefix(path, i+1), true
	}
	return "", false
}

// objectAt returns the object at a path of the new body, empty if there is none.
func (r *reset) objectAt(path string) map[string]any {
	if value, ok := jsonpath.ParsePointer(path).Get(r.body).(map[string]any); ok {
		return value
	}
	return map[string]any{}
}

func (r *reset) setValue(path string, value any) {
	jsonpath.ParsePointer(path).Set(r.body, value)
	r.added = append(r.added, path)
}

// dropIncompleteObjects removes objects that were added only to reset values and lack properties that Azure requires.
func (r *reset) dropIncompleteObjects() {
	for _, path := range r.added {
		properties, _ := propertiesOnPath(r.kind, r.version, path)
		for i := range len(properties) - 1 {
			object := pathPrefix(path, i+1)
			if hasValue(r.before, object) || r.isComplete(object, properties[i]) {
				continue
			}
			steps := jsonpath.ParsePointer(object)
			if parent, ok := steps[:i].Get(r.body).(map[string]any); ok {
				delete(parent, steps[i].Name)
			}
			r.unremovable = append(r.unremovable, path)
			break
		}
	}
	r.pruneEmpty(nil, r.body)
}

// isComplete reports whether the object at a path has all properties that Azure requires.
func (r *reset) isComplete(path string, p Property) bool {
	if p.Type != Object {
		return true
	}
	value := jsonpath.ParsePointer(path).Get(r.body)
	object, _ := value.(map[string]any)
	for _, name := range SettableNames(r.kind, r.version, p.Path) {
		if child, _ := FindProperty(r.kind, r.version, jsonpath.JoinMember(p.Path, name)); child.Required && object[name] == nil {
			return false
		}
	}
	return value != nil
}

// pruneEmpty removes objects that became empty and are not in the original body. Maps are kept, because {} removes their entries.
func (r *reset) pruneEmpty(path jsonpath.Path, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		here := path.Member(key)
		child, ok := object[key].(map[string]any)
		if !ok || here.Has(r.before) && len(child) == 0 {
			continue
		}
		r.pruneEmpty(here, child)
		properties, known := propertiesOnPath(r.kind, r.version, here.Pointer())
		if len(child) == 0 && known && properties[len(properties)-1].Type == Object {
			delete(object, key)
		}
	}
}

// hasValue reports whether the body has a value at a leaf path, which may be null.
func hasValue(body map[string]any, path string) bool { return jsonpath.ParsePointer(path).Has(body) }

// pathPrefix returns the first keys of a leaf path.
func pathPrefix(path string, keys int) string { return jsonpath.ParsePointer(path)[:keys].Pointer() }

func isWithin(path, ancestor string) bool {
	return path == ancestor || strings.HasPrefix(path, ancestor+"/")
}
