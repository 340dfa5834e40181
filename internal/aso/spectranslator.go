package aso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// operatorFields are the keys of a spec that are not part of the body.
var operatorFields = []string{"azureName", "operatorSpec", "originalVersion", "owner"}

// Spec is a spec in ASO's spelling.
type Spec struct {
	// Kind is ASO's kind, for messages.
	Kind string
	// Path is the place of the spec.
	Path   *field.Path
	Fields map[string]any
	// Unchecked sends properties that the definition does not have.
	Unchecked bool
}

// Resolver returns the ID of the resource of another object of ASO, or else the reason to wait for it. Both are empty if the
// reference is wrong for a reason that is reported elsewhere. path is the place of the reference.
type Resolver func(ref ObjectRef, path *field.Path) (id arm.ID, waits string)

// TranslateSpec returns the body of a spec, and all errors in the spec.
func TranslateSpec(spec Spec, definition schema.Definition, values *Values, resolve Resolver) (Body, field.ErrorList) {
	t := &specTranslator{spec: spec, version: definition.APIVersion, values: values, resolve: resolve, paths: map[string]*field.Path{},
		opaque: map[string]bool{}}
	t.body.Unchecked = spec.Unchecked
	fields := maps.Clone(spec.Fields)
	for _, key := range operatorFields {
		delete(fields, key)
	}
	t.body.Properties = t.translateObject(BodyOf(definition), "", spec.Path, fields)
	if !t.body.Unchecked {
		t.checkBody(definition)
	}
	return t.body, t.errs
}

// specTranslator translates one spec.
type specTranslator struct {
	spec    Spec
	version string
	values  *Values
	resolve Resolver
	body    Body
	errs    field.ErrorList
	// paths are the places in the spec by the place in the body, opaque the places with unknown values.
	paths  map[string]*field.Path
	opaque map[string]bool
}

func (t *specTranslator) addError(err *field.Error) { t.errs = append(t.errs, err) }

// translateObject translates an object.
func (t *specTranslator) translateObject(place Place, at string, path *field.Path, fields map[string]any) map[string]any {
	out := map[string]any{}
	innerPlace, nested := place.nested(fields)
	innerAt := jsonpath.JoinMember(at, "properties")
	t.paths[at], t.paths[innerAt] = path, path
	inner := func() map[string]any {
		properties, ok := out["properties"].(map[string]any)
		if !ok {
			properties = map[string]any{}
			out["properties"] = properties
		}
		return properties
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		here := path.Child(key)
		property, ok := place.findIn(innerPlace, nested, key, fields)
		switch {
		case ok && property.Nested:
			t.translateProperty(inner(), property, jsonpath.JoinMember(innerAt, property.Name), here, fields[key])
		case ok && nested && property.Name == "properties":
			// Azure's own spelling, possibly beside keys in ASO's.
			if properties, ok := fields[key].(map[string]any); ok {
				maps.Copy(inner(), t.translateObject(property.Place, innerAt, here, properties))
				continue
			}
			t.translateProperty(out, property, innerAt, here, fields[key])
		case ok:
			t.translateProperty(out, property, jsonpath.JoinMember(at, property.Name), here, fields[key])
		case t.body.Unchecked && nested:
			inner()[key] = fields[key]
		case t.body.Unchecked:
			out[key] = fields[key]
		default:
			t.addUnknownProperty(place, here, key, fields)
		}
	}
	return out
}

func (t *specTranslator) addUnknownProperty(place Place, path *field.Path, key string, fields map[string]any) {
	message := fmt.Sprintf("%s has no such property in API version %s", t.spec.Kind, t.version)
	if near := nearest.FindNames(key, place.ListKeys(key, fields)); len(near) > 0 {
		message += "; names most like it: " + strings.Join(near, ", ")
	}
	t.addError(field.Invalid(path, "", message))
}

// translateProperty sets the value of a property in the object that has it.
func (t *specTranslator) translateProperty(out map[string]any, property Property, at string, path *field.Path, value any) {
	t.paths[at] = path
	if value == nil {
		return // ASO's objects have no null.
	}
	var got any
	switch property.Form {
	case Reference:
		got = t.resolveReference(at, path, value)
	case ReferenceList:
		got = t.resolveReferences(at, path, value)
	case ConfigMapKey:
		got = t.resolveKey(at, path, value, "ConfigMap", &t.body.ConfigMaps, t.values.configMaps())
	case IdentityList:
		if items, ok := value.([]any); ok {
			got = t.resolveIdentities(at, path, items)
			break
		}
		got = t.translateValue(property.Place, at, path, value)
	default:
		got = t.translateValue(property.Place, at, path, value)
	}
	if got != nil {
		out[property.Name] = got
	}
}

// translateValue translates a value in Azure's form, or one that comes from a Secret.
func (t *specTranslator) translateValue(place Place, at string, path *field.Path, value any) any {
	shape := place.Shape()
	switch value := value.(type) {
	case string:
		// An ID in a text makes the node depend on the resource like a reference. Settings of add-ons have no references.
		if id, err := arm.ParseID(value); err == nil && strings.HasPrefix(value, "/") {
			t.body.References = append(t.body.References, id)
		}
	case map[string]any:
		switch {
		case place.IsObject():
			return t.translateObject(place, at, path, value)
		case shape.Type == "string" && !place.IsSecret():
			t.addError(field.Invalid(path, "", "must be a string. Azure shows this property, so its value cannot come from a Secret."))
			return nil
		case shape.Type == "string":
			return t.resolveKey(at, path, value, "Secret", &t.body.Secrets, t.values.secrets())
		case shape.Type == "map":
			if name, ok := value["name"].(string); ok && len(value) == 1 && place.IsSecret() {
				return t.resolveWholeSecret(at, path, name)
			}
			return t.translateEntries(place, at, path, value)
		}
	case []any:
		if shape.Type == "array" {
			out := make([]any, 0, len(value))
			for i, item := range value {
				here := fmt.Sprintf("%s[%d]", at, i)
				t.paths[here] = path.Index(i)
				out = append(out, t.translateValue(place.Items(), here, path.Index(i), item))
			}
			return out
		}
	}
	return value
}

func (t *specTranslator) translateEntries(place Place, at string, path *field.Path, entries map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		t.paths[jsonpath.JoinMember(at, key)] = path.Key(key)
		out[key] = t.translateValue(place.Values(), jsonpath.JoinMember(at, key), path.Key(key), entries[key])
	}
	return out
}

// checkBody checks the body against the definition.
func (t *specTranslator) checkBody(definition schema.Definition) {
	for _, finding := range definition.CheckRequest(t.body.Properties) {
		if t.opaque[finding.Path] || finding.Problem == schema.UnknownProperty || finding.Problem == schema.WrongSpelling {
			continue // addUnknownProperty has reported it with similar names.
		}
		path, message := t.specPath(finding.Path), ""
		switch finding.Problem {
		case schema.MissingProperty:
			t.addError(field.Required(path, finding.Want))
			continue
		case schema.WrongType:
			message = "must be of type " + finding.Want
		case schema.NotAllowed:
			message = "must be " + strings.TrimPrefix(finding.Want, "pattern ")
			if pattern, ok := strings.CutPrefix(finding.Want, "pattern "); ok {
				message = "must match " + pattern
			}
		case schema.ReadOnlySet:
			message = "is read-only: only Azure sets it"
		}
		t.addError(field.Invalid(path, "", message))
	}
}

// specPath returns the place in the spec of a place in the body: that of the longest known prefix, and the rest.
func (t *specTranslator) specPath(at string) *field.Path {
	rest := ""
	for here := at; ; {
		if path, ok := t.paths[here]; ok {
			for key := range strings.SplitSeq(strings.Trim(rest, "."), ".") {
				if key != "" && key != "properties" {
					path = path.Child(key)
				}
			}
			return path
		}
		i := strings.LastIndexAny(here, ".[")
		if i < 0 {
			return t.spec.Path.Child(strings.TrimPrefix(at, "properties."))
		}
		here, rest = here[:i], here[i:]+rest
	}
}
