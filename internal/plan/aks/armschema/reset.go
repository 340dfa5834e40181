package armschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ResetDropped adds to a body what takes back values that were sent before and are in it no more. AKS leaves what a request
// leaves out as it is, so removal has to be said.
//
// previous are the Leaves of what earlier plans sent. For each that body lacks: a map is sent without the entry; an entry or
// object that can be switched off is (its "enabled" false, or the documented default of that), with nothing else of it; a
// list becomes empty; a scalar becomes its documented default, or false; else null.
//
// kept are the leaf paths that have no way back, sorted: what cannot change after creation, what Azure requires, and what does not
// exist in the API version. body is not changed. The result of retracting from a body with nothing to take back is a copy.
func ResetDropped(kind Kind, version string, body map[string]any, previous []string) (out map[string]any, unremovable []string) {
	r := reset{kind: kind, version: version, before: body, body: cloneObject(body), previous: slices.Sorted(slices.Values(previous))}
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
	// added are the leaf paths that have been retracted, kept those that cannot be.
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

// DefaultValue is the value that an absent scalar has: the documented one, or false; nil where nothing is known.
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

// isOffByDefault tells whether the property is a switch whose default is off.
func (p Property) isOffByDefault() bool {
	return p.DefaultValue() == "Disabled" || strings.HasSuffix(p.Path, ".enabled") && p.DefaultValue() == false
}

// isSwitchedOff tells whether the leaf belongs to an object that is off: the body says so, or the body lacks the object and its switch,
// which is retracted by its own path, turns it off. The settings of what is off need not be taken back.
func (r *reset) isSwitchedOff(path string, properties []Property) bool {
	for i := range len(properties) - 1 {
		object := pathPrefix(path, i+1)
		for _, name := range SettableNames(r.kind, r.version, properties[i].Path) {
			p, _ := FindProperty(r.kind, r.version, JoinPath(properties[i].Path, name))
			at := object + "/" + escapeKey(name)
			if !p.isOffByDefault() || at == path {
				continue
			}
			if hasValue(r.before, at) && findValue(r.before, splitPath(at)) == p.DefaultValue() || !hasValue(r.before, object) && slices.Contains(r.previous, at) {
				return true
			}
		}
	}
	return false
}

// missingMapEntry is the path of the outermost map that lacks the path's entry and is sent without it. Entries that have a switch,
// as add-ons, cannot be removed.
func (r *reset) missingMapEntry(path string, properties []Property) (string, bool) {
	for i, p := range properties[:len(properties)-1] {
		if p.Type != Map || hasValue(r.before, pathPrefix(path, i+2)) {
			continue
		}
		if enabled, ok := FindProperty(r.kind, r.version, JoinPath(properties[i+1].Path, "enabled")); ok && enabled.IsSettable() && slices.Contains(r.previous, pathPrefix(path, i+2)+"/enabled") {
			continue
		}
		return pathPrefix(path, i+1), true
	}
	return "", false
}

// objectAt is the object at a path of the body as it is now, empty where there is none.
func (r *reset) objectAt(path string) map[string]any {
	if value, ok := findValue(r.body, splitPath(path)).(map[string]any); ok {
		return value
	}
	return map[string]any{}
}

func (r *reset) setValue(path string, value any) {
	keys := splitPath(path)
	at := r.body
	for _, key := range keys[:len(keys)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	at[keys[len(keys)-1]] = value
	r.added = append(r.added, path)
}

// dropIncompleteObjects takes out objects that would be there only to take values back, and lack what Azure requires in them.
func (r *reset) dropIncompleteObjects() {
	for _, path := range r.added {
		properties, _ := propertiesOnPath(r.kind, r.version, path)
		for i := range len(properties) - 1 {
			object := pathPrefix(path, i+1)
			if hasValue(r.before, object) || r.isComplete(object, properties[i]) {
				continue
			}
			if parent := findValue(r.body, splitPath(pathPrefix(path, i))); parent != nil {
				delete(parent.(map[string]any), splitPath(object)[i])
			}
			r.unremovable = append(r.unremovable, path)
			break
		}
	}
	r.pruneEmpty("", r.body)
}

// isComplete tells whether the object at a path has all properties that Azure requires in it.
func (r *reset) isComplete(path string, p Property) bool {
	if p.Type != Object {
		return true
	}
	value := findValue(r.body, splitPath(path))
	object, _ := value.(map[string]any)
	for _, name := range SettableNames(r.kind, r.version, p.Path) {
		if child, _ := FindProperty(r.kind, r.version, JoinPath(p.Path, name)); child.Required && object[name] == nil {
			return false
		}
	}
	return value != nil
}

// pruneEmpty removes objects that have become empty and were not in the body before; maps stay, as {} takes entries back.
func (r *reset) pruneEmpty(path string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		here := path + "/" + escapeKey(key)
		child, ok := object[key].(map[string]any)
		if !ok || hasValue(r.before, here) && len(child) == 0 {
			continue
		}
		r.pruneEmpty(here, child)
		properties, known := propertiesOnPath(r.kind, r.version, here)
		if len(child) == 0 && known && properties[len(properties)-1].Type == Object {
			delete(object, key)
		}
	}
}

// hasValue tells whether the body has a value at a leaf path, which may be null.
func hasValue(body map[string]any, path string) bool {
	keys := splitPath(path)
	parent, ok := findValue(body, keys[:len(keys)-1]).(map[string]any)
	if !ok {
		return false
	}
	_, ok = parent[keys[len(keys)-1]]
	return ok
}

func findValue(body map[string]any, keys []string) any {
	var at any = body
	for _, key := range keys {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[key]
	}
	return at
}

// pathPrefix is a leaf path's first keys.
func pathPrefix(path string, keys int) string {
	return strings.Join(strings.Split(path, "/")[:keys+1], "/")
}

func isWithin(path, ancestor string) bool {
	return path == ancestor || strings.HasPrefix(path, ancestor+"/")
}

func cloneObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		if child, ok := value.(map[string]any); ok {
			value = cloneObject(child)
		}
		out[key] = value
	}
	return out
}
