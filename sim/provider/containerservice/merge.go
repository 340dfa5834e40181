package containerservice

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// wholeMaps are, with the config of every add-on, the maps that a PUT replaces as a whole. In all others it changes
// only the entries that it mentions.
var wholeMaps = map[string]bool{
	"tags": true, "properties.tags": true, "properties.nodeLabels": true,
}

// keptOnNull are properties that a null does not touch: recordings show clusters keep them although every PUT sends null.
var keptOnNull = map[string]bool{
	"properties.addonProfiles": true, "properties.identityProfile": true, "properties.privateLinkResources": true,
	"properties.agentPoolProfiles": true,
}

// overlayBody applies a PUT to the stored body: absent values stay, null and "" remove a value, lists and wholeMaps are
// replaced.
func overlayBody(dst, sent body.Object, at string) {
	for k, v := range sent {
		path := k
		if at != "" {
			path = at + "." + k
		}
		switch v := v.(type) {
		case nil:
			if !keptOnNull[path] {
				delete(dst, k)
			}
		case body.Object:
			inner, ok := dst[k].(body.Object)
			if !ok || wholeMaps[path] || k == "config" {
				inner = body.Object{}
				dst[k] = inner
			}
			overlayBody(inner, v, path)
		case string:
			if v == "" && !wholeMaps[at] { // the value of a label or tag may be empty
				delete(dst, k)
			} else {
				dst[k] = v
			}
		default:
			dst[k] = withoutNulls(v)
		}
	}
}

// withoutNulls drops nulls inside lists, where they mean absence.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case body.Object:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				v[k] = withoutNulls(e)
			}
		}
	}
	return v
}

// sentBody returns the body of a PUT without the properties that callers cannot set.
func sentBody(sent body.Object, readOnly []string) body.Object {
	n := body.Clone(sent)
	if n == nil {
		n = body.Object{}
	}
	for _, k := range []string{"id", "name", "type", "etag", "eTag", "systemData", "location", "identity", "properties.provisioningState"} {
		body.Delete(n, k)
	}
	for _, p := range readOnly {
		body.Strip(n, p)
	}
	return n
}

// dropEmpty removes values that mean the same as absence: recordings show "[]" and "{}" come back as nothing.
func dropEmpty(o body.Object, paths ...string) {
	for _, p := range paths {
		switch v := body.Get(o, p).(type) {
		case []any:
			if len(v) == 0 {
				body.Delete(o, p)
			}
		case body.Object:
			if len(v) == 0 {
				body.Delete(o, p)
			}
		}
	}
}

// keepFixed refuses a change of properties that cannot change and puts back those that were left out.
func keepFixed(was, is body.Object, paths ...string) error {
	for _, p := range paths {
		a, b := body.Get(was, p), body.Get(is, p)
		switch {
		case a == nil && b == nil:
		case b == nil:
			body.Set(is, p, a)
		case a == nil && (b == false || b == "Regular"):
			body.Delete(is, p) // the value that it has by default
		case !sameValue(a, b):
			return newRefusal(400, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", p).WithTarget(p)
		}
	}
	return nil
}

func keepFrom(d *provider.Draft, path string, make func() any) {
	if v := body.Get(d.Old, path); v != nil {
		body.Set(d.New, path, v)
	} else {
		body.Set(d.New, path, make())
	}
}
