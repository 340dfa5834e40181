// Package specfield finds the field of a spec that a plan has a value from, so that a message about a planned resource can name it. It
// finds what is written in the spec, and not what is made up of several fields.
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

// DecodeSpec is the spec of an object, which is any value that marshals to JSON.
func DecodeSpec(object any) Spec {
	raw, err := json.Marshal(object)
	if err != nil {
		return Spec{}
	}
	var out struct {
		Spec any `json:"spec"`
	}
	_ = json.Unmarshal(raw, &out) // A spec that cannot be read has no fields.
	return Spec{decoded: out.Spec}
}

// Decoded is the spec as maps, lists and scalars.
func (s Spec) Decoded() any { return s.decoded }

// FieldNaming returns the field that names an ID, as in "spec.userAssignedIdentities[0].providerID", or the one with a text that contains it, such
// as a patch. It returns "" if there is none.
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

// FieldContaining returns the field whose value or key contains a text, whatever its case, "" if there is none.
func (s Spec) FieldContaining(text string) string {
	return findField("spec", s.decoded, func(value string) bool { return strings.Contains(strings.ToLower(value), strings.ToLower(text)) })
}

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
