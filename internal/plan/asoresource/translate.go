package asoresource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// KeyRef is a key of a Secret or ConfigMap in the namespace of the object.
type KeyRef struct{ Name, Key string }

// Values are the values of keys of Secrets and ConfigMaps. A nil pointer means that values are not looked up.
type Values struct {
	Secrets, ConfigMaps map[KeyRef]string
}

// Body is the body of a manifest's resource.
type Body struct {
	// Properties is the body in Azure's format.
	Properties map[string]any
	// References are the resources that the body refers to.
	References []arm.ID
	// Secrets and ConfigMaps are the keys that the body takes values from. An empty key stands for the whole object.
	Secrets, ConfigMaps []KeyRef
	// Missing are the references to things that do not exist.
	Missing []string
	// Unchecked means that the body was not checked against a definition.
	Unchecked bool
}

// operatorFields are the keys of spec that are not part of the body.
var operatorFields = []string{"azureName", "operatorSpec", "originalVersion", "owner"}

// TranslateManifest returns the body of a manifest, and all errors in the manifest.
func (s Set) TranslateManifest(m Manifest, values *Values) (Body, field.ErrorList) {
	resourceType, _ := m.ResourceType()
	apiVersion, _ := m.APIVersion()
	definition, ok := schema.NearestDefinition(resourceType, apiVersion)
	if !ok {
		return Body{}, field.ErrorList{field.NotSupported(m.Path.Child("kind"), m.Kind, aso.FindNearestKinds(m.Group, m.Kind))}
	}
	t := &translator{set: s, manifest: m, values: values, version: definition.APIVersion, paths: map[string]*field.Path{}, opaque: map[string]bool{}}
	t.body.Unchecked = m.Annotations[UncheckedAnnotation] == "true" && schema.IsNewerThanAll(resourceType, apiVersion)
	spec := maps.Clone(m.Spec)
	for _, key := range operatorFields {
		delete(spec, key)
	}
	t.body.Properties = t.translateObject(definition.Body(), "", m.Path.Child("spec"), spec)
	if !t.body.Unchecked {
		t.checkBody(definition)
	}
	return t.body, t.errs
}

// translator translates one manifest.
type translator struct {
	set      Set
	manifest Manifest
	values   *Values
	version  string
	body     Body
	errs     field.ErrorList
	// paths are the places in the manifest by the place in the body, opaque the places with unknown values.
	paths  map[string]*field.Path
	opaque map[string]bool
}

func (t *translator) addError(err *field.Error) { t.errs = append(t.errs, err) }

// translateObject translates an object. Keys of Azure's "properties" are on the level above, and some have other names.
func (t *translator) translateObject(part schema.Part, at string, path *field.Path, fields map[string]any) map[string]any {
	out := map[string]any{}
	_, inner, nested := part.Property("properties", fields)
	nested = nested && inner.IsObject()
	innerAt := joinPath(at, "properties")
	t.paths[at], t.paths[innerAt] = path, path
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		here := path.Child(key)
		if nested {
			if name, child, from, ok := findProperty(inner, key, fields); ok {
				properties, _ := out["properties"].(map[string]any)
				if properties == nil {
					properties = map[string]any{}
					out["properties"] = properties
				}
				t.translateProperty(properties, name, child, from, joinPath(innerAt, name), here, fields[key])
				continue
			}
		}
		name, child, from, ok := findProperty(part, key, fields)
		switch {
		case ok:
			t.translateProperty(out, name, child, from, joinPath(at, name), here, fields[key])
		case t.body.Unchecked && nested:
			properties, _ := out["properties"].(map[string]any)
			out["properties"] = withProperty(properties, key, fields[key])
		case t.body.Unchecked:
			out[key] = fields[key]
		default:
			t.addUnknownProperty(part, inner, nested, here, key, fields)
		}
	}
	return out
}

func withProperty(object map[string]any, key string, value any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	object[key] = value
	return object
}

func (t *translator) addUnknownProperty(part, inner schema.Part, nested bool, path *field.Path, key string, fields map[string]any) {
	known := part.SettableNames(fields)
	if nested {
		known = append(known, inner.SettableNames(fields)...)
	}
	message := fmt.Sprintf("%s has no such property in API version %s", t.manifest.Kind, t.version)
	if near := nearest.FindNames(key, known); len(near) > 0 {
		message += "; names most like it: " + strings.Join(near, ", ")
	}
	t.addError(field.Invalid(path, "", message))
}

// translateProperty translates the value of a property.
func (t *translator) translateProperty(out map[string]any, name string, part schema.Part, from valueSource, at string, path *field.Path, value any) {
	t.paths[at] = path
	if value == nil {
		return // The operator's objects have no null.
	}
	var got any
	switch from {
	case fromReference:
		got = t.resolveReference(at, path, value)
	case fromReferences:
		got = t.resolveReferences(at, path, value)
	case fromConfigMap:
		got = t.resolveKey(at, path, value, "ConfigMap", &t.body.ConfigMaps, t.configMapValues())
	default:
		got = t.translateValue(part, at, path, value)
	}
	if got != nil {
		out[name] = got
	}
}

func (t *translator) translateValue(part schema.Part, at string, path *field.Path, value any) any {
	shape := part.Shape()
	switch value := value.(type) {
	case string:
		// An ID in a string makes the node depend on the resource like a reference. Settings of add-ons have no references.
		if id, err := arm.ParseID(value); err == nil && strings.HasPrefix(value, "/") {
			t.body.References = append(t.body.References, id)
		}
	case map[string]any:
		switch {
		case part.IsObject():
			return t.translateObject(part, at, path, value)
		case shape.Type == "string" && !isSecret(shape, at):
			t.addError(field.Invalid(path, "", "must be a string. Azure shows this property, so its value cannot come from a Secret."))
			return nil
		case shape.Type == "string":
			return t.resolveKey(at, path, value, "Secret", &t.body.Secrets, t.secretValues())
		case shape.Type == "map":
			if name, ok := value["name"].(string); ok && len(value) == 1 && isSecret(shape, at) {
				return t.resolveWholeSecret(at, path, name)
			}
			return t.translateEntries(part, at, path, value)
		}
	case []any:
		if shape.Type == "map" && strings.HasSuffix(at, "userAssignedIdentities") {
			return t.resolveIdentities(at, path, value)
		}
		if shape.Type == "array" {
			out := make([]any, 0, len(value))
			for i, item := range value {
				here := fmt.Sprintf("%s[%d]", at, i)
				t.paths[here] = path.Index(i)
				out = append(out, t.translateValue(part.Items(), here, path.Index(i), item))
			}
			return out
		}
	}
	return value
}

func (t *translator) translateEntries(part schema.Part, at string, path *field.Path, entries map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		t.paths[joinPath(at, key)] = path.Key(key)
		out[key] = t.translateValue(part.Values(), joinPath(at, key), path.Key(key), entries[key])
	}
	return out
}

// checkBody checks the body against the definition.
func (t *translator) checkBody(definition schema.Definition) {
	for _, finding := range definition.CheckRequest(t.body.Properties) {
		if t.opaque[finding.Path] || finding.Problem == schema.UnknownProperty || finding.Problem == schema.WrongSpelling {
			continue // addUnknownProperty has reported it with similar names.
		}
		path, message := t.manifestPath(finding.Path), ""
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

// manifestPath returns the place in the manifest of a place in the body: that of the longest known prefix, and the rest.
func (t *translator) manifestPath(at string) *field.Path {
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
			return t.manifest.Path.Child("spec").Child(strings.TrimPrefix(at, "properties."))
		}
		here, rest = here[:i], here[i:]+rest
	}
}

func joinPath(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// toFieldError returns the error of an ID as a field error, or the reason to wait.
func toFieldError(err error, path *field.Path) (wrong *field.Error, waits string) {
	var waiting WaitingError
	if errors.As(err, &waiting) {
		return nil, waiting.Error()
	}
	if errors.As(err, &wrong) {
		return wrong, ""
	}
	return field.Invalid(path, "", err.Error()), ""
}
