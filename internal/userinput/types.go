package userinput

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxErrors bounds the errors for one document.
const maxErrors = 20

// finder collects the fields with wrong types, and those that types do not have.
type finder struct {
	errs    field.ErrorList
	unknown []UnknownField
}

// UnknownField is a field that a type does not have.
type UnknownField struct {
	Path *field.Path
	// Name is the last part of the path, and Known are the names of the fields that can be in its place.
	Name  string
	Known []string
}

func (f *finder) report(path *field.Path, value any, want string) {
	if path == nil {
		path = field.NewPath("document") // The document itself.
	}
	if len(f.errs) < maxErrors {
		f.errs = append(f.errs, field.TypeInvalid(path, typeName(value), "must be "+want))
	}
}

// ofType is the text for a type of JSON.
func ofType(name string) string { return "of type " + name }

// typeName returns the type of a decoded value, as schemas name it.
func typeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if _, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return "integer"
		}
	case int64:
		return "integer"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

// described are the types that decode themselves.
var described = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "a quantity, for example 10Gi",
	reflect.TypeFor[metav1.Duration]():    "a duration, for example 1h30m",
	reflect.TypeFor[metav1.Time]():        "a time, for example 2026-01-31T12:00:00Z",
	reflect.TypeFor[metav1.MicroTime]():   "a time, for example 2026-01-31T12:00:00.000000Z",
	reflect.TypeFor[intstr.IntOrString](): "of type integer or string",
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// check reports value, and the values in it, that a Go type cannot have.
func (f *finder) check(value any, of reflect.Type, path *field.Path) {
	for of.Kind() == reflect.Pointer && !of.Implements(unmarshaler) {
		of = of.Elem()
	}
	if value == nil {
		return // It counts as an absent value.
	}
	if of.Implements(unmarshaler) || reflect.PointerTo(of).Implements(unmarshaler) {
		f.checkUnmarshaler(value, of, path)
		return
	}
	switch of.Kind() {
	case reflect.Struct:
		object, is := value.(map[string]any)
		if !is {
			f.report(path, value, ofType("object"))
			return
		}
		f.checkFields(object, of, path)
	case reflect.Map:
		object, is := value.(map[string]any)
		if !is {
			f.report(path, value, ofType("object"))
			return
		}
		for _, key := range sortedKeys(object) {
			f.check(object[key], of.Elem(), path.Key(key))
		}
	case reflect.Slice, reflect.Array:
		f.checkList(value, of, path)
	case reflect.String:
		if _, is := value.(string); !is {
			f.report(path, value, ofType("string"))
		}
	case reflect.Bool:
		if _, is := value.(bool); !is {
			f.report(path, value, ofType("boolean"))
		}
	case reflect.Float32, reflect.Float64:
		if name := typeName(value); name != "integer" && name != "number" {
			f.report(path, value, ofType("number"))
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64:
		f.checkInteger(value, of, path)
	}
}

// checkUnmarshaler has a type decode the value itself.
func (f *finder) checkUnmarshaler(value any, of reflect.Type, path *field.Path) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, reflect.New(of).Interface())
	}
	if err == nil {
		return
	}
	want := described[of]
	if want == "" {
		want = "a value that this field can have"
	}
	f.report(path, value, want)
}

// checkList checks a list. Bytes are a string in base64.
func (f *finder) checkList(value any, of reflect.Type, path *field.Path) {
	if of.Elem().Kind() == reflect.Uint8 {
		text, is := value.(string)
		if _, err := base64.StdEncoding.DecodeString(text); !is || err != nil {
			f.report(path, value, "a string in base64")
		}
		return
	}
	list, is := value.([]any)
	if !is {
		f.report(path, value, ofType("array"))
		return
	}
	for i, element := range list {
		f.check(element, of.Elem(), path.Index(i))
	}
}

// checkInteger checks a whole number and its range.
func (f *finder) checkInteger(value any, of reflect.Type, path *field.Path) {
	number, is := value.(json.Number)
	if !is {
		raw, _ := json.Marshal(value)
		number = json.Number(raw)
	}
	if name := typeName(value); name != "integer" && name != "number" {
		f.report(path, value, ofType("integer"))
		return
	}
	var err error
	if of.Kind() >= reflect.Uint && of.Kind() <= reflect.Uint64 {
		_, err = strconv.ParseUint(number.String(), 10, of.Bits())
	} else {
		_, err = strconv.ParseInt(number.String(), 10, of.Bits())
	}
	if err == nil {
		return
	}
	want := ofType("integer")
	if strings.Trim(number.String(), "-0123456789") == "" {
		want += " and fit in " + strconv.Itoa(of.Bits()) + " bits"
		if of.Kind() >= reflect.Uint {
			want += " without a sign"
		}
	}
	f.report(path, value, want)
}

// checkFields checks the fields of an object. A field in another case has the type of the field, because decoders of Go ignore case, and is
// unknown, because API servers do not.
func (f *finder) checkFields(object map[string]any, of reflect.Type, path *field.Path) {
	fields := jsonFields(of)
	for _, key := range sortedKeys(object) {
		found, known := fields[key]
		if !known {
			if len(f.unknown) < maxErrors {
				f.unknown = append(f.unknown, UnknownField{Path: path.Child(key), Name: key, Known: slices.Sorted(maps.Keys(fields))})
			}
			for name, other := range fields {
				if strings.EqualFold(name, key) {
					found, known = other, true
				}
			}
		}
		if known {
			f.check(object[key], found, path.Child(key))
		}
	}
}

// jsonFields returns the types of the fields of a struct, embedded ones included, by their names in JSON.
func jsonFields(of reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range of.NumField() {
		each := of.Field(i)
		name, options, _ := strings.Cut(each.Tag.Get("json"), ",")
		embedded := each.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case name == "-" || !each.IsExported() && !each.Anonymous:
		case name == "" && (each.Anonymous || strings.Contains(options, "inline")) && embedded.Kind() == reflect.Struct:
			for key, inner := range jsonFields(embedded) {
				if _, has := out[key]; !has {
					out[key] = inner
				}
			}
		default:
			if name == "" {
				name = each.Name
			}
			out[name] = each.Type
		}
	}
	return out
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
