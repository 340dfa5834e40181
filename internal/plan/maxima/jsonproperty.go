package maxima

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// unwrapValue is a value without what points to it, and one that marshals itself as what that gives; none for nothing.
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

// fieldIndexes are where the properties of a struct are, by their names in JSON.
var fieldIndexes sync.Map // of map[string][]int by reflect.Type

// jsonProperty is what an object has under a name in JSON; none when it has nothing there.
func jsonProperty(at reflect.Value, name string) reflect.Value {
	switch at.Kind() {
	case reflect.Map:
		return at.MapIndex(reflect.ValueOf(name).Convert(at.Type().Key()))
	case reflect.Struct:
		index, ok := jsonFields(at.Type())[name]
		if !ok {
			return reflect.Value{}
		}
		// An embedded pointer that is nil has nothing.
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
		// What is nearer hides what is embedded.
		if before, ok := out[name]; !ok || len(f.Index) < len(before) {
			out[name] = f.Index
		}
	}
	fieldIndexes.Store(of, out)
	return out
}
