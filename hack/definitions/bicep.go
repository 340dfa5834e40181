package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// bicepType is one entry of a types.json: https://github.com/Azure/bicep-types/blob/main/src/bicep-types/src/types.ts
type bicepType struct {
	Kind string `json:"$type"`
	Name string `json:"name"`

	Value                string                   `json:"value"`
	Sensitive            bool                     `json:"sensitive"`
	Pattern              string                   `json:"pattern"`
	MinLength            *int                     `json:"minLength"`
	MaxLength            *int                     `json:"maxLength"`
	MinValue             *int64                   `json:"minValue"`
	MaxValue             *int64                   `json:"maxValue"`
	Elements             json.RawMessage          `json:"elements"`
	ItemType             reference                `json:"itemType"`
	Body                 reference                `json:"body"`
	Properties           map[string]bicepProperty `json:"properties"`
	BaseProperties       map[string]bicepProperty `json:"baseProperties"`
	AdditionalProperties *reference               `json:"additionalProperties"`
	Discriminator        string                   `json:"discriminator"`
}

type bicepProperty struct {
	Type  reference `json:"type"`
	Flags int       `json:"flags"`
}

// reference is "#/N", the entry with index N.
type reference struct {
	Ref string `json:"$ref"`
}

func (r reference) index() (int, error) {
	number, ok := strings.CutPrefix(r.Ref, "#/")
	if !ok {
		return 0, fmt.Errorf("reference %q does not point into its own file", r.Ref)
	}
	return strconv.Atoi(number)
}

// flags are the names of the bits of a property's flags.
var flags = []string{"required", "readOnly", "writeOnly", "createOnly", "identifier"}

// writer turns entries into shapes and collects the objects that they refer to.
type writer struct {
	types   []bicepType
	objects map[string]map[string]any
	named   map[int]string
}

// distil writes the definitions of the wanted types that files have, one resource or object in a line.
func distil(files [][]byte, provider, version string, wanted map[string]bool) ([]byte, error) {
	w := &writer{objects: map[string]map[string]any{}}
	resources := map[string]map[string]any{}
	for _, raw := range files {
		// References point into their own file. A number distinguishes objects of one name.
		w.types, w.named = nil, map[int]string{}
		if err := json.Unmarshal(raw, &w.types); err != nil {
			return nil, err
		}
		for _, entry := range w.types {
			name, of, _ := strings.Cut(entry.Name, "@")
			if entry.Kind != "ResourceType" || of != version || !wanted[strings.ToLower(name)] {
				continue
			}
			body, err := w.shape(entry.Body)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			resources[name] = body
		}
	}
	if len(resources) == 0 {
		return nil, fmt.Errorf("%s@%s has none of the types %s", provider, version, strings.Join(slices.Sorted(maps.Keys(wanted)), ", "))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"provider\":%q,\"apiVersion\":%q,\n", provider, version)
	if err := lines(&out, "resources", resources); err != nil {
		return nil, err
	}
	out.WriteString(",\n")
	if err := lines(&out, "objects", w.objects); err != nil {
		return nil, err
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}

func lines(out *bytes.Buffer, key string, of map[string]map[string]any) error {
	fmt.Fprintf(out, "%q:{\n", key)
	for i, name := range slices.Sorted(maps.Keys(of)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		value, err := json.Marshal(of[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%q:%s", name, value)
	}
	out.WriteString("\n}")
	return nil
}

// shape returns the shape of the entry that a reference leads to.
func (w *writer) shape(ref reference) (map[string]any, error) {
	index, err := ref.index()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(w.types) {
		return nil, fmt.Errorf("there is no entry %s", ref.Ref)
	}
	entry := w.types[index]
	out := map[string]any{}
	switch entry.Kind {
	case "StringType":
		out["type"] = "string"
		set(out, "minLength", entry.MinLength)
		set(out, "maxLength", entry.MaxLength)
		if entry.Pattern != "" {
			out["pattern"] = entry.Pattern
		}
		if entry.Sensitive {
			out["sensitive"] = true
		}
	case "StringLiteralType":
		out["type"], out["enum"] = "string", []string{entry.Value}
	case "IntegerType":
		out["type"] = "integer"
		set(out, "minimum", entry.MinValue)
		set(out, "maximum", entry.MaxValue)
	case "BooleanType", "AnyType", "NullType":
		out["type"] = strings.ToLower(strings.TrimSuffix(entry.Kind, "Type"))
	case "ArrayType":
		out["type"] = "array"
		if out["items"], err = w.shape(entry.ItemType); err != nil {
			return nil, err
		}
		set(out, "minItems", entry.MinLength)
		set(out, "maxItems", entry.MaxLength)
	case "UnionType":
		return w.union(entry)
	case "ObjectType", "DiscriminatedObjectType":
		if entry.AdditionalProperties != nil && len(entry.Properties) == 0 {
			out["type"] = "map"
			out["values"], err = w.shape(*entry.AdditionalProperties)
			return out, err
		}
		out["object"], err = w.object(index)
		return out, err
	default:
		return nil, fmt.Errorf("entry %s is of the unknown kind %s", ref.Ref, entry.Kind)
	}
	return out, nil
}

func set[T any](out map[string]any, key string, value *T) {
	if value != nil {
		out[key] = *value
	}
}

// union returns an enumeration where all elements are strings, open where any string is one of them.
func (w *writer) union(entry bicepType) (map[string]any, error) {
	var elements []reference
	if err := json.Unmarshal(entry.Elements, &elements); err != nil {
		return nil, err
	}
	var values []string
	var options []map[string]any
	open, only := false, true
	for _, element := range elements {
		option, err := w.shape(element)
		if err != nil {
			return nil, err
		}
		options = append(options, option)
		value, literal := option["enum"].([]string)
		values = append(values, value...)
		open = open || option["type"] == "string" && !literal
		only = only && option["type"] == "string"
	}
	if !only {
		return map[string]any{"anyOf": options}, nil
	}
	out := map[string]any{"type": "string", "enum": values}
	if open {
		out["open"] = true
	}
	return out, nil
}

// object writes an object, once, and returns its name.
func (w *writer) object(index int) (string, error) {
	if name, ok := w.named[index]; ok {
		return name, nil
	}
	entry := w.types[index]
	name := entry.Name
	for n := 2; w.objects[name] != nil; n++ {
		name = fmt.Sprintf("%s%d", entry.Name, n)
	}
	w.named[index] = name
	out := map[string]any{}
	// Objects refer to themselves, so the name is taken before the properties are looked at.
	w.objects[name] = out
	properties := map[string]any{}
	for _, from := range []map[string]bicepProperty{entry.Properties, entry.BaseProperties} {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			shape, err := w.shape(from[key].Type)
			if err != nil {
				return "", fmt.Errorf("%s.%s: %w", entry.Name, key, err)
			}
			if names := flagNames(from[key].Flags); len(names) > 0 {
				shape["flags"] = names
			}
			properties[key] = shape
		}
	}
	out["properties"] = properties
	if entry.AdditionalProperties != nil {
		values, err := w.shape(*entry.AdditionalProperties)
		if err != nil {
			return "", err
		}
		out["values"] = values
	}
	if entry.Discriminator == "" {
		return name, nil
	}
	var elements map[string]reference
	if err := json.Unmarshal(entry.Elements, &elements); err != nil {
		return "", err
	}
	variants := map[string]any{}
	for _, value := range slices.Sorted(maps.Keys(elements)) {
		variant, err := w.shape(elements[value])
		if err != nil {
			return "", fmt.Errorf("%s, variant %s: %w", entry.Name, value, err)
		}
		variants[value] = variant
	}
	out["discriminator"], out["variants"] = entry.Discriminator, variants
	return name, nil
}

func flagNames(bits int) []string {
	var out []string
	for i, name := range flags {
		if bits&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}
