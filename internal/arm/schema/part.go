package schema

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// ResourceTypes returns all resource types of all versions, sorted, in the spelling of the newest version.
var ResourceTypes = sync.OnceValue(func() []string {
	spelt := map[string]string{}
	for _, name := range fileNames() {
		for full := range openFile(name).Resources {
			spelt[strings.ToLower(full)] = full
		}
	}
	return slices.Sorted(maps.Values(spelt))
})

// NewestDefinition returns the definition of the newest version of a resource type that is not a preview, or of the newest preview if
// there is no other.
func NewestDefinition(resourceType string) (Definition, bool) {
	versions := Versions(resourceType)
	if len(versions) == 0 {
		return Definition{}, false
	}
	newest := versions[len(versions)-1]
	for _, version := range slices.Backward(versions) {
		if !strings.Contains(version, "preview") {
			newest = version
			break
		}
	}
	return LookupDefinition(resourceType, newest)
}

// IsNewerThanAll reports whether an api-version is newer than all versions with the resource type.
func IsNewerThanAll(resourceType, apiVersion string) bool {
	versions := Versions(resourceType)
	return len(versions) > 0 && compareVersions(versions[len(versions)-1], apiVersion) < 0
}

// Part is a place in the body of a definition.
type Part struct {
	file  *file
	shape Shape
	top   bool
}

// Body returns the place of the whole body.
func (d Definition) Body() Part { return Part{file: d.file, shape: d.body, top: true} }

// Shape returns the allowed values.
func (p Part) Shape() Shape { return p.shape }

// IsObject reports whether the value has named properties in the definition.
func (p Part) IsObject() bool {
	_, ok := p.resolveObject(nil)
	return ok
}

// resolveObject returns the object of a place; fields select its variant if there are several.
func (p Part) resolveObject(fields map[string]any) (object, bool) {
	if p.file == nil {
		return object{}, false
	}
	shape := p.shape
	for _, option := range shape.AnyOf {
		if shape.Object == "" && option.Object != "" {
			shape = option
		}
	}
	o, ok := p.file.Objects[shape.Object]
	if !ok || shape.Object == "" {
		return object{}, false
	}
	if o.Discriminator == "" {
		return o, true
	}
	value, _ := fields[o.Discriminator].(string)
	merged := object{Properties: maps.Clone(o.Properties), Values: o.Values}
	for name, variant := range o.Variants {
		if strings.EqualFold(name, value) || value == "" {
			maps.Copy(merged.Properties, p.file.Objects[variant.Object].Properties)
		}
	}
	return merged, true
}

// Property returns a property of the object with these fields, and its name in Azure's spelling. Properties in the URL of a request do
// not count.
func (p Part) Property(name string, fields map[string]any) (string, Part, bool) {
	o, ok := p.resolveObject(fields)
	if !ok || p.top && slices.Contains(urlProperties, name) {
		return "", Part{}, false
	}
	known, shape, ok := o.findProperty(name)
	if !ok && o.Values != nil {
		known, shape, ok = name, *o.Values, true
	}
	return known, Part{file: p.file, shape: shape}, ok
}

// SettableNames returns the properties of the object that a request may set, sorted.
func (p Part) SettableNames(fields map[string]any) []string {
	o, _ := p.resolveObject(fields)
	var out []string
	for name, shape := range o.Properties {
		if !shape.HasFlag(ReadOnly) && !(p.top && slices.Contains(urlProperties, name)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Items returns the place of the items of an array, with any shape if the definition has none.
func (p Part) Items() Part { return Part{file: p.file, shape: orAny(p.shape.Items)} }

// Values returns the place of the values of a map, with any shape if the definition has none.
func (p Part) Values() Part { return Part{file: p.file, shape: orAny(p.shape.Values)} }

// WalkProperties calls visit for every property that a request may have, with its dotted path: "[]" stands for list elements and "*"
// for keys of maps. It does not enter an object inside of itself.
func (d Definition) WalkProperties(visit func(path string, shape Shape)) {
	d.Body().walkProperties("", nil, visit)
}

func (p Part) walkProperties(path string, within []string, visit func(string, Shape)) {
	if path != "" {
		visit(path, p.shape)
	}
	switch {
	case p.shape.Type == "array":
		p.Items().walkProperties(path+"[]", within, visit)
	case p.shape.Type == "map":
		p.Values().walkProperties(path+".*", within, visit)
	case p.IsObject() && !slices.Contains(within, p.shape.Object):
		within = append(slices.Clip(within), p.shape.Object)
		for _, name := range p.SettableNames(nil) {
			_, inner, _ := p.Property(name, nil)
			inner.walkProperties(jsonpath.JoinMember(path, name), within, visit)
		}
	}
}

// CheckName checks the name of a resource against the definition.
func (d Definition) CheckName(name string) []Finding {
	c := checker{file: d.file}
	if shape, ok := c.file.Objects[d.body.Object].Properties["name"]; ok {
		c.checkText("name", shape, name)
	}
	return c.findings
}
