package definition

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/sim/definitions"
)

type document struct {
	Resources map[string]schema
	Objects   map[string]schema
}

// schema is a schema of the files: of a shape or of an object.
type schema struct {
	Object, Type, Discriminator string
	Flags                       []string
	Items, Values               *schema
	AnyOf                       []schema
	Properties                  map[string]schema
	Variants                    map[string]schema

	Enum                                     []string
	Open                                     bool
	Pattern                                  string
	Sensitive                                bool
	Minimum, Maximum                         *float64
	MinLength, MaxLength, MinItems, MaxItems *int
}

// release is a document of a version, read when it is first asked for.
type release struct {
	version string
	read    func() document
}

// library are the releases of each provider, by version; names are in lower case.
var library = sync.OnceValue(func() map[string][]release {
	out := map[string][]release{}
	entries, err := definitions.Files.ReadDir(".")
	if err != nil {
		panic(err) // The files are part of the binary.
	}
	for _, entry := range entries {
		name, isDocument := strings.CutSuffix(entry.Name(), ".json")
		if !isDocument {
			continue
		}
		provider, version, _ := strings.Cut(strings.ToLower(name), "@")
		out[provider] = append(out[provider], release{version, sync.OnceValue(func() document { return parseDocument(name) })})
	}
	for _, releases := range out {
		slices.SortFunc(releases, func(a, b release) int { return strings.Compare(a.version, b.version) })
	}
	return out
})

func parseDocument(name string) (d document) {
	raw, err := definitions.Files.ReadFile(name + ".json")
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return d
}

// findDefinition returns the document with a type in a version, or else in the next newer version that is no preview, and the
// type's body. A preview version needs a document of its own, because previews have properties that never became stable.
func findDefinition(resourceType, version string) (document, schema, bool) {
	version = strings.ToLower(version)
	for _, r := range releasesOf(resourceType) {
		if r.version != version && (r.version < version || isPreview(r.version) || isPreview(version)) {
			continue
		}
		if d, body, ok := r.findInRelease(resourceType); ok {
			return d, body, true
		}
	}
	return document{}, schema{}, false
}

// releasesOf returns those of the type's provider.
func releasesOf(resourceType string) []release {
	provider, _, _ := strings.Cut(strings.ToLower(resourceType), "/")
	return library()[provider]
}

// findInRelease returns the document of the release and the body of a type in it.
func (r release) findInRelease(resourceType string) (document, schema, bool) {
	d := r.read()
	if body, ok := d.Resources[resourceType]; ok {
		return d, body, true
	}
	for name, body := range d.Resources {
		if strings.EqualFold(name, resourceType) {
			return d, body, true
		}
	}
	return document{}, schema{}, false
}

func isPreview(version string) bool { return strings.HasSuffix(version, "-preview") }

// objectMembers returns the properties of an object, with those of the variant that its value names. It is not ok when the object has
// variants and names none of them.
func (d document) objectMembers(o schema, object map[string]any) (properties map[string]schema, ok bool) {
	if o.Discriminator == "" {
		return o.Properties, true
	}
	value, _ := object[o.Discriminator].(string)
	for variant, s := range o.Variants {
		if strings.EqualFold(variant, value) {
			properties = map[string]schema{}
			for _, from := range []map[string]schema{o.Properties, d.Objects[s.Object].Properties} {
				for name, property := range from {
					properties[name] = property
				}
			}
			return properties, true
		}
	}
	return o.Properties, false
}

// findProperty returns a property by its name, regardless of case.
func findProperty(properties map[string]schema, name string) (string, schema, bool) {
	if s, ok := properties[name]; ok {
		return name, s, true
	}
	for other, s := range properties {
		if strings.EqualFold(other, name) {
			return other, s, true
		}
	}
	return "", schema{}, false
}

func (s schema) hasFlag(flag string) bool { return slices.Contains(s.Flags, flag) }
