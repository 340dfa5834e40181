package aso_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

const exampleID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/things/t"

// TestRoundTrip spells every property of every definition in ASO's spelling, with a resource ID as the value of each text, and
// translates it back: the body is the same.
func TestRoundTrip(t *testing.T) {
	properties, references := 0, 0
	for _, resourceType := range schema.ResourceTypes() {
		for _, version := range schema.Versions(resourceType) {
			definition, _ := schema.LookupDefinition(resourceType, version)
			whole := map[string]any{}
			definition.WalkProperties(func(path string, shape schema.Shape) {
				if shape.Object != "" || shape.Type == "array" || shape.Type == "map" {
					return // Objects are set with their properties.
				}
				properties++
				body := newBody(path, exampleValue(shape))
				whole = mergeValues(whole, body).(map[string]any)
				spec := aso.SpellSpec(definition, body)
				if strings.Contains(fmt.Sprint(spec), "armId") {
					references++
				}
				if got := translateSpec(definition, spec); !cmp.Equal(body, got) {
					t.Errorf("%s@%s: %s is spelt %v, which is translated to %v", resourceType, version, path, spec, got)
				}
			})
			if got := translateSpec(definition, aso.SpellSpec(definition, whole)); !cmp.Equal(whole, got) {
				t.Errorf("%s@%s, all values at once (-want +got):\n%s", resourceType, version, cmp.Diff(whole, got))
			}
		}
	}
	if properties < 5_000 || references < 500 {
		t.Errorf("only %d properties and %d references", properties, references)
	}
}

// translateSpec returns the body of a spec. Errors are left out, because one value does not make a body.
func translateSpec(definition schema.Definition, spec map[string]any) map[string]any {
	resolve := func(aso.ObjectRef, *field.Path) (arm.ID, string) { return "", "" }
	body, _ := aso.TranslateSpec(aso.Spec{Path: field.NewPath("spec"), Fields: spec}, definition, nil, resolve)
	return body.Properties
}

func exampleValue(shape schema.Shape) any {
	switch shape.Type {
	case "integer":
		return float64(1)
	case "boolean":
		return true
	}
	return exampleID
}

// newBody returns the body with one value.
func newBody(path string, value any) map[string]any {
	steps := strings.Split(path, ".")
	for i := len(steps) - 1; i > 0; i-- {
		value = newObject(steps[i], value)
	}
	return newObject(steps[0], value).(map[string]any)
}

func newObject(step string, value any) any {
	name, lists := step, 0
	for strings.HasSuffix(name, "[]") {
		name, lists = strings.TrimSuffix(name, "[]"), lists+1
	}
	for range lists {
		value = []any{value}
	}
	if name == "*" {
		name = exampleID
	}
	return map[string]any{name: value}
}

// mergeValues returns a body with the values of two. Lists have one item.
func mergeValues(a, b any) any {
	object, isObject := a.(map[string]any)
	list, isList := a.([]any)
	switch {
	case isObject:
		for key, value := range b.(map[string]any) {
			if have, ok := object[key]; ok {
				value = mergeValues(have, value)
			}
			object[key] = value
		}
		return object
	case isList:
		return []any{mergeValues(list[0], b.([]any)[0])}
	}
	return b
}
