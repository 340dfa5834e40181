// Package maxima knows the maxima of the CRDs' schemas: how long lists and maps of a spec may be, and how large its numbers.
//
// The API server holds them against what is written. What was stored before there were such maxima, or was never validated, is
// held against them before anything is planned from it: a plan has as many resources as the numbers in a spec say, and one that
// takes all memory takes it from all objects.
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

// maximum is the bound of what is at a path.
type maximum struct {
	path  []string
	bound boundKind
	limit int64
}

// boundKind is bounded.
type boundKind int

const (
	items boundKind = iota
	keys
	value
)

// FindExceeded names what in an object of a kind is beyond its maximum. What cannot be marshalled has nothing.
func FindExceeded(kind string, object any) field.ErrorList {
	var errs field.ErrorList
	for _, m := range kinds[kind] {
		errs = append(errs, m.findExceeded(reflect.ValueOf(object), m.path, nil)...)
	}
	return errs
}

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
		for _, key := range slices.SortedFunc(slices.Values(at.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
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
