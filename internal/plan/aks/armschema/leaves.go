package armschema

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// ownedElsewhere are leaf paths that are never reset, because leaving them out does not mean removal. Agent pools, versions and
// counts belong to other objects or to the autoscaler, and tags are compared by key.
var ownedElsewhere = []string{
	"/location", "/tags", "/properties/agentPoolProfiles", "/properties/count", "/properties/kubernetesVersion",
	"/properties/orchestratorVersion",
}

// LeafPaths returns the leaf paths of a decoded body, sorted. A later plan without one of them must reset it. A list is one leaf, as
// is an empty object. null is not a leaf. Paths that other objects own are left out.
func LeafPaths(body map[string]any) []string {
	var out []string
	jsonpath.Walk(body, func(path jsonpath.Path, value any) bool {
		pointer := path.Pointer()
		if value == nil || slices.Contains(ownedElsewhere, pointer) {
			return false
		}
		if object, ok := value.(map[string]any); ok && (len(object) > 0 || len(path) == 0) {
			return true
		}
		out = append(out, pointer)
		return false
	})
	slices.Sort(out)
	return out
}

// propertiesOnPath returns the properties along a leaf path, outermost first, its own last.
func propertiesOnPath(kind Kind, version, path string) ([]Property, bool) {
	var out []Property
	at := ""
	for _, step := range jsonpath.ParsePointer(path) {
		here := jsonpath.JoinMember(at, step.Name)
		if len(out) > 0 && out[len(out)-1].Type == Map {
			here = jsonpath.JoinMember(at, "*")
		}
		p, ok := FindProperty(kind, version, here)
		if !ok {
			return nil, false
		}
		out, at = append(out, p), here
	}
	return out, true
}
