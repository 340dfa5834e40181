package adoption

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// addPatches adds patches for the values that differ between the plan of the objects and Azure.
func addPatches(f ObservedCluster, m ClusterObjects) ([]OmittedValue, error) {
	in := m.ControlPlaneInput(f)
	graph, _, err := aks.BuildPlan(in)
	if err != nil {
		return nil, err
	}
	text, lefts, err := buildPatch(aso.ManagedCluster, f.Cluster, graph.Node(aks.ClusterID(in)))
	if err != nil {
		return nil, err
	}
	if text != "" {
		m.ControlPlane.Spec.ASOManagedClusterPatches = []string{text}
	}
	for i, pool := range in.Pools {
		in.Facts.AgentPool = f.Pools[i].Body
		graph, err := aks.BuildPoolPlan(in, pool)
		if err != nil {
			return nil, err
		}
		text, more, err := buildPatch(aso.AgentPool, f.Pools[i], graph.Node(aks.PoolID(in, pool)))
		if err != nil {
			return nil, err
		}
		if lefts = append(lefts, more...); text != "" {
			m.Pools[i].AzurePool.Spec.ASOManagedClustersAgentPoolPatches = []string{text}
		}
	}
	return lefts, nil
}

// buildPatch returns the patch of a resource that completes its plan to the state in Azure, and the values that a patch cannot
// contain.
func buildPatch(of aso.Kind, r Resource, node *arm.Node) (string, []OmittedValue, error) {
	if node.Refused != "" {
		return "", nil, errors.New(node.Refused)
	}
	shown, _, err := settableBody(r)
	if err != nil {
		return "", nil, err
	}
	row, err := types.ForID(r.ID)
	if err != nil {
		return "", nil, err
	}
	body, err := arm.DecodeBody(node.Body)
	if err != nil {
		return "", nil, err
	}
	planned, _ := body.(map[string]any)
	wanted := map[string]any{}
	collectUnplanned(of, r.APIVersion, "", shown, planned, wanted)
	delete(wanted, "tags")
	have, err := arm.DecodeBody(r.Body)
	if err != nil {
		return "", nil, err
	}
	for _, difference := range compare.Diff(compare.Desired{Type: row, Body: planned, OwnedPaths: node.OwnedPaths}, have) {
		if path := jsonpath.Parse(difference.Path); isMember(path) && !path.HasPrefix(tagsPath) &&
			!slices.Contains(stateProperties, difference.Path) {
			path.Set(wanted, path.GetFold(have))
		}
	}
	return splitPatchable(of, r, wanted)
}

// tagsPath is the path of tags, which are fields of the objects.
var tagsPath = jsonpath.Parse("tags")

// isMember reports whether a path has neither elements of lists nor patterns.
func isMember(path jsonpath.Path) bool {
	return !slices.ContainsFunc(path, func(step jsonpath.Step) bool { return step.Element || strings.Contains(step.Name, "*") })
}

// collectUnplanned adds the values that Azure shows and the plan lacks to wanted, except documented defaults.
func collectUnplanned(of aso.Kind, version, path string, shown, planned, wanted map[string]any) {
	for key, value := range shown {
		here := jsonpath.JoinMember(path, key)
		said, _ := jsonpath.LookUp(planned, key)
		object, isObject := value.(map[string]any)
		property, _ := armschema.FindProperty(of, version, here)
		if isDocumentedDefault(property.DocumentedDefault, value) {
			continue
		}
		if deeper, ok := said.(map[string]any); isObject && (ok || said == nil) && len(object) > 0 {
			inner := map[string]any{}
			if collectUnplanned(of, version, here, object, deeper, inner); len(inner) > 0 {
				wanted[key] = inner
			}
			continue
		}
		if said == nil && (value != false || property.DocumentedDefault == "true") {
			wanted[key] = value
		}
	}
}

// isDocumentedDefault reports whether a value is the documented default.
func isDocumentedDefault(documented string, value any) bool {
	if documented == "" {
		return false
	}
	switch value := value.(type) {
	case string:
		return strings.EqualFold(value, documented)
	case json.Number:
		return value.String() == documented
	case bool:
		return fmt.Sprint(value) == documented
	}
	return false
}

// splitPatchable returns the patch with the allowed values, and the values that are not allowed in a patch.
func splitPatchable(of aso.Kind, r Resource, wanted map[string]any) (string, []OmittedValue, error) {
	properties, _ := wanted["properties"].(map[string]any)
	delete(wanted, "properties")
	spec := map[string]any{}
	var lefts []OmittedValue
	say := func(prefix jsonpath.Path, from map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(from)) {
			for _, one := range splitRefusedObject(of, r.APIVersion, key, from[key]) {
				if why := patchRefusal(of, r.APIVersion, one); why != "" {
					path, value := findLeaf(prefix, one)
					lefts = append(lefts, newOmittedValue(r.ID, path.String(), value, why))
					continue
				}
				mergeObjects(spec, one)
			}
		}
	}
	say(nil, wanted)
	say(jsonpath.Parse("properties"), properties)
	if len(spec) == 0 {
		return "", lefts, nil
	}
	text, err := yaml.Marshal(map[string]any{"spec": spec})
	return string(text), lefts, err
}

// splitRefusedObject returns the patches for a property: one if all of it is allowed, else one for each of its keys.
func splitRefusedObject(of aso.Kind, version, key string, value any) []map[string]any {
	one := map[string]any{key: value}
	if patchRefusal(of, version, one) == "" {
		return []map[string]any{one}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return []map[string]any{one}
	}
	var out []map[string]any
	for _, inner := range slices.Sorted(maps.Keys(object)) {
		out = append(out, map[string]any{key: map[string]any{inner: object[inner]}})
	}
	return out
}

// patchRefusal returns the reason why a patch must not contain a spec, "" if it may.
func patchRefusal(of aso.Kind, version string, spec map[string]any) string {
	text, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return err.Error()
	}
	var why []string
	for _, problem := range aso.CheckPatches(of, version, []string{string(text)}, field.NewPath("patch")) {
		why = append(why, problem.Detail)
	}
	return strings.Join(why, "; ")
}

// findLeaf returns the path to the only leaf of an object at a path, and its value.
func findLeaf(path jsonpath.Path, object map[string]any) (jsonpath.Path, any) {
	for key, value := range object {
		here := path.Member(key)
		if inner, ok := value.(map[string]any); ok && len(inner) == 1 {
			return findLeaf(here, inner)
		}
		return here, value
	}
	return path, nil
}

func mergeObjects(into, from map[string]any) {
	for key, value := range from {
		have, ok := into[key].(map[string]any)
		if more, isObject := value.(map[string]any); ok && isObject {
			mergeObjects(have, more)
			continue
		}
		into[key] = value
	}
}
