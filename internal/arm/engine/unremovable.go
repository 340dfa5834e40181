package engine

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// presentPaths returns the JSON pointers at which the resource has a value, or may have one that Azure does not return. A property of a
// refused request is at none of them: it never was in the resource.
func presentPaths(pointers []string, observed json.RawMessage, row types.Type) []string {
	var body any
	if len(pointers) == 0 || json.Unmarshal(observed, &body) != nil {
		return pointers
	}
	hidden := make([]jsonpath.Path, len(row.WriteOnlyPaths))
	for i, path := range row.WriteOnlyPaths {
		hidden[i] = jsonpath.Parse(path)
	}
	return slices.DeleteFunc(slices.Clone(pointers), func(pointer string) bool {
		path := jsonpath.ParsePointer(pointer)
		isHidden := slices.ContainsFunc(hidden,
			func(other jsonpath.Path) bool { return len(path) >= len(other) && path[:len(other)].Matches(other) })
		return !isHidden && !hasValue(body, path)
	})
}

// hasValue reports whether there is a value at a path. Members have no case, and a list that is not empty counts as a value.
func hasValue(body any, path jsonpath.Path) bool {
	for i := range path {
		if list, isList := path[:i].GetFold(body).([]any); isList {
			return len(list) > 0
		}
	}
	return path.GetFold(body) != nil
}
