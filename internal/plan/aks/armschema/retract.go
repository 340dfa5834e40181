package armschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Retract adds to a body what takes back values that were sent before and are in it no more. AKS leaves what a request
// leaves out as it is, so removal has to be said.
//
// previous are the Leaves of what earlier plans sent. For each that body lacks: a map is sent without the entry; an entry or
// object that can be switched off is (its "enabled" false, or the documented default of that), with nothing else of it; a
// list becomes empty; a scalar becomes its documented default, or false; else null.
//
// kept are the leaf paths that have no way back, sorted: what cannot change after creation, what Azure requires, and what does not
// exist in the API version. body is not changed. The result of retracting from a body with nothing to take back is a copy.
func Retract(kind Kind, version string, body map[string]any, previous []string) (out map[string]any, kept []string) {
	r := retraction{kind: kind, version: version, before: body, body: clone(body), previous: slices.Sorted(slices.Values(previous))}
	for _, path := range r.previous {
		r.path(path)
	}
	r.dropHalfObjects()
	slices.Sort(r.kept)
	return r.body, slices.Compact(r.kept)
}

type retraction struct {
	kind         Kind
	version      string
	before, body map[string]any
	previous     []string
	// added are the leaf paths that have been retracted, kept those that cannot be.
	added, kept []string
}

func (r *retraction) path(path string) {
	if has(r.before, path) || slices.ContainsFunc(ownedElsewhere, func(owned string) bool { return within(path, owned) }) {
		return
	}
	properties, ok := propertiesAlong(r.kind, r.version, path)
	if !ok {
		r.kept = append(r.kept, path)
		return
	}
	leaf := properties[len(properties)-1]
	switch {
	case leaf.CreateOnly:
		r.kept = append(r.kept, path)
		return
	case !leaf.Settable() || r.switchedOff(path, properties):
		return
	}
	if at, ok := r.missingEntry(path, properties); ok {
		r.set(at, r.object(at))
		return
	}
	switch {
	case leaf.Type == Object || leaf.Type == Map:
	case leaf.Scalar() && leaf.Default() != nil:
		r.set(path, leaf.Default())
	case leaf.Required:
		r.kept = append(r.kept, path)
	case leaf.Type == List:
		r.set(path, []any{})
	default:
		r.set(path, nil)
	}
}

// Default is the value that an absent scalar has: the documented one, or false; nil where nothing is known.
func (p Property) Default() any {
	switch {
	case p.Type == Boolean:
		return p.Documented == "true"
	case p.Documented == "":
		return nil
	case p.Type == Integer || p.Type == Number:
		return json.Number(p.Documented)
	default:
		return p.Documented
	}
}

// off tells whether the property is a switch whose default is off.
func (p Property) off() bool {
	return p.Default() == "Disabled" || strings.HasSuffix(p.Path, ".enabled") && p.Default() == false
}

// switchedOff tells whether the leaf belongs to an object that is off: the body says so, or the body lacks the object and its switch,
// which is retracted by its own path, turns it off. The settings of what is off need not be taken back.
func (r *retraction) switchedOff(path string, properties []Property) bool {
	for i := range len(properties) - 1 {
		object := prefix(path, i+1)
		for _, name := range Names(r.kind, r.version, properties[i].Path) {
			p, _ := Lookup(r.kind, r.version, Join(properties[i].Path, name))
			at := object + "/" + escape(name)
			if !p.off() || at == path {
				continue
			}
			if has(r.before, at) && find(r.before, steps(at)) == p.Default() || !has(r.before, object) && slices.Contains(r.previous, at) {
				return true
			}
		}
	}
	return false
}

// missingEntry is the path of the outermost map that lacks the path's entry and is sent without it. Entries that have a switch,
// as add-ons, cannot be removed.
func (r *retraction) missingEntry(path string, properties []Property) (string, bool) {
	for i, p := range properties[:len(properties)-1] {
		if p.Type != Map || has(r.before, prefix(path, i+2)) {
			continue
		}
		if enabled, ok := Lookup(r.kind, r.version, Join(properties[i+1].Path, "enabled")); ok && enabled.Settable() && slices.Contains(r.previous, prefix(path, i+2)+"/enabled") {
			continue
		}
		return prefix(path, i+1), true
	}
	return "", false
}

// object is the object at a path of the body as it is now, empty where there is none.
func (r *retraction) object(path string) map[string]any {
	if value, ok := find(r.body, steps(path)).(map[string]any); ok {
		return value
	}
	return map[string]any{}
}

func (r *retraction) set(path string, value any) {
	keys := steps(path)
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

// dropHalfObjects takes out objects that would be there only to take values back, and lack what Azure requires in them.
func (r *retraction) dropHalfObjects() {
	for _, path := range r.added {
		properties, _ := propertiesAlong(r.kind, r.version, path)
		for i := range len(properties) - 1 {
			object := prefix(path, i+1)
			if has(r.before, object) || r.complete(object, properties[i]) {
				continue
			}
			if parent := find(r.body, steps(prefix(path, i))); parent != nil {
				delete(parent.(map[string]any), steps(object)[i])
			}
			r.kept = append(r.kept, path)
			break
		}
	}
	r.prune("", r.body)
}

// complete tells whether the object at a path has all properties that Azure requires in it.
func (r *retraction) complete(path string, p Property) bool {
	if p.Type != Object {
		return true
	}
	value := find(r.body, steps(path))
	object, _ := value.(map[string]any)
	for _, name := range Names(r.kind, r.version, p.Path) {
		if child, _ := Lookup(r.kind, r.version, Join(p.Path, name)); child.Required && object[name] == nil {
			return false
		}
	}
	return value != nil
}

// prune removes objects that have become empty and were not in the body before; maps stay, as {} takes entries back.
func (r *retraction) prune(path string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		here := path + "/" + escape(key)
		child, ok := object[key].(map[string]any)
		if !ok || has(r.before, here) && len(child) == 0 {
			continue
		}
		r.prune(here, child)
		properties, known := propertiesAlong(r.kind, r.version, here)
		if len(child) == 0 && known && properties[len(properties)-1].Type == Object {
			delete(object, key)
		}
	}
}

// has tells whether the body has a value at a leaf path, which may be null.
func has(body map[string]any, path string) bool {
	keys := steps(path)
	parent, ok := find(body, keys[:len(keys)-1]).(map[string]any)
	if !ok {
		return false
	}
	_, ok = parent[keys[len(keys)-1]]
	return ok
}

func find(body map[string]any, keys []string) any {
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

// prefix is a leaf path's first keys.
func prefix(path string, keys int) string {
	return strings.Join(strings.Split(path, "/")[:keys+1], "/")
}

func within(path, ancestor string) bool {
	return path == ancestor || strings.HasPrefix(path, ancestor+"/")
}

func clone(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		if child, ok := value.(map[string]any); ok {
			value = clone(child)
		}
		out[key] = value
	}
	return out
}
