// Package body reads and edits ARM JSON bodies held as plain maps.
//
// Its promise: paths are dot-separated property names ("properties.subnet.id"), a missing step is never an error, and
// every value written is normalised to the types of encoding/json (float64, string, bool, []any, map[string]any), so
// that two bodies can be compared with Equal regardless of their origin.
package body

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Object is a JSON object.
type Object = map[string]any

// Get returns the value at path, or nil.
func Get(o Object, path string) any {
	var v any = o
	for step := range strings.SplitSeq(path, ".") {
		m, ok := v.(Object)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

// Has reports whether a value, null included, stands at path.
func Has(o Object, path string) bool {
	parent, last := splitPath(o, path, false)
	_, ok := parent[last]
	return ok
}

// String returns the string at path, or "".
func String(o Object, path string) string {
	s, _ := Get(o, path).(string)
	return s
}

// Int returns the number at path, or 0. Numbers written as strings are not accepted.
func Int(o Object, path string) int {
	f, _ := Get(o, path).(float64)
	if math.IsNaN(f) || math.Abs(f) > math.MaxInt32*1024.0 {
		return 0
	}
	return int(f)
}

// Bool returns the boolean at path, or false.
func Bool(o Object, path string) bool {
	b, _ := Get(o, path).(bool)
	return b
}

// Child returns the object at path, or nil.
func Child(o Object, path string) Object {
	m, _ := Get(o, path).(Object)
	return m
}

// Objects returns the objects of the array at path; elements of other kinds are left out.
func Objects(o Object, path string) []Object {
	list, _ := Get(o, path).([]any)
	out := make([]Object, 0, len(list))
	for _, e := range list {
		if m, ok := e.(Object); ok {
			out = append(out, m)
		}
	}
	return out
}

// Strings returns the strings of the array at path.
func Strings(o Object, path string) []string {
	list, _ := Get(o, path).([]any)
	out := make([]string, 0, len(list))
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Set writes v at path and makes the objects on the way.
func Set(o Object, path string, v any) {
	parent, last := splitPath(o, path, true)
	parent[last] = normalizeValue(v)
}

// Default writes v at path unless the path has a value other than null.
func Default(o Object, path string, v any) {
	if Get(o, path) == nil {
		Set(o, path, v)
	}
}

// Delete removes the value at path.
func Delete(o Object, path string) {
	if parent, last := splitPath(o, path, false); parent != nil {
		delete(parent, last)
	}
}

// Strip removes the value at path, where "[]" after a step means every element of that array:
// "properties.ipConfigurations[].properties.macAddress".
func Strip(o Object, path string) {
	head, tail, found := strings.Cut(path, "[].")
	if !found {
		Delete(o, path)
		return
	}
	for _, e := range Objects(o, head) {
		Strip(e, tail)
	}
}

// FindNamed finds the element of list whose name equals name, ignoring case. The index is -1 when there is none.
func FindNamed(list []Object, name string) (int, Object) {
	for i, e := range list {
		if strings.EqualFold(String(e, "name"), name) {
			return i, e
		}
	}
	return -1, nil
}

// Clone returns a deep copy.
func Clone(o Object) Object {
	if o == nil {
		return nil
	}
	return normalizeValue(o).(Object)
}

// Equal compares two normalised values.
func Equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// Merge applies an RFC 7396 merge patch to dst. Arrays are replaced whole.
func Merge(dst, patch Object) {
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(dst, k)
		case Object:
			inner, ok := dst[k].(Object)
			if !ok {
				inner = Object{}
				dst[k] = inner
			}
			Merge(inner, v)
		default:
			dst[k] = normalizeValue(v)
		}
	}
}

// Overlay writes every value of over into dst like a provider whose PUT patches: values that are null or absent in
// over are kept in dst.
func Overlay(dst, over Object) {
	for k, v := range over {
		switch v := v.(type) {
		case nil:
		case Object:
			inner, ok := dst[k].(Object)
			if !ok {
				inner = Object{}
				dst[k] = inner
			}
			Overlay(inner, v)
		default:
			dst[k] = normalizeValue(v)
		}
	}
}

func splitPath(o Object, path string, create bool) (Object, string) {
	for {
		step, rest, more := strings.Cut(path, ".")
		if !more {
			return o, step
		}
		next, ok := o[step].(Object)
		if !ok {
			if !create {
				return nil, rest
			}
			next = Object{}
			o[step] = next
		}
		o, path = next, rest
	}
}

func normalizeValue(v any) any {
	switch v := v.(type) {
	case nil, string, bool, float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case Object:
		m := make(Object, len(v))
		for k, e := range v {
			m[k] = normalizeValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = normalizeValue(e)
		}
		return l
	case []Object:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = normalizeValue(e)
		}
		return l
	case []string:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = e
		}
		return l
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		var out any
		if json.Unmarshal(raw, &out) != nil {
			return nil
		}
		return out
	}
}
