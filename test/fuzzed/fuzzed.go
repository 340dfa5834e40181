// Package fuzzed makes objects for fuzz targets: good ones that are changed in one place.
//
// Its promise: an object that Object returns is one that the API server's schema takes, so a target that fails on it has
// found something that a user can do. The rules in CEL are not looked at. The seeds reach every field of a kind's schema, with
// values of its type that are unusual.
package fuzzed

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// Kind is a kind of this provider.
type Kind struct {
	schema    apiextensionsv1.JSONSchemaProps
	validator validation.SchemaValidator
}

// LoadKind reads a kind by the plural name of its CRD. root is the way to the repository's folder.
func LoadKind(tb testing.TB, root, plural string) *Kind {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", "infrastructure.cluster.x-k8s.io_"+plural+".yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		tb.Fatal(err)
	}
	k := &Kind{schema: *crd.Spec.Versions[0].Schema.OpenAPIV3Schema}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&k.schema, &internal, nil); err != nil {
		tb.Fatal(err)
	}
	if k.validator, _, err = validation.NewSchemaValidator(&internal); err != nil {
		tb.Fatal(err)
	}
	return k
}

// Edit is a change: the value at a dotted path, where a number is an item of a list, becomes the JSON value.
type Edit struct{ Path, Value string }

// values are unusual ones by the type of the schema.
var values = map[string][]string{
	"string": {`""`, `" "`, `"a/b"`, `"/subscriptions//resourceGroups/"`, `"0.0.0.0/0"`, `"::/0"`, `"` + strings.Repeat("x", 300) + `"`,
		`"\u0000"`},
	"integer": {`0`, `-1`, `2147483647`}, "number": {`0`, `-1`}, "boolean": {`true`, `false`}, "array": {`[]`, `[{}]`, `[""]`, `[{},{}]`},
	"object": {`{}`, `{"":""}`},
}

// ListEdits returns those that reach every field below the spec with every unusual value.
func (k *Kind) ListEdits() []Edit {
	var out []Edit
	var walk func(path string, schema apiextensionsv1.JSONSchemaProps)
	walk = func(path string, schema apiextensionsv1.JSONSchemaProps) {
		for _, value := range values[schema.Type] {
			out = append(out, Edit{path, value})
		}
		if schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil {
			walk(path+".0", *schema.Items.Schema)
		}
		for _, name := range propertyNames(schema.Properties) {
			walk(path+"."+name, schema.Properties[name])
		}
	}
	walk("spec", k.schema.Properties["spec"])
	return out
}

// Fuzzing tells that inputs are made up, and not only the seeds tried.
func Fuzzing() bool {
	fuzzing := flag.Lookup("test.fuzz")
	return fuzzing != nil && fuzzing.Value.String() != ""
}

// SelectSeeds are the edits to begin with: all of them where they are the test, and one in forty before others are made up of them. Each is
// run first then, three to ten a second in binaries of this size, and the time would be over before anything is made up.
func SelectSeeds(edits []Edit) []Edit {
	if !Fuzzing() {
		return edits
	}
	var out []Edit
	for i := 0; i < len(edits); i += 40 {
		out = append(out, edits[i])
	}
	return out
}

func propertyNames(properties map[string]apiextensionsv1.JSONSchemaProps) []string {
	var out []string
	for name := range properties {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// ApplyEdit returns the document with the change, as JSON; ok is false when the schema refuses it or there is no such place.
func (k *Kind) ApplyEdit(document []byte, edit Edit) (object []byte, ok bool) {
	var content, value any
	if yaml.Unmarshal(document, &content) != nil || json.Unmarshal([]byte(edit.Value), &value) != nil {
		return nil, false
	}
	content, ok = setAtPath(content, strings.Split(edit.Path, "."), value)
	if !ok || len(validation.ValidateCustomResource(nil, content, k.validator)) > 0 {
		return nil, false
	}
	object, err := json.Marshal(content)
	return object, err == nil
}

// deepest is how many parts a path has at most.
const deepest = 30

// setAtPath returns the content with a value at the path. What is missing on the way is made.
func setAtPath(content any, path []string, value any) (any, bool) {
	if len(path) == 0 {
		return value, true
	}
	if len(path) > deepest {
		return nil, false
	}
	if list, ok := content.([]any); ok || path[0] == "0" && content == nil {
		if path[0] != "0" {
			return nil, false
		}
		var first any
		if len(list) > 0 {
			first = list[0]
		}
		below, ok := setAtPath(first, path[1:], value)
		return append([]any{below}, list[min(1, len(list)):]...), ok
	}
	object, isObject := content.(map[string]any)
	if content == nil {
		object, isObject = map[string]any{}, true
	}
	if !isObject {
		return nil, false
	}
	below, ok := setAtPath(object[path[0]], path[1:], value)
	object[path[0]] = below
	return object, ok
}
