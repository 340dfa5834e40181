package armschema

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// Kind is a resource type that has a table for each api-version.
type Kind string

const (
	// ManagedCluster is Microsoft.ContainerService/managedClusters. Its table ends at properties.agentPoolProfiles, because agent
	// pools are separate resources.
	ManagedCluster Kind = "ManagedCluster"
	// AgentPool is Microsoft.ContainerService/managedClusters/agentPools.
	AgentPool Kind = "AgentPool"
)

// Type is the JSON type of a property.
type Type string

// The types of properties. A map is an object with arbitrary keys.
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
	// Values are the values of an enumeration, empty if all values of the type are allowed.
	Values []string
	// DocumentedDefault is the default in the documentation, "" if it has none.
	DocumentedDefault string
	// Required properties must be set if their object is.
	Required bool
	// CreateOnly properties cannot change after creation, or cannot be reset once they are set.
	CreateOnly bool
	// ReadOnly properties are set by Azure only.
	ReadOnly bool

	part schema.Part
}

// IsSettable reports whether a request may set the property.
func (p Property) IsSettable() bool { return !p.ReadOnly }

// IsScalar reports whether the property has no properties, items or entries.
func (p Property) IsScalar() bool { return p.Type != Object && p.Type != Map && p.Type != List }

// ConstraintProblem returns the bound, length or pattern that a scalar violates, as in "at least 2", "" if none. The value must be
// one of Values, if there are any.
func (p Property) ConstraintProblem(value any) string {
	for _, finding := range p.part.CheckScalar(value) {
		if finding.Problem == schema.NotAllowed {
			return finding.Want
		}
	}
	return ""
}

// Body returns the place of the whole body in its definition.
func Body(kind Kind, version string) schema.Part { return findTable(kind, version).body }

// FindProperty returns the property at a property path.
func FindProperty(kind Kind, version, path string) (Property, bool) {
	p, ok := findTable(kind, version).properties[path]
	return p, ok
}

// SettableNames returns the JSON names of the settable properties of the object at a property path, sorted. "" is the path of the
// body.
func SettableNames(kind Kind, version, path string) []string {
	var out []string
	for _, name := range findTable(kind, version).names[path] {
		if p, ok := FindProperty(kind, version, jsonpath.JoinMember(path, name)); ok && p.IsSettable() {
			out = append(out, name)
		}
	}
	return out
}

// VersionsWith returns the api-versions whose requests may set the property, oldest first. A value other than "" must be one of the
// property's values there.
func VersionsWith(kind Kind, path, value string) []string {
	return slices.DeleteFunc(ListVersions(), func(version string) bool {
		p, ok := FindProperty(kind, version, path)
		known := value == "" || slices.ContainsFunc(p.Values, func(one string) bool { return strings.EqualFold(one, value) })
		return !ok || !p.IsSettable() || !known
	})
}

// FindReplacements returns the names that replaced a property of an object: an older version had the property and not them, and they
// are of its type. Previews are compared with the previous preview, other versions with the previous other version.
func FindReplacements(kind Kind, version, path string) []string {
	at := strings.LastIndex(path, ".")
	parent := path[:max(at, 0)]
	var before string
	var had Property
	for _, older := range VersionsWith(kind, path, "") {
		if schema.IsOlder(older, version) && IsPreview(older) == IsPreview(version) {
			before = older
			had, _ = FindProperty(kind, older, path)
		}
	}
	if before == "" {
		return nil
	}
	return slices.DeleteFunc(SettableNames(kind, version, parent), func(name string) bool {
		p, _ := FindProperty(kind, version, jsonpath.JoinMember(parent, name))
		_, old := FindProperty(kind, before, jsonpath.JoinMember(parent, name))
		return old || p.Type != had.Type
	})
}

// IsPreview reports whether an api-version is a preview.
func IsPreview(version string) bool { return strings.HasSuffix(version, "-preview") }

// ListVersions returns the api-versions of the definitions, oldest first.
func ListVersions() []string { return schema.Versions(resourceTypes[ManagedCluster]) }

// NewestPreview returns the newest preview api-version of the definitions.
func NewestPreview() string {
	versions := ListVersions()
	for _, version := range slices.Backward(versions) {
		if IsPreview(version) {
			return version
		}
	}
	return versions[len(versions)-1]
}
