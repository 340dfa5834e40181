package armschema

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// Kind is a kind of resource that has a table for each api-version.
type Kind string

const (
	// ManagedCluster is Microsoft.ContainerService/managedClusters. Its table ends at properties.agentPoolProfiles: agent
	// pools are resources of their own.
	ManagedCluster Kind = "ManagedCluster"
	// AgentPool is Microsoft.ContainerService/managedClusters/agentPools.
	AgentPool Kind = "AgentPool"
)

// Type is the JSON type of a property.
type Type string

// The types of properties. A map is an object whose keys are free.
const (
	Object  Type = "object"
	Map     Type = "map"
	List    Type = "list"
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Any     Type = "any"
)

// Property is a property of a body in one api-version.
type Property struct {
	// Path is the property path.
	Path string
	Type Type
	// Format is "date", "date-time" (RFC 3339) or "byte" (base64), for strings that have one.
	Format string
	// Values are those of an enumeration; none where every value of the type is allowed.
	Values []string
	// Documented is the default that the documentation states, "" where it states none clearly.
	Documented string
	// Required properties must be there when the object they are in is.
	Required bool
	// CreateOnly properties cannot change after creation, or cannot be set back to what they were before they were set.
	CreateOnly bool
	// ReadOnly properties are Azure's to set.
	ReadOnly bool

	part schema.Part
}

// Settable tells whether a request may set the property.
func (p Property) Settable() bool { return !p.ReadOnly }

// Scalar tells whether the property has no properties, items or entries.
func (p Property) Scalar() bool { return p.Type != Object && p.Type != Map && p.Type != List }

// Problem is what bounds, length or pattern say against a scalar that is one of the Values, if there are any, as in "at least
// 2"; "" for nothing.
func (p Property) Problem(value any) string {
	for _, finding := range p.part.CheckScalar(value) {
		if finding.Problem == schema.NotAllowed {
			return finding.Want
		}
	}
	return ""
}

// Lookup is the property at a property path.
func Lookup(kind Kind, version, path string) (Property, bool) {
	p, ok := tableOf(kind, version).properties[path]
	return p, ok
}

// Names are the JSON names of the properties of the object at a property path that a request may set, sorted; "" is the body.
func Names(kind Kind, version, path string) []string {
	var out []string
	for _, name := range tableOf(kind, version).names[path] {
		if p, ok := Lookup(kind, version, Join(path, name)); ok && p.Settable() {
			out = append(out, name)
		}
	}
	return out
}

// Join is the property path of a property of the object at a property path.
func Join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// Having are the api-versions of the definitions in which a request may set the property, oldest first. With a value, it must
// be one of the property's values there.
func Having(kind Kind, path, value string) []string {
	return slices.DeleteFunc(Versions(), func(version string) bool {
		p, ok := Lookup(kind, version, path)
		known := value == "" || slices.ContainsFunc(p.Values, func(one string) bool { return strings.EqualFold(one, value) })
		return !ok || !p.Settable() || !known
	})
}

// Replacements are the names that the object has got instead of a property: an older version had the property and not them,
// and they are of its type. Previews replace what the preview before had, other versions what the one before had.
func Replacements(kind Kind, version, path string) []string {
	at := strings.LastIndex(path, ".")
	parent := path[:max(at, 0)]
	var before string
	var had Property
	for _, older := range Having(kind, path, "") {
		if schema.IsOlder(older, version) && IsPreview(older) == IsPreview(version) {
			before = older
			had, _ = Lookup(kind, older, path)
		}
	}
	if before == "" {
		return nil
	}
	return slices.DeleteFunc(Names(kind, version, parent), func(name string) bool {
		p, _ := Lookup(kind, version, Join(parent, name))
		_, old := Lookup(kind, before, Join(parent, name))
		return old || p.Type != had.Type
	})
}

// IsPreview tells whether an api-version is a preview.
func IsPreview(version string) bool { return strings.HasSuffix(version, "-preview") }

// Versions are the api-versions of the definitions, oldest first.
func Versions() []string { return schema.Versions(resources[ManagedCluster]) }

// NewestPreview is the newest preview api-version of the definitions.
func NewestPreview() string {
	versions := Versions()
	for _, version := range slices.Backward(versions) {
		if IsPreview(version) {
			return version
		}
	}
	return versions[len(versions)-1]
}
