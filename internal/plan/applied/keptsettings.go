package applied

import (
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// IsKeptSetting returns true if a path is that of a setting that Azure keeps when a PUT leaves it out, by the row of the type.
func IsKeptSetting(row types.Type, pointer string) bool {
	return isKeptSetting(row, jsonpath.ParsePointer(pointer))
}

// isKeptSetting returns true for the path of a setting in one of the row's KeptSettings. Settings that Azure does not show are no such
// settings, because nothing shows whether they are still there. Lists with elements of others and lists whose elements are sent as
// observed have rules of their own.
func isKeptSetting(row types.Type, path jsonpath.Path) bool {
	isWithinAny := func(lists ...string) bool {
		return slices.ContainsFunc(lists, func(list string) bool {
			pattern := jsonpath.Parse(list)
			return len(path) >= len(pattern) && path[:len(pattern)].Matches(pattern)
		})
	}
	return isWithinAny(row.KeptSettings...) && !isWithinAny(row.WriteOnlyPaths...) && !isWithinAny(row.SharedLists...) &&
		!isWithinAny(row.CompletedElements...)
}

// settingPaths returns the paths of the settings in a body that Azure keeps when a later PUT leaves them out. Elements of lists are
// named. A list without names is one setting.
func settingPaths(row types.Type, body map[string]any) (paths []string) {
	for _, setting := range row.KeptSettings {
		path := jsonpath.Parse(setting)
		paths = append(paths, leavesBelow(row, path, path.Get(body))...)
	}
	return paths
}

func leavesBelow(row types.Type, path jsonpath.Path, value any) (paths []string) {
	if value == nil || !isKeptSetting(row, path) {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			paths = append(paths, leavesBelow(row, path.Member(key), value[key])...)
		}
		return paths
	case []any:
		if key := jsonpath.ElementKey(value); key != "" {
			for _, item := range value {
				paths = append(paths, leavesBelow(row, path.Element(jsonpath.ElementName(item, key)), item)...)
			}
			return paths
		}
		if len(value) == 0 {
			return nil
		}
	}
	return append(paths, path.Pointer())
}
