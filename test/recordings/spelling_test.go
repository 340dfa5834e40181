package recordings

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// TestRecordedBodiesRoundTrip spells the recorded bodies of PUT requests in ASO's spelling and translates them back: the bodies are
// the same. Bodies with properties that no definition has are left out.
func TestRecordedBodiesRoundTrip(t *testing.T) {
	compared, types := 0, map[string]bool{}
	for name, exchanges := range recordings(t) {
		for _, e := range exchanges {
			resourceType := arm.ID(e.Path).Type()
			definition, ok := schema.NewestDefinition(resourceType)
			var body map[string]any
			if e.Method != http.MethodPut || !ok || json.Unmarshal([]byte(e.Body), &body) != nil || hasUnknown(definition, body) {
				continue
			}
			for _, key := range []string{"id", "name", "type"} {
				delete(body, key) // They are in the URL.
			}
			spec := aso.SpellSpec(definition, body)
			if got := translateBack(definition, spec); toText(t, got) != toText(t, withoutNull(body)) {
				t.Errorf("%s: %s: %v is spelt %v, which is translated to %v", name, e.Path, toText(t, body), toText(t, spec), toText(t, got))
			}
			compared++
			types[strings.ToLower(resourceType)] = true
		}
	}
	t.Logf("%d bodies of %d types", compared, len(types))
	if compared < 100 || len(types) < 20 {
		t.Errorf("only %d bodies of %d types", compared, len(types))
	}
}

func hasUnknown(definition schema.Definition, body map[string]any) bool {
	return slices.ContainsFunc(definition.CheckRequest(body), func(f schema.Finding) bool { return f.Problem == schema.UnknownProperty })
}

func translateBack(definition schema.Definition, fields map[string]any) map[string]any {
	resolve := func(aso.ObjectRef, *field.Path) (arm.ID, string) { return "", "" }
	body, _ := aso.TranslateSpec(aso.Spec{Path: field.NewPath("spec"), Fields: fields}, definition, nil, resolve)
	return body.Properties
}

// withoutNull returns a value without members that are null and without an empty "properties": ASO's objects have neither.
func withoutNull(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range value {
			inner = withoutNull(inner)
			object, isObject := inner.(map[string]any)
			if inner != nil && !(key == "properties" && isObject && len(object) == 0) {
				out[key] = inner
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range value {
			out = append(out, withoutNull(item))
		}
		return out
	}
	return value
}

func toText(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// shownByAzure are values that ASO takes from Secrets and manifests cannot, because Azure shows them to its readers.
var shownByAzure = []string{"FluxConfiguration bucket.accessKey", "FluxConfiguration gitRepository.httpsCACert"}

// TestSpecsKnowWhatASOKnows translates every value that ASO's types have, one by one, for all kinds with a definition: each must
// arrive at one place of Azure's body, references under the name that ASO's types note. Values of other API versions are left out.
func TestSpecsKnowWhatASOKnows(t *testing.T) {
	values, references, kinds := 0, 0, map[string]bool{}
	for _, spec := range readASOSpecs(t) {
		apiVersion, isVersion := aso.ToAPIVersion(spec.version)
		resourceType, known := aso.ResourceTypeOf(spec.group+aso.GroupSuffix, spec.kind)
		if !isVersion || !known {
			continue
		}
		definition, has := schema.NearestDefinition(resourceType, apiVersion)
		if !has {
			continue
		}
		defined := definedNames(definition)
		for _, p := range spec.properties {
			top, _, _ := strings.Cut(p.path, ".")
			if slices.Contains([]string{"azureName", "operatorSpec", "originalVersion", "owner"}, top) || !isDefined(defined, p) ||
				slices.Contains(shownByAzure, spec.kind+" "+p.path) {
				continue
			}
			if problem := translationProblem(t, definition, p); problem != "" {
				t.Errorf("%s/%s %s %s: %s", spec.group, spec.version, spec.kind, p.path, problem)
			}
			values, kinds[spec.kind] = values+1, true
			if p.arm != "" {
				references++
			}
		}
	}
	t.Logf("%d values of %d kinds, %d of them references", values, len(kinds), references)
	if values < 4000 || references < 300 || len(kinds) < 50 {
		t.Error("the types of ASO are not read as they are")
	}
}

// definedNames returns the places of a definition in lower case, without the levels "properties".
func definedNames(definition schema.Definition) map[string]bool {
	out := map[string]bool{}
	definition.WalkProperties(func(path string, _ schema.Shape) {
		out[strings.ReplaceAll(strings.ToLower(path), "properties.", "")] = true
	})
	return out
}

// isDefined reports whether a definition has Azure's property for a value of ASO.
func isDefined(defined map[string]bool, p asoProperty) bool {
	path := strings.TrimSuffix(p.path, "[]")
	at := strings.LastIndex(path, ".") + 1
	name := path[at:]
	switch {
	case strings.HasSuffix(path, "userAssignedIdentities[].reference"):
		return true
	case p.arm != "":
		name = p.arm
	case strings.HasSuffix(name, "FromConfig"):
		name = strings.TrimSuffix(name, "FromConfig")
	}
	return defined[strings.ToLower(path[:at]+name)]
}

// translationProblem translates the spec that has only the value, and returns why it does not arrive as ASO would send it.
func translationProblem(t *testing.T, definition schema.Definition, p asoProperty) string {
	t.Helper()
	body, errs := aso.TranslateSpec(aso.Spec{Path: field.NewPath("spec"), Fields: decodedSpec(t, p)}, definition, nil, nil)
	for _, err := range errs {
		// Other errors are about values that are missing, or examples that do not match a pattern.
		for _, part := range []string{"no such property", "cannot come from a Secret", "must be of type", "must be {armId"} {
			if strings.Contains(err.Detail, part) {
				return err.Error()
			}
		}
	}
	paths := places("", body.Properties)
	if len(paths) != 1 {
		return "went to " + strings.Join(paths, ", ")
	}
	path := strings.TrimSuffix(paths[0], "[]")
	isIdentity := strings.HasSuffix(p.path, "userAssignedIdentities[].reference") &&
		strings.HasSuffix(path, "userAssignedIdentities."+exampleID)
	if name := path[strings.LastIndex(path, ".")+1:]; p.arm != "" && !isIdentity && !strings.EqualFold(name, p.arm) {
		return "went to " + path + ", and ASO sends it as " + p.arm
	}
	return ""
}

// decodedSpec returns the spec that has only the value, as JSON is decoded.
func decodedSpec(t *testing.T, p asoProperty) map[string]any {
	t.Helper()
	raw, err := json.Marshal(p.document()["spec"])
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
