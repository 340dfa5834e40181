package definition

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Type has the facts of the definitions about a resource type as a whole.
type Type struct {
	Name string
	// Versions are the api-versions that have it, newest first, previews last.
	Versions []string
	// Located types must be somewhere.
	Located bool
	// State is set if it has a provisioning state, SystemData if it shows its author. Etag is the name of its etag
	// property.
	State, SystemData bool
	Etag              string
	// ReadOnly types are Azure's to make: nothing of their properties can be written.
	ReadOnly bool

	name schema
}

// Types are all types that are defined, by name.
var Types = sync.OnceValue(func() []Type {
	found := map[string]*Type{}
	for _, releases := range library() {
		for _, r := range byAge(releases) {
			d := r.read()
			for name, root := range d.Resources {
				t := found[strings.ToLower(name)]
				if t == nil {
					t = d.newType(name, root)
					found[strings.ToLower(name)] = t
				}
				t.Versions = append(t.Versions, r.version)
			}
		}
	}
	var out []Type
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, *found[name])
	}
	return out
})

// byAge has the newest first, previews last.
func byAge(releases []release) []release {
	return slices.SortedStableFunc(slices.Values(releases), func(a, b release) int {
		switch {
		case isPreview(a.version) == isPreview(b.version):
			return strings.Compare(b.version, a.version)
		case isPreview(a.version):
			return 1
		}
		return -1
	})
}

func (d document) newType(name string, root schema) *Type {
	top := d.Objects[root.Object].Properties
	inner := d.Objects[top["properties"].Object].Properties
	t := &Type{Name: name, ReadOnly: top["properties"].hasFlag("readOnly"), name: top["name"]}
	location, has := top["location"]
	t.Located = has && location.hasFlag("required") && !location.hasFlag("readOnly")
	_, t.State = inner["provisioningState"]
	_, t.SystemData = top["systemData"]
	for _, etag := range []string{"etag", "eTag"} {
		if _, has := top[etag]; has {
			t.Etag = etag
		}
	}
	return t
}

// AllowsName reports whether a resource of the type can have that name.
func (t Type) AllowsName(name string) bool {
	if shape := t.name; len(name) < valueOr(shape.MinLength, 0) || len(name) > valueOr(shape.MaxLength, len(name)) {
		return false
	}
	if form, err := regexp.Compile(t.name.Pattern); err == nil {
		return form.MatchString(name)
	}
	return true
}

func valueOr(of *int, otherwise int) int {
	if of == nil {
		return otherwise
	}
	return *of
}

// HideWriteOnly removes the properties from a resource that Azure accepts and never shows: write-only properties and
// secret strings.
func HideWriteOnly(resourceType, version string, body map[string]any) {
	if d, root, ok := findDefinition(resourceType, version); ok {
		d.hideWriteOnly(root, body)
	}
}

func (d document) hideWriteOnly(s schema, shown any) {
	switch shown := shown.(type) {
	case []any:
		if s.Items != nil {
			for _, item := range shown {
				d.hideWriteOnly(*s.Items, item)
			}
		}
	case map[string]any:
		if s.Type == "map" && s.Values != nil {
			for key, entry := range maps.Clone(shown) {
				if s.Values.isHidden() {
					delete(shown, key)
				} else {
					d.hideWriteOnly(*s.Values, entry)
				}
			}
			return
		}
		properties, _ := d.objectMembers(d.Objects[s.Object], shown)
		for key := range maps.Clone(shown) {
			switch _, s, known := findProperty(properties, key); {
			case known && s.isHidden():
				delete(shown, key)
			case known:
				d.hideWriteOnly(s, shown[key])
			}
		}
	}
}

func (s schema) isHidden() bool { return s.hasFlag("writeOnly") || s.Sensitive }
