package result

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Masked stands for a value that is not shown.
const Masked = "(hidden)"

// maskSecrets returns a body in which values are masked that are write-only, or below such a value, or have the name of a secret.
func maskSecrets(row types.Type, body any) any {
	masked := jsonpath.Clone(body)
	object, is := masked.(map[string]any)
	if !is {
		return masked
	}
	var secrets []jsonpath.Path
	jsonpath.Walk(object, func(path jsonpath.Path, value any) bool {
		if value != nil && len(path) > 0 && isSecret(row, path, value) {
			secrets = append(secrets, append(jsonpath.Path(nil), path...))
			return false
		}
		return true
	})
	for _, path := range secrets {
		replace(object, path)
	}
	return object
}

func isSecret(row types.Type, path jsonpath.Path, value any) bool {
	for _, pattern := range row.WriteOnlyPaths {
		if path.Matches(jsonpath.Parse(pattern)) {
			return true
		}
	}
	last := path[len(path)-1]
	if last.Element {
		return false
	}
	switch value.(type) {
	case map[string]any, []any, bool:
		return false // Their members are looked at one by one.
	}
	return compare.FormatValue(last.Name, value) == Masked
}

// replace masks the value at a path, whose elements have positions.
func replace(value any, path jsonpath.Path) {
	for i, step := range path {
		switch at := value.(type) {
		case map[string]any:
			if i == len(path)-1 {
				at[step.Name] = Masked
				return
			}
			value = at[step.Name]
		case []any:
			n := indexOf(step.Name)
			if n < 0 || n >= len(at) {
				return
			}
			if i == len(path)-1 {
				at[n] = Masked
				return
			}
			value = at[n]
		default:
			return
		}
	}
}
