package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a template with the parameters of one deployment.
type Template struct {
	// Resources are the resources to deploy, in the order in which they are written; copy loops are unrolled.
	Resources []*Resource

	env        Environment
	parameters []*Parameter
	variables  map[string]any
	outputs    map[string]any
}

// Parse reads a template and plans its deployment: parameters are checked, and names, types and dependencies are known afterwards.
// given are the parameters as a deployment has them, {"name": {"value": ...}}.
func Parse(document, given map[string]any, env Environment) (*Template, error) {
	t := &Template{env: env}
	for _, key := range slices.Sorted(maps.Keys(document)) {
		switch key {
		case "$schema", "contentVersion", "parameters", "variables", "resources", "outputs", "metadata":
		case "functions", "definitions", "imports", "languageVersion", "apiProfile":
			if !isEmpty(document[key]) {
				return nil, newRefusal("The element '%s' of templates is not served by the simulator.", key)
			}
		default:
			return nil, newRefusal("Could not find member '%s' on object of type 'Template'. Path '%s', line 1, position 1.", key, key)
		}
	}
	schema, _ := document["$schema"].(string)
	if !strings.HasSuffix(strings.TrimSuffix(schema, "#"), "/deploymentTemplate.json") {
		return nil, newRefusal("The template property '$schema' at line '1' and column '1' is not valid: '%s' is not the schema of a deployment to a resource group. Please see https://aka.ms/arm-syntax for usage details.", schema)
	}
	if version, _ := document["contentVersion"].(string); version == "" {
		return nil, newRefusal("The template property 'contentVersion' is missing. Please see https://aka.ms/arm-syntax for usage details.")
	}
	var err error
	if t.variables, err = objectSection(document, "variables"); err != nil {
		return nil, err
	}
	if t.outputs, err = objectSection(document, "outputs"); err != nil {
		return nil, err
	}
	declared, err := objectSection(document, "parameters")
	if err != nil {
		return nil, err
	}
	if err := t.readParameters(declared, given); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(t.variables)) {
		if _, err := variables(t.newPlainScope(), []any{name}); err != nil {
			return nil, invalidPart("variable", name, err)
		}
	}
	list, is := document["resources"].([]any)
	if !is {
		return nil, newRefusal("The template property 'resources' is not an array. Please see https://aka.ms/arm-syntax for usage details.")
	}
	if err := t.readResources(list); err != nil {
		return nil, err
	}
	_, err = t.evaluateOutputs(nil)
	return t, err
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func objectSection(document map[string]any, key string) (map[string]any, error) {
	if document[key] == nil {
		return map[string]any{}, nil
	}
	o, is := document[key].(map[string]any)
	if !is {
		return nil, newRefusal("The template property '%s' is not an object. Please see https://aka.ms/arm-syntax for usage details.", key)
	}
	return o, nil
}

// newPlainScope returns the scope of expressions that may not refer to resources.
func (t *Template) newPlainScope() *scope { return &scope{t: t, index: -1, noRefs: true} }

// invalidPart adds the part of the template to an error in it.
func invalidPart(part, name string, err error) error {
	return newRefusal("The template %s '%s' at line '1' and column '1' is not valid: %s", part, name, err)
}

// Output is one of the output values of a deployment.
type Output struct {
	Type  string
	Value any
}

// Outputs evaluates the outputs, when everything is deployed.
func (t *Template) Outputs() (map[string]Output, error) { return t.evaluateOutputs(t.env.Reference) }

func (t *Template) evaluateOutputs(ask func(id, apiVersion string) (map[string]any, error)) (map[string]Output, error) {
	out := map[string]Output{}
	for _, name := range slices.Sorted(maps.Keys(t.outputs)) {
		o, is := t.outputs[name].(map[string]any)
		if !is {
			return nil, invalidPart("output", name, fmt.Errorf("it is not an object"))
		}
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if !slices.Contains([]string{"type", "value", "metadata"}, key) {
				return nil, invalidPart("output", name, fmt.Errorf("the element '%s' of outputs is not served by the simulator", key))
			}
		}
		written, _ := o["type"].(string)
		kind, known := kinds[strings.ToLower(written)]
		if !known {
			return nil, invalidPart("output", name, fmt.Errorf("the type '%s' is not one of the allowed types", written))
		}
		s := &scope{t: t, index: -1, reference: askingOrNil(ask)}
		v, err := s.evaluateValue(o["value"])
		if err != nil {
			return nil, invalidPart("output", name, err)
		}
		if _, open := v.(unknown); !open && !kind.has(v) {
			return nil, invalidPart("output", name, fmt.Errorf("its value is not of type '%s'", kind.name))
		}
		out[name] = Output{Type: kind.name, Value: v}
	}
	return out, nil
}

// askingOrNil has nil for who is not to ask.
func askingOrNil(ask func(id, apiVersion string) (map[string]any, error)) func(id, apiVersion string) (any, error) {
	if ask == nil {
		return nil
	}
	return func(id, apiVersion string) (any, error) { return ask(id, apiVersion) }
}
