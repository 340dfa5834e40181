package recordings

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// asoProperty is a value that ASO's spec has, with an example of it.
type asoProperty struct {
	// path is dotted, "[]" stands for items and "*" for entries.
	path string
	// arm is Azure's name of a reference, as ASO's types note it.
	arm string
	// example is a value as ASO's types want it.
	example any
	// enum are the values that ASO allows.
	enum []string
}

// asoSpec are the values of a kind's spec in one version of a group of ASO's.
type asoSpec struct {
	group, version, kind string
	properties           []asoProperty
}

const exampleID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/things/t"

// examplesByType are values as ASO's types want them.
var examplesByType = map[string]any{
	"string": "aGVsbG8=", "int": 1, "float64": 1.5, "bool": true,
	"reference": map[string]any{"armId": exampleID},
	"secret":    map[string]any{"name": "n", "key": "k"},
	"object":    map[string]any{"name": "n"},
}

// readASOSpecs reads the specs of all kinds in all versions of all groups.
func readASOSpecs(t *testing.T) []asoSpec {
	t.Helper()
	var out []asoSpec
	for _, file := range listFiles(t, "types") {
		for _, raw := range readLines(t, file) {
			var line struct {
				Version, Kind string
				Properties    []struct {
					Path, Type, ARM string
					Enum            []string
				}
			}
			if err := json.Unmarshal(raw, &line); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			spec := asoSpec{group: strings.TrimSuffix(filepath.Base(file), ".jsonl"), version: line.Version, kind: line.Kind}
			for _, p := range line.Properties {
				example, ok := examplesByType[p.Type]
				if !ok {
					t.Fatalf("%s: %s has type %q, of which there is no example", file, p.Path, p.Type)
				}
				if len(p.Enum) > 0 {
					example = p.Enum[0]
				}
				spec.properties = append(spec.properties, asoProperty{path: p.Path, arm: p.ARM, example: example, enum: p.Enum})
			}
			out = append(out, spec)
		}
	}
	return out
}

// document returns the spec that has only the value.
func (p asoProperty) document() map[string]any {
	steps := strings.Split(p.path, ".")
	value := p.example
	for i := len(steps) - 1; i >= 0; i-- {
		name, isList := strings.CutSuffix(steps[i], "[]")
		if isList {
			value = []any{value}
		}
		if name == "*" {
			name = "entry.with/dot"
		}
		value = map[string]any{name: value}
	}
	return map[string]any{"spec": value}
}
