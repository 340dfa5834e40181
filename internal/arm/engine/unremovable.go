package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// presentPaths returns the JSON pointers at which the resource has a value, or may have one that Azure does not return. A property of a
// refused request is at none of them: it never was in the resource.
func presentPaths(pointers []string, observed json.RawMessage, row types.Type) []string {
	var body any
	if len(pointers) == 0 || json.Unmarshal(observed, &body) != nil {
		return pointers
	}
	return slices.DeleteFunc(slices.Clone(pointers), func(pointer string) bool {
		dotted := strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
		hidden := slices.ContainsFunc(row.WriteOnlyPaths, func(path string) bool {
			return strings.EqualFold(path, dotted) || len(dotted) > len(path) && strings.EqualFold(path+".", dotted[:len(path)+1])
		})
		return !hidden && !hasValue(body, strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
	})
}

// unescape gives the key of a step of a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901#section-4.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// hasValue reports whether there is a value at the end of the steps. Keys are not case-sensitive, and a list that is not empty counts
// as a value.
func hasValue(value any, steps []string) bool {
	if len(steps) == 0 {
		return value != nil
	}
	switch value := value.(type) {
	case []any:
		return len(value) > 0
	case map[string]any:
		for key, below := range value {
			if strings.EqualFold(key, unescape.Replace(steps[0])) && hasValue(below, steps[1:]) {
				return true
			}
		}
	}
	return false
}
