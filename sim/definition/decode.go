package definition

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Decode brings a body into the form that Json.NET gives it, in which Compute and the network provider are written: names of members and
// values of enumerations are found in any case, and numbers and booleans in strings, too. The Azure CLI relies on it: the templates of
// az vm create and az vmss create have "diskSizeGb", "frontendPortRangeEnd": "50119", "primary": "true" and "mode": "manual".
// https://www.newtonsoft.com/json/help/html/SerializationGuide.htm
func Decode(resourceType, version string, body map[string]any) {
	if d, root, ok := findDefinition(resourceType, version); ok {
		d.decodeValue(root, body, true)
	}
}

func (d document) decodeValue(s schema, value any, top bool) any {
	switch value := value.(type) {
	case string:
		return decodeText(s, value)
	case []any:
		if s.Items != nil {
			for i, item := range value {
				value[i] = d.decodeValue(*s.Items, item, false)
			}
		}
	case map[string]any:
		if s.Type == "map" && s.Values != nil {
			for key, entry := range value {
				value[key] = d.decodeValue(*s.Values, entry, false)
			}
			return value
		}
		properties, _ := d.objectMembers(d.Objects[s.Object], value)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			name, s, known := findProperty(properties, key)
			if !known {
				continue
			}
			inner := d.decodeValue(s, value[key], false)
			if _, both := value[name]; top || both {
				name = key
			}
			delete(value, key)
			value[name] = inner
		}
	}
	return value
}

// decodeText returns the value of a string where a number, a boolean or one of some values is defined.
func decodeText(s schema, text string) any {
	switch s.Type {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return float64(n)
		}
	case "boolean":
		switch strings.ToLower(text) {
		case "true":
			return true
		case "false":
			return false
		}
	case "string":
		for _, one := range s.Enum {
			if strings.EqualFold(one, text) {
				return one
			}
		}
	}
	return text
}
