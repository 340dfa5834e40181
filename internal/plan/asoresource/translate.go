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
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// Ref is a key of a Secret or ConfigMap in the namespace of the object.
type Ref struct{ Name, Key string }

// Values are the values of keys of Secrets and ConfigMaps, and of whole Secrets. Nil are those of nobody: nothing is looked
// for.
type Values struct {
	Secrets, ConfigMaps map[Ref]string
}

// Body is the body of a document's resource.
type Body struct {
	// Properties is the body.
	Properties map[string]any
	// Mentions are the resources that it refers to.
	Mentions []arm.ID
	// Secrets and ConfigMaps are the keys that it takes values from; "" is for the whole of one.
	Secrets, ConfigMaps []Ref
	// Waits are what it refers to that is not there.
	Waits []string
	// Unchecked tells that nothing of it was held against a definition.
	Unchecked bool
}

// ours are the keys of spec that are no part of the body.
var ours = []string{"azureName", "operatorSpec", "originalVersion", "owner"}

// Translate makes the body of a document, and finds what in it cannot be right.
func (s Set) Translate(d Document, values *Values) (Body, field.ErrorList) {
	resourceType, _ := d.Type()
	apiVersion, _ := d.APIVersion()
	definition, ok := schema.NearestDefinition(resourceType, apiVersion)
	if !ok {
		return Body{}, field.ErrorList{field.NotSupported(d.Path.Child("kind"), d.Kind, near(d))}
	}
	t := &translation{set: s, document: d, values: values, version: definition.APIVersion, paths: map[string]*field.Path{}, opaque: map[string]bool{}}
	t.body.Unchecked = d.Annotations[UncheckedAnnotation] == "true" && schema.IsNewerThanAll(resourceType, apiVersion)
	spec := maps.Clone(d.Spec)
	for _, key := range ours {
		delete(spec, key)
	}
	t.body.Properties = t.object(definition.Body(), "", d.Path.Child("spec"), spec)
	if !t.body.Unchecked {
		t.judge(definition)
	}
	return t.body, t.errs
}

// translation is one document at work.
type translation struct {
	set      Set
	document Document
	values   *Values
	version  string
	body     Body
	errs     field.ErrorList
	// paths are the places in the document of places in the body, opaque the places whose values are not known.
	paths  map[string]*field.Path
	opaque map[string]bool
}

func (t *translation) refuse(err *field.Error) { t.errs = append(t.errs, err) }

// object translates an object: keys of "properties" stand beside those around it, and some have other names.
func (t *translation) object(part schema.Part, at string, path *field.Path, fields map[string]any) map[string]any {
	out := map[string]any{}
	_, inner, nested := part.Property("properties", fields)
	nested = nested && inner.IsObject()
	innerAt := join(at, "properties")
	t.paths[at], t.paths[innerAt] = path, path
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		here := path.Child(key)
		if nested {
			if name, child, from, ok := named(inner, key, fields); ok {
				properties, _ := out["properties"].(map[string]any)
				if properties == nil {
					properties = map[string]any{}
					out["properties"] = properties
				}
				t.put(properties, name, child, from, join(innerAt, name), here, fields[key])
				continue
			}
		}
		name, child, from, ok := named(part, key, fields)
		switch {
		case ok:
			t.put(out, name, child, from, join(at, name), here, fields[key])
		case t.body.Unchecked && nested:
			properties, _ := out["properties"].(map[string]any)
			out["properties"] = joined(properties, key, fields[key])
		case t.body.Unchecked:
			out[key] = fields[key]
		default:
			t.unknown(part, inner, nested, here, key, fields)
		}
	}
	return out
}

func joined(object map[string]any, key string, value any) map[string]any {
	if object == nil {
		object = map[string]any{}
	}
	object[key] = value
	return object
}

func (t *translation) unknown(part, inner schema.Part, nested bool, path *field.Path, key string, fields map[string]any) {
	known := part.SettableNames(fields)
	if nested {
		known = append(known, inner.SettableNames(fields)...)
	}
	message := fmt.Sprintf("%s has no such property in API version %s", t.document.Kind, t.version)
	if near := nearest.Names(key, known); len(near) > 0 {
		message += "; names most like it: " + strings.Join(near, ", ")
	}
	t.refuse(field.Invalid(path, "", message))
}

// put translates the value of a property.
func (t *translation) put(out map[string]any, name string, part schema.Part, from source, at string, path *field.Path, value any) {
	t.paths[at] = path
	if value == nil {
		return // The operator's objects have no null either.
	}
	var got any
	switch from {
	case reference:
		got = t.reference(at, path, value)
	case references:
		got = t.references(at, path, value)
	case configMap:
		got = t.key(at, path, value, "ConfigMap", &t.body.ConfigMaps, t.configMaps())
	default:
		got = t.value(part, at, path, value)
	}
	if got != nil {
		out[name] = got
	}
}

func (t *translation) value(part schema.Part, at string, path *field.Path, value any) any {
	shape := part.Shape()
	switch value := value.(type) {
	case string:
		// The ID of a document's resource orders them as a reference does. Settings of add-ons have no references.
		if id, err := arm.ParseID(value); err == nil && strings.HasPrefix(value, "/") {
			t.body.Mentions = append(t.body.Mentions, id)
		}
	case map[string]any:
		switch {
		case part.IsObject():
			return t.object(part, at, path, value)
		case shape.Type == "string" && !secret(shape, at):
			t.refuse(field.Invalid(path, "", "must be a text: Azure shows it, so it cannot be taken from a Secret"))
			return nil
		case shape.Type == "string":
			return t.key(at, path, value, "Secret", &t.body.Secrets, t.secrets())
		case shape.Type == "map":
			if name, ok := value["name"].(string); ok && len(value) == 1 && secret(shape, at) {
				return t.whole(at, path, name)
			}
			return t.entries(part, at, path, value)
		}
	case []any:
		if shape.Type == "map" && strings.HasSuffix(at, "userAssignedIdentities") {
			return t.identities(at, path, value)
		}
		if shape.Type == "array" {
			out := make([]any, 0, len(value))
			for i, item := range value {
				here := fmt.Sprintf("%s[%d]", at, i)
				t.paths[here] = path.Index(i)
				out = append(out, t.value(part.Items(), here, path.Index(i), item))
			}
			return out
		}
	}
	return value
}

func (t *translation) entries(part schema.Part, at string, path *field.Path, entries map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		t.paths[join(at, key)] = path.Key(key)
		out[key] = t.value(part.Values(), join(at, key), path.Key(key), entries[key])
	}
	return out
}

// judge holds the body against the definition.
func (t *translation) judge(definition schema.Definition) {
	for _, finding := range definition.CheckRequest(t.body.Properties) {
		if t.opaque[finding.Path] || finding.Problem == schema.UnknownProperty || finding.Problem == schema.WrongSpelling {
			continue // What is unknown was told with the names most like it.
		}
		path, message := t.place(finding.Path), ""
		switch finding.Problem {
		case schema.MissingProperty:
			t.refuse(field.Required(path, finding.Want))
			continue
		case schema.WrongType:
			message = "must be of type " + finding.Want
		case schema.NotAllowed:
			message = "must be " + strings.TrimPrefix(finding.Want, "pattern ")
			if pattern, ok := strings.CutPrefix(finding.Want, "pattern "); ok {
				message = "must match " + pattern
			}
		case schema.ReadOnlySet:
			message = "is what Azure answers and cannot be set"
		}
		t.refuse(field.Invalid(path, "", message))
	}
}

// place is the place in the document of one in the body: that of the longest path that is known, and what follows.
func (t *translation) place(at string) *field.Path {
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
			return t.document.Path.Child("spec").Child(strings.TrimPrefix(at, "properties."))
		}
		here, rest = here[:i], here[i:]+rest
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// fieldError is an error of an ID as one of a field; waits is what it waits for instead.
func fieldError(err error, path *field.Path) (wrong *field.Error, waits string) {
	var waiting Waiting
	if errors.As(err, &waiting) {
		return nil, waiting.Error()
	}
	if errors.As(err, &wrong) {
		return wrong, ""
	}
	return field.Invalid(path, "", err.Error()), ""
}
