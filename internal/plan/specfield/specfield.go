// Package specfield finds the field of a spec that a value in a plan comes from, so that messages about a planned resource
// can name it. It does not find values that are computed from several fields.
//
// It is pure.
package specfield

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Spec is a decoded spec.
type Spec struct{ decoded any }

// DecodeSpec returns the spec of an object, which is any value that marshals to JSON.
func DecodeSpec(object any) Spec {
	raw, err := json.Marshal(object)
	if err != nil {
		return Spec{}
	}
	var out struct {
		Spec any `json:"spec"`
	}
	_ = json.Unmarshal(raw, &out) // A spec that cannot be decoded has no fields.
	return Spec{decoded: out.Spec}
}

// Decoded returns the spec as maps, lists and scalars.
func (s Spec) Decoded() any { return s.decoded }

// FieldNaming returns the field that names an ID, as in "spec.userAssignedIdentities[0].providerID", else the first field
// with a text that contains the ID, such as a patch; "" if there is none.
func (s Spec) FieldNaming(id arm.ID) string {
	exact := findField("spec", s.decoded, func(text string) bool {
		names := arm.FindReferences(text)
		return len(names) == 1 && names[0].ID.Equal(id)
	})
	if exact != "" {
		return exact
	}
	return s.FieldContaining(string(id))
}

// FieldContaining returns the first field whose value or key contains a text in any case; "" if there is none.
func (s Spec) FieldContaining(text string) string {
	return findField("spec", s.decoded, func(value string) bool { return strings.Contains(strings.ToLower(value), strings.ToLower(text)) })
}

// findField returns the first path with a text that matches; "" if there is none.
func findField(path string, value any, matches func(string) bool) string {
	switch value := value.(type) {
	case string:
		if matches(value) {
			return path
		}
	case []any:
		for i, item := range value {
			if found := findField(fmt.Sprintf("%s[%d]", path, i), item, matches); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if matches(key) {
				return path
			}
			if found := findField(path+"."+key, value[key], matches); found != "" {
				return found
			}
		}
	}
	return ""
}
