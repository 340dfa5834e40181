package armschema

import (
	"slices"
	"strings"
)

// ownedElsewhere are leaf paths that are never reset, because leaving them out does not mean removal. Agent pools, versions and
// counts belong to other objects or to the autoscaler, and tags are compared by key.
var ownedElsewhere = []string{
	"/location", "/tags", "/properties/agentPoolProfiles", "/properties/count", "/properties/kubernetesVersion", "/properties/orchestratorVersion",
}

// LeafPaths returns the leaf paths of a decoded body, sorted. A later plan without one of them must reset it. A list is one leaf, as
// is an empty object. null is not a leaf. Paths that other objects own are left out.
func LeafPaths(body map[string]any) []string {
	var out []string
	collectLeaves(&out, "", body)
	slices.Sort(out)
	return out
}

func collectLeaves(out *[]string, path string, value any) {
	if value == nil || slices.Contains(ownedElsewhere, path) {
		return
	}
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 && path != "" {
		*out = append(*out, path)
		return
	}
	for key, value := range object {
		collectLeaves(out, path+"/"+escapeKey(key), value)
	}
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeKey(key string) string { return escaper.Replace(key) }

// splitPath returns the keys of a leaf path.
func splitPath(path string) []string {
	out := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := range out {
		out[i] = unescaper.Replace(out[i])
	}
	return out
}

// propertiesOnPath returns the properties along a leaf path, outermost first, its own last.
func propertiesOnPath(kind Kind, version, path string) ([]Property, bool) {
	var out []Property
	at := ""
	for _, step := range splitPath(path) {
		here := JoinPath(at, step)
		if len(out) > 0 && out[len(out)-1].Type == Map {
			here = JoinPath(at, "*")
		}
		p, ok := FindProperty(kind, version, here)
		if !ok {
			return nil, false
		}
		out, at = append(out, p), here
	}
	return out, true
}
