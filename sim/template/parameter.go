package template

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Parameter is one that the template declares.
type Parameter struct {
	Name   string
	Type   string // as a deployment shows it: "String", "SecureString"
	Secure bool   // readers of the deployment do not see the value

	value any
	known bool
}

// Value returns the value that the deployment has for it.
func (p *Parameter) Value() any { return p.value }

// Parameters returns those of the template, by name.
func (t *Template) Parameters() []*Parameter { return t.parameters }

func (t *Template) findParameter(name string) *Parameter {
	for _, p := range t.parameters {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// kind is a type of parameters and outputs.
type kind struct {
	name   string
	secure bool
	has    func(v any) bool
}

func isOf[T any](v any) bool { _, is := v.(T); return is }

func isWholeNumber(v any) bool { n, is := v.(float64); return is && n == math.Trunc(n) }

var kinds = map[string]kind{
	"string":       {"String", false, isOf[string]},
	"securestring": {"SecureString", true, isOf[string]},
	"int":          {"Int", false, isWholeNumber},
	"bool":         {"Bool", false, isOf[bool]},
	"object":       {"Object", false, isOf[map[string]any]},
	"secureobject": {"SecureObject", true, isOf[map[string]any]},
	"array":        {"Array", false, isOf[[]any]},
}

// jsonName returns Azure's name of a value's JSON type.
func jsonName(v any) string {
	switch v.(type) {
	case nil:
		return "Null"
	case string:
		return "String"
	case bool:
		return "Boolean"
	case map[string]any:
		return "Object"
	case []any:
		return "Array"
	}
	if isWholeNumber(v) {
		return "Integer"
	}
	return "Float"
}

// readParameters checks the parameters that are given, and fills in the defaults of the others.
func (t *Template) readParameters(declared, given map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d, _ := declared[name].(map[string]any)
		written, _ := d["type"].(string)
		k, is := kinds[strings.ToLower(written)]
		if !is {
			return newRefusal("The template parameter '%s' at line '1' and column '1' is not valid: the type '%s' is not one of the allowed types. Please see https://aka.ms/arm-syntax-parameters for usage details.", name, written)
		}
		t.parameters = append(t.parameters, &Parameter{Name: name, Type: k.name, Secure: k.secure})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := t.findParameter(name)
		if p == nil {
			return newRefusal("The template parameters '%s' in the parameters file are not valid; they are not present in the original template and can therefore not be provided at deployment time. The only supported parameters for this template are '%s'. Please see https://aka.ms/arm-pass-parameter-values for usage details.", name, strings.Join(slices.Sorted(maps.Keys(declared)), ", "))
		}
		g, is := given[name].(map[string]any)
		if !is {
			return newRefusal("The template parameter '%s' is not valid: it has no 'value'. Please see https://aka.ms/arm-pass-parameter-values for usage details.", name)
		}
		if g["reference"] != nil {
			return newRefusal("The element 'reference' of the template parameter '%s' is not served by the simulator.", name)
		}
		if v, has := g["value"]; has && v != nil {
			p.value, p.known = v, true
		}
	}
	for _, p := range t.parameters {
		d := declared[p.Name].(map[string]any)
		if !p.known {
			v, has := d["defaultValue"]
			if !has {
				return newRefusal("The value for the template parameter '%s' at line '1' and column '1' is not provided. Please see https://aka.ms/arm-create-parameter-file for usage details.", p.Name)
			}
			v, err := t.newPlainScope().evaluateValue(v)
			if err != nil {
				return invalidPart("parameter", p.Name, err)
			}
			p.value, p.known = v, true
		}
		if err := p.checkValue(d); err != nil {
			return err
		}
	}
	return nil
}

// checkValue checks the value against the declaration.
func (p *Parameter) checkValue(declared map[string]any) error {
	k := kinds[strings.ToLower(p.Type)]
	if !k.has(p.value) {
		return newRefusal("Template parameter JToken type is not valid. Expected '%s'. Actual '%s'. Please see https://aka.ms/arm-create-parameter-file for usage details.", strings.TrimPrefix(strings.Replace(k.name, "Int", "Integer", 1), "Secure"), jsonName(p.value))
	}
	shown := "The provided value"
	if raw, err := json.Marshal(p.value); err == nil && !p.Secure {
		shown += " '" + strings.Trim(string(raw), `"`) + "'"
	}
	if allowed, is := declared["allowedValues"].([]any); is &&
		!slices.ContainsFunc(allowed, func(v any) bool { return reflect.DeepEqual(v, p.value) }) {
		raw, _ := json.Marshal(allowed)
		return newRefusal("%s for the template parameter '%s' is not valid. The value is not part of the allowed value(s): '%s'.", shown, p.Name,
			strings.ReplaceAll(strings.Trim(string(raw), "[]"), `"`, ""))
	}
	size, low, high := 0.0, "minLength", "maxLength"
	switch v := p.value.(type) {
	case string:
		size = float64(utf8.RuneCountInString(v))
	case []any:
		size = float64(len(v))
	case float64:
		size, low, high = v, "minValue", "maxValue"
	default:
		return nil
	}
	least, _ := declared[low].(float64)
	most, limited := declared[high].(float64)
	if _, has := declared[low]; has && size < least || limited && size > most {
		return newRefusal("%s for the template parameter '%s' is not valid: its '%s' is '%v' and its '%s' is '%v'. Please see https://aka.ms/arm-syntax-parameters for usage details.", shown, p.Name, low, declared[low], high, declared[high])
	}
	return nil
}
