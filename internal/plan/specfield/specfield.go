// Package specfield finds the field of a spec that a value in a plan comes from, so that messages about a planned resource
// can name it. It does not find values that are computed from several fields.
//
// It is pure.
package specfield

import (
	"encoding/json"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
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
	exact := s.findField(func(text string) bool {
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
	return s.findField(func(value string) bool { return strings.Contains(strings.ToLower(value), strings.ToLower(text)) })
}

// findField returns the first field with a text or with a key that matches; "" if there is none.
func (s Spec) findField(matches func(string) bool) string {
	found := ""
	jsonpath.Walk(s.decoded, func(path jsonpath.Path, value any) bool {
		if found != "" {
			return false
		}
		if last := len(path) - 1; last >= 0 && !path[last].Element && matches(path[last].Name) {
			found = ToFieldPath(path[:last]).String()
		} else if text, ok := value.(string); ok && matches(text) {
			found = ToFieldPath(path).String()
		}
		return found == ""
	})
	return found
}

// ToFieldPath returns the field of a spec at a path whose elements have positions.
func ToFieldPath(path jsonpath.Path) *field.Path {
	out := field.NewPath("spec")
	for _, step := range path {
		if i, err := strconv.Atoi(step.Name); step.Element && err == nil {
			out = out.Index(i)
		} else {
			out = out.Child(step.Name)
		}
	}
	return out
}
