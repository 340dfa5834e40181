// Package fieldtest helps tests of plans to show that no field of a spec is ignored, and that what is refused is refused by
// name.
package fieldtest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// VaryLeaves changes every leaf that is set below value, one at a time, and notes in counts the paths where effect tells the
// difference. value must be settable; it is as it was afterwards.
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

// visitLeaves calls f for every leaf below value. commit puts a changed leaf in place: elements of maps are copies.
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

// LeafPaths are the paths of all leaf fields of a type, sorted: dotted JSON names below path, with [] for lists and {} for maps.
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

// RequireAllEffective fails for every leaf, of all, that counts does not have and that elsewhere, which tells who else reads a field,
// does not name; an entry of elsewhere that ends in a dot is for all below. An entry that names no leaf fails, too.
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
			t.Errorf("%s changes nothing: plan it, refuse it by name, or say in the table who reads it (and give a golden case that sets it)", path)
		}
	}
	for known := range readElsewhere {
		if !used[known] {
			t.Errorf("%s is in the table and is no field", known)
		}
	}
}

// RequireRefusals fails unless there is a refusal for every want, in its order, and none besides. A want is the fragments that the
// refusal must have, with " ... " between them.
func RequireRefusals(t *testing.T, reason string, errs field.ErrorList, want []string) {
	t.Helper()
	if len(errs) != len(want) {
		t.Fatalf("%s: got %d refusals, want %d: %v", reason, len(errs), len(want), errs)
	}
	for i, err := range errs {
		for _, fragment := range strings.Split(want[i], " ... ") {
			if !strings.Contains(err.Error(), fragment) {
				t.Errorf("%s: got %q, want it to say %q", reason, err, fragment)
			}
		}
	}
}
