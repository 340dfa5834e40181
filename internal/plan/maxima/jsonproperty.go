package maxima

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// unwrapValue dereferences pointers and interfaces, and replaces a value that marshals itself by its decoded JSON. It
// returns the zero Value for nil.
func unwrapValue(at reflect.Value) reflect.Value {
	for at.IsValid() {
		if at.Kind() == reflect.Pointer || at.Kind() == reflect.Interface {
			at = at.Elem()
			continue
		}
		if !at.Type().Implements(marshaler) && !reflect.PointerTo(at.Type()).Implements(marshaler) {
			return at
		}
		var decoded any
		raw, err := json.Marshal(at.Interface())
		if err != nil || json.Unmarshal(raw, &decoded) != nil {
			return reflect.Value{}
		}
		at = reflect.ValueOf(decoded)
	}
	return at
}

// fieldIndexes caches the indexes of a struct's fields by their JSON names.
var fieldIndexes sync.Map // of map[string][]int by reflect.Type

// jsonProperty returns the property of an object with this JSON name, the zero Value if it has none.
func jsonProperty(at reflect.Value, name string) reflect.Value {
	switch at.Kind() {
	case reflect.Map:
		return at.MapIndex(reflect.ValueOf(name).Convert(at.Type().Key()))
	case reflect.Struct:
		index, ok := jsonFields(at.Type())[name]
		if !ok {
			return reflect.Value{}
		}
		// A nil embedded pointer has no fields.
		found, err := at.FieldByIndexErr(index)
		if err != nil {
			return reflect.Value{}
		}
		return found
	}
	return reflect.Value{}
}

func jsonFields(of reflect.Type) map[string][]int {
	if known, ok := fieldIndexes.Load(of); ok {
		return known.(map[string][]int)
	}
	out := map[string][]int{}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		// A field hides embedded fields of the same name.
		if before, ok := out[name]; !ok || len(f.Index) < len(before) {
			out[name] = f.Index
		}
	}
	fieldIndexes.Store(of, out)
	return out
}
