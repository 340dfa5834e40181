package transitions_test

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
)

// hints are values by the path of a field, where the schema does not tell which mean something. A field with none is never drawn.
type hints map[string][]any

// byPattern are values for fields whose schema has a pattern.
var byPattern = map[string][]any{
	`^(\d+)$`: {"5", "50"}, `^(\d+)m$`: {"10m", "20m", "10s"}, `^(\d+)s$`: {"10s", "20s"},
}

// drawnProperties returns those of an object that are drawn, in their order.
func (h hints) drawnProperties(path string, schema apiextensionsv1.JSONSchemaProps) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Properties)), func(name string) bool {
		values, has := h[joinPath(path, name)]
		return has && len(values) == 0
	})
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// editProperty changes one property of an object, at any depth.
func (h hints) editProperty(t *rapid.T, path string, schema apiextensionsv1.JSONSchemaProps, object map[string]any) {
	// What has much below it comes often.
	var names []string
	for _, name := range h.drawnProperties(path, schema) {
		names = append(names, slices.Repeat([]string{name}, 1+len(schema.Properties[name].Properties))...)
	}
	name := rapid.SampledFrom(names).Draw(t, "property")
	path = joinPath(path, name)
	property := schema.Properties[name]
	value, set := object[name]
	if of, is := value.(map[string]any); is && len(property.Properties) > 0 && rapid.Bool().Draw(t, "in "+path) {
		h.editProperty(t, path, property, of)
		return
	}
	if list, is := value.([]any); is && len(list) > 0 && len(property.Items.Schema.Properties) > 0 && rapid.Bool().Draw(t, "in "+path) {
		object[name] = h.editList(t, path+"[]", *property.Items.Schema, list)
		return
	}
	if set && rapid.IntRange(0, 2).Draw(t, "without "+path) == 0 {
		delete(object, name)
		return
	}
	object[name] = h.drawValue(t, path, property)
}

// editList changes, adds or removes one item.
func (h hints) editList(t *rapid.T, path string, schema apiextensionsv1.JSONSchemaProps, list []any) []any {
	at := rapid.IntRange(0, len(list)).Draw(t, "item of "+path)
	if at == len(list) {
		return append(list, h.drawValue(t, path, schema))
	}
	if rapid.IntRange(0, 2).Draw(t, "without item of "+path) == 0 {
		return slices.Delete(list, at, at+1)
	}
	h.editProperty(t, path, schema, list[at].(map[string]any))
	return list
}

// drawValue returns a value of a schema.
func (h hints) drawValue(t *rapid.T, path string, schema apiextensionsv1.JSONSchemaProps) any {
	if values := h[path]; len(values) > 0 {
		return rapid.SampledFrom(values).Draw(t, path)
	}
	if len(schema.Enum) > 0 {
		var values []any
		for _, value := range schema.Enum {
			values = append(values, decodeJSON(value.Raw))
		}
		return rapid.SampledFrom(values).Draw(t, path)
	}
	switch {
	case schema.XIntOrString:
		return rapid.SampledFrom([]any{"1", "500m", int64(2)}).Draw(t, path)
	case schema.Type == "boolean":
		return rapid.Bool().Draw(t, path)
	case schema.Type == "integer":
		return int64(rapid.SampledFrom(integerCandidates(schema)).Draw(t, path))
	case schema.Type == "array":
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "items of "+path) {
			list = append(list, h.drawValue(t, path+"[]", *schema.Items.Schema))
		}
		return list
	case schema.AdditionalProperties != nil:
		out := map[string]any{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID).Draw(t, "keys of "+path) {
			out[name] = rapid.SampledFrom([]any{"x", "y", ""}).Draw(t, joinPath(path, name))
		}
		return out
	case schema.Type == "object":
		out := map[string]any{}
		for _, name := range h.drawnProperties(path, schema) {
			if slices.Contains(schema.Required, name) || rapid.Bool().Draw(t, "with "+joinPath(path, name)) {
				out[name] = h.drawValue(t, joinPath(path, name), schema.Properties[name])
			}
		}
		return out
	}
	if values := byPattern[schema.Pattern]; len(values) > 0 {
		return rapid.SampledFrom(values).Draw(t, path)
	}
	return rapid.SampledFrom([]any{"a", "b", ""}).Draw(t, path)
}

// integerCandidates returns the ends of a range, values between them, and values outside of it.
func integerCandidates(schema apiextensionsv1.JSONSchemaProps) []int {
	low, high := 0, 100
	if schema.Minimum != nil {
		low = int(*schema.Minimum)
	}
	if schema.Maximum != nil {
		high = int(*schema.Maximum)
	}
	return []int{(low + high) / 2, low, high, low + 1, high + 1}
}
