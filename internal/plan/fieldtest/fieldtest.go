// Package fieldtest helps tests to prove that plans use every field of a spec, and that refusals name the field.
package fieldtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// VaryLeaves changes every leaf that is set below value, one at a time, and adds the paths that change the result of
// effect to effective. value must be settable. It is restored.
func VaryLeaves(path string, value reflect.Value, effective map[string]bool, effect func() string) {
	base := effect()
	visitLeaves(path, value, func() {}, func(path string, leaf reflect.Value, commit func()) {
		if effective[path] {
			return
		}
		before := reflect.New(leaf.Type()).Elem()
		before.Set(leaf)
		changeLeaf(leaf)
		commit()
		changed := effect() != base
		leaf.SetZero()
		commit()
		changed = changed || !before.IsZero() && effect() != base
		leaf.Set(before)
		commit()
		if changed {
			effective[path] = true
		}
	})
}

// changeLeaf sets a leaf to another value.
func changeLeaf(leaf reflect.Value) {
	switch leaf.Kind() {
	case reflect.String:
		leaf.SetString(leaf.String() + "x")
	case reflect.Bool:
		leaf.SetBool(!leaf.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		leaf.SetInt(leaf.Int() + 1)
	case reflect.Struct:
		leaf.Set(reflect.ValueOf(resource.MustParse("77")))
	default:
		panic("a leaf of kind " + leaf.Kind().String())
	}
}

// visitLeaves calls f for every leaf below value. commit stores a changed leaf: elements of maps are copies.
func visitLeaves(path string, value reflect.Value, commit func(), f func(path string, leaf reflect.Value, commit func())) {
	switch {
	case value.Type() == reflect.TypeFor[resource.Quantity]():
		f(path, value, commit)
	case value.Kind() == reflect.Pointer:
		if !value.IsNil() {
			visitLeaves(path, value.Elem(), commit, f)
		}
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			visitLeaves(joinPath(path, value.Type().Field(i)), value.Field(i), commit, f)
		}
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			visitLeaves(path+"[]", value.Index(i), commit, f)
		}
	case value.Kind() == reflect.Map:
		for _, key := range value.MapKeys() {
			element := reflect.New(value.Type().Elem()).Elem()
			element.Set(value.MapIndex(key))
			visitLeaves(path+"{}", element, func() { value.SetMapIndex(key, element); commit() }, f)
		}
	default:
		f(path, value, commit)
	}
}

func joinPath(path string, structField reflect.StructField) string {
	name, _, _ := strings.Cut(structField.Tag.Get("json"), ",")
	if name == "" {
		return path
	}
	return path + "." + name
}

// LeafPaths returns the paths of all leaf fields of a type, sorted: dotted JSON names below path, with [] for lists and {}
// for maps.
func LeafPaths(path string, t reflect.Type) []string {
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		return []string{path}
	case t.Kind() == reflect.Pointer:
		return LeafPaths(path, t.Elem())
	case t.Kind() == reflect.Slice:
		return LeafPaths(path+"[]", t.Elem())
	case t.Kind() == reflect.Map:
		return LeafPaths(path+"{}", t.Elem())
	case t.Kind() == reflect.Struct:
		var out []string
		for i := range t.NumField() {
			out = append(out, LeafPaths(joinPath(path, t.Field(i)), t.Field(i).Type)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	default:
		return []string{path}
	}
}

// RequireAllEffective fails for every leaf in all that is neither in effective nor in readElsewhere, the fields that other
// code reads. An entry of readElsewhere that ends in a dot covers all fields below it. It also fails for an entry that
// matches no leaf.
func RequireAllEffective(t *testing.T, all []string, effective map[string]bool, readElsewhere map[string]string) {
	t.Helper()
	used := map[string]bool{}
	for _, path := range all {
		entry := ""
		for known := range readElsewhere {
			if known == path || strings.HasSuffix(known, ".") && strings.HasPrefix(path, known) {
				entry = known
			}
		}
		used[entry] = true
		if !effective[path] && entry == "" {
			t.Errorf("%s changes nothing. Plan it, refuse it by name, or add it to the table with its reader. A golden case has to set it.", path)
		}
	}
	for known := range readElsewhere {
		if !used[known] {
			t.Errorf("%s is in the table, but it is not a field", known)
		}
	}
}

// RequireRefusals fails unless errs has one error per entry of want, in this order, and no others. An entry consists of
// fragments of the message with " ... " between them.
func RequireRefusals(t *testing.T, reason string, errs field.ErrorList, want []string) {
	t.Helper()
	if len(errs) != len(want) {
		t.Fatalf("%s: got %d refusals, want %d: %v", reason, len(errs), len(want), errs)
	}
	for i, err := range errs {
		for _, fragment := range strings.Split(want[i], " ... ") {
			if !strings.Contains(err.Error(), fragment) {
				t.Errorf("%s: got %q, want %q in it", reason, err, fragment)
			}
		}
	}
}

// NewTags returns tags with the names n0, n1 and so on.
func NewTags(count int) map[string]string {
	tags := map[string]string{}
	for i := range count {
		tags[fmt.Sprintf("n%d", i)] = ""
	}
	return tags
}
