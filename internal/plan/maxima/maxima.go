// Package maxima knows the maxima of the CRDs' schemas: how long lists and maps of a spec may be, and how large its numbers.
//
// The API server holds them against what is written. What was stored before there were such maxima, or was never validated, is
// held against them before anything is planned from it: a plan has as many resources as the numbers in a spec say, and one that
// takes all memory takes it from all objects.
//
// It is pure.
package maxima

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maximum is the bound of what is at a path.
type maximum struct {
	path []string
	of   what
	most int64
}

// what is bounded.
type what int

const (
	items what = iota
	keys
	value
)

// Exceeded names what in an object of a kind is beyond its maximum. What cannot be marshalled has nothing.
func Exceeded(kind string, object any) field.ErrorList {
	raw, err := json.Marshal(object)
	var decoded any
	if err != nil || json.Unmarshal(raw, &decoded) != nil {
		return nil
	}
	var errs field.ErrorList
	for _, m := range kinds[kind] {
		errs = append(errs, m.exceeded(decoded, m.path, nil)...)
	}
	return errs
}

func (m maximum) exceeded(at any, path []string, here *field.Path) (errs field.ErrorList) {
	if len(path) == 0 {
		return m.check(at, here)
	}
	switch path[0] {
	case "[]":
		list, _ := at.([]any)
		for i, item := range list {
			errs = append(errs, m.exceeded(item, path[1:], here.Index(i))...)
		}
	case "{}":
		object, _ := at.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			errs = append(errs, m.exceeded(object[key], path[1:], here.Key(key))...)
		}
	default:
		object, _ := at.(map[string]any)
		if below, ok := object[path[0]]; ok {
			next := field.NewPath(path[0])
			if here != nil {
				next = here.Child(path[0])
			}
			return m.exceeded(below, path[1:], next)
		}
	}
	return errs
}

func (m maximum) check(at any, here *field.Path) field.ErrorList {
	switch found := at.(type) {
	case []any:
		if m.of == items && int64(len(found)) > m.most {
			return field.ErrorList{field.TooMany(here, len(found), int(m.most))}
		}
	case map[string]any:
		if m.of == keys && int64(len(found)) > m.most {
			return field.ErrorList{field.TooMany(here, len(found), int(m.most))}
		}
	case float64:
		if m.of == value && found > float64(m.most) {
			return field.ErrorList{field.Invalid(here, int64(found), fmt.Sprintf("must be at most %d", m.most))}
		}
	}
	return nil
}
