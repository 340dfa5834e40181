// Package maxima checks objects against the maxima in the schemas of the CRDs: lengths of lists and maps, and sizes of
// numbers.
//
// The API server checks them when an object is written. Objects that were stored before a maximum existed, or were never
// validated, are checked before anything is planned from them: the number of resources in a plan follows from numbers in
// the spec, and a plan that exhausts the memory stops the reconciliation of all objects.
//
// It is pure.
package maxima

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maximum bounds the value at a path.
type maximum struct {
	path  []string
	bound boundKind
	limit int64
}

// boundKind is the quantity that a maximum bounds: the items of a list, the keys of a map, or the value of a number.
type boundKind int

const (
	items boundKind = iota
	keys
	value
)

// FindExceeded returns an error for each value of an object that exceeds its maximum. Values that cannot be marshalled are
// skipped.
func FindExceeded(kind string, object any) field.ErrorList {
	var errs field.ErrorList
	for _, m := range kinds[kind] {
		errs = append(errs, m.findExceeded(reflect.ValueOf(object), m.path, nil)...)
	}
	return errs
}

// findExceeded follows path from at, and checks each value at its end.
func (m maximum) findExceeded(at reflect.Value, path []string, here *field.Path) (errs field.ErrorList) {
	at = unwrapValue(at)
	if !at.IsValid() {
		return nil
	}
	if len(path) == 0 {
		return m.checkValue(at, here)
	}
	switch path[0] {
	case "[]":
		if at.Kind() != reflect.Slice {
			return nil
		}
		for i := range at.Len() {
			errs = append(errs, m.findExceeded(at.Index(i), path[1:], here.Index(i))...)
		}
	case "{}":
		if at.Kind() != reflect.Map {
			return nil
		}
		for _, key := range slices.SortedFunc(slices.Values(at.MapKeys()),
			func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			errs = append(errs, m.findExceeded(at.MapIndex(key), path[1:], here.Key(key.String()))...)
		}
	default:
		if below := jsonProperty(at, path[0]); below.IsValid() {
			if here == nil {
				return m.findExceeded(below, path[1:], field.NewPath(path[0]))
			}
			return m.findExceeded(below, path[1:], here.Child(path[0]))
		}
	}
	return errs
}

// checkValue checks one value at the end of a path.
func (m maximum) checkValue(at reflect.Value, here *field.Path) field.ErrorList {
	switch {
	case at.Kind() == reflect.Slice && at.Type().Elem().Kind() != reflect.Uint8:
		if m.bound == items && int64(at.Len()) > m.limit {
			return field.ErrorList{field.TooMany(here, at.Len(), int(m.limit))}
		}
	case at.Kind() == reflect.Map:
		if m.bound == keys && int64(at.Len()) > m.limit {
			return field.ErrorList{field.TooMany(here, at.Len(), int(m.limit))}
		}
	case m.bound != value:
	case at.CanInt() && at.Int() > m.limit, at.CanUint() && at.Uint() > uint64(m.limit), at.CanFloat() && at.Float() > float64(m.limit):
		var found int64
		switch {
		case at.CanInt():
			found = at.Int()
		case at.CanUint():
			found = int64(min(at.Uint(), math.MaxInt64))
		default:
			found = int64(at.Float())
		}
		return field.ErrorList{field.Invalid(here, found, fmt.Sprintf("must be at most %d", m.limit))}
	}
	return nil
}
