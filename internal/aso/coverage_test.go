package aso

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// fieldsOfSpec are the settable values that patches refuse, with the field that sets them.
var fieldsOfSpec = map[Kind]map[string]string{
	ManagedCluster: {
		"location":                     "spec.location",
		"properties.agentPoolProfiles": "the AzureManagedMachinePools",
		"properties.kubernetesVersion": "spec.version",
	},
	AgentPool: {
		"properties.count":               "spec.replicas of the MachinePool",
		"properties.enableAutoScaling":   "spec.scaling",
		"properties.orchestratorVersion": "spec.template.spec.version of the MachinePool",
	},
}

// TestCoverage sets every value that Azure's API takes by a patch in Azure's own names: each arrives where it belongs, or is in
// the list of those that a typed field sets. The figures are those that docs/book quotes.
func TestCoverage(t *testing.T) {
	for _, kind := range []Kind{ManagedCluster, AgentPool} {
		for _, version := range armschema.ListVersions() {
			t.Run(string(kind)+" "+version, func(t *testing.T) {
				leaves := settableLeaves(kind, version)
				if len(leaves) < 80 {
					t.Fatalf("only %d settable values", len(leaves))
				}
				byPatch, byField := 0, 0
				for _, path := range leaves {
					patch, secrets := examplePatch(t, kind, version, path)
					got, err := ApplyPatches(kind, version, nil, []string{patch}, secrets)
					if field, ok := fieldsOfSpec[kind][path]; ok {
						if err == nil {
							t.Errorf("%s is taken from a patch, although %s owns it", path, field)
						}
						byField++
						continue
					}
					if err != nil {
						t.Errorf("%s cannot be set: %v", path, err)
						continue
					}
					if !hasValue(got.Body, path) {
						t.Errorf("%s: a patch of it makes %v", path, got.Body)
					}
					for _, finding := range checkBody(t, kind, version, got.Body) {
						t.Errorf("%s: Azure's definition lacks the property that the patch sets: %s", path, finding)
					}
					byPatch++
				}
				if byPatch+byField != len(leaves) {
					t.Errorf("%d of %d settable values are out of reach", len(leaves)-byPatch-byField, len(leaves))
				}
				t.Logf("%s in API version %s: %d settable values, %d by patch, %d by a field of their own only", resourcePlurals[kind], version,
					len(leaves), byPatch, byField)
			})
		}
	}
}

// checkBody checks a body against Azure's definition. It ignores missing properties: one value does not make a body.
func checkBody(t *testing.T, kind Kind, version string, body map[string]any) []schema.Finding {
	t.Helper()
	definition, ok := schema.LookupDefinition("Microsoft.ContainerService/"+map[Kind]string{ManagedCluster: "managedClusters",
		AgentPool: "managedClusters/agentPools"}[kind], version)
	if !ok {
		t.Fatalf("version %s does not have %s", version, kind)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(definition.CheckRequest(decoded), func(f schema.Finding) bool { return f.Problem == schema.MissingProperty })
}

// examplePatch returns a patch that sets the value at a property path and nothing else.
func examplePatch(t *testing.T, kind Kind, version, path string) (string, Secrets) {
	t.Helper()
	secrets := Secrets{}
	p, _ := armschema.FindProperty(kind, version, path)
	value := exampleValue(kind, version, p)
	if isPatchSecret(kind, version, path) {
		secrets[KeyRef{Name: "n", Key: "k"}] = "value"
		value = map[string]any{"name": "n", "key": "k"}
	}
	steps := strings.Split(strings.TrimPrefix(path, "properties."), ".")
	for i := len(steps) - 1; i >= 0; i-- {
		name, isList := strings.CutSuffix(steps[i], "[]")
		if isList {
			value = []any{value}
		}
		if name == "*" {
			name = "entry"
		}
		value = map[string]any{name: value}
	}
	text, err := json.Marshal(map[string]any{"spec": value})
	if err != nil {
		t.Fatal(err)
	}
	return string(text), secrets
}

// isPatchSecret reports whether a patch takes the value at a property path from a Secret.
func isPatchSecret(kind Kind, version, path string) bool {
	at := strings.LastIndex(path, ".")
	to, _ := findPatchTarget(kind, version, path[:max(at, 0)], path[at+1:])
	return to.form == SecretKey
}

func exampleValue(kind Kind, version string, p armschema.Property) any {
	switch p.Type {
	case armschema.List:
		element, _ := armschema.FindProperty(kind, version, p.Path+"[]")
		return []any{exampleValue(kind, version, element)}
	case armschema.Map:
		element, _ := armschema.FindProperty(kind, version, p.Path+".*")
		return map[string]any{"entry": exampleValue(kind, version, element)}
	case armschema.Object:
		return map[string]any{}
	case armschema.Integer, armschema.Number:
		return firstAllowed(p, 7, 30, 100, 1000, 70_000, 140_000)
	case armschema.Boolean:
		return true
	}
	if len(p.Values) > 0 {
		return strings.ToUpper(p.Values[len(p.Values)-1])
	}
	switch p.Format {
	case "byte":
		return "dGV4dA=="
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	}
	return firstAllowed(p, "text", "10.0.0.0", "00000000-0000-0000-0000-000000000000", "09:00", "+01:00")
}

// firstAllowed returns the first of the examples that the definition takes.
func firstAllowed(p armschema.Property, examples ...any) any {
	for _, example := range examples {
		number, isNumber := example.(int)
		if isNumber && p.ConstraintProblem(float64(number)) == "" || !isNumber && p.ConstraintProblem(example) == "" {
			return example
		}
	}
	return examples[0]
}

// hasValue reports whether a body has a value at a property path.
func hasValue(body any, path string) bool {
	for _, step := range strings.Split(path, ".") {
		name, isList := strings.CutSuffix(step, "[]")
		if name == "*" {
			name = "entry"
		}
		object, ok := body.(map[string]any)
		if !ok {
			return false
		}
		if body, ok = object[name]; !ok {
			return false
		}
		if isList {
			list, ok := body.([]any)
			if !ok || len(list) != 1 {
				return false
			}
			body = list[0]
		}
	}
	return true
}

// TestRemovedPatchResetsItsValue applies a patch for every value and removes it again: the body of the plan is the same as
// without the patch, except for the part that resets the value.
func TestRemovedPatchResetsItsValue(t *testing.T) {
	for _, version := range armschema.ListVersions() {
		for _, kind := range []Kind{ManagedCluster, AgentPool} {
			for _, path := range settableLeaves(kind, version) {
				if _, ok := fieldsOfSpec[kind][path]; !ok {
					checkReset(t, kind, version, path)
				}
			}
		}
	}
}

func checkReset(t *testing.T, kind Kind, version, path string) {
	t.Helper()
	base := map[string]any{"properties": map[string]any{}}
	patch, secrets := examplePatch(t, kind, version, path)
	with, err := ApplyPatches(kind, version, base, []string{patch}, secrets)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	sent := armschema.LeafPaths(with.Body)
	got, kept := armschema.ResetDropped(kind, version, base, sent)
	switch {
	case len(kept) > 0 && len(armschema.LeafPaths(got)) > 1:
		t.Errorf("%s: %v is kept, and yet the body has %v", path, kept, got)
	case len(kept) == 0 && path != "tags" && !isReset(got, sent):
		t.Errorf("%s: sent %v, and the body without the patch is %v", path, sent, got)
	}
}

// isReset reports whether the body resets the value at each path: by null, or by an object there without the value.
func isReset(body map[string]any, sent []string) bool {
	for _, path := range sent {
		steps := strings.Split(strings.TrimPrefix(path, "/"), "/")
		var at any = body
		for i, step := range steps {
			object, ok := at.(map[string]any)
			if !ok {
				return false
			}
			value, ok := object[step]
			if !ok {
				// Only maps are sent empty.
				return i > 0 && len(object) == 0
			}
			at = value
		}
	}
	return true
}
