package armschema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is a kind of resource that a table is for.
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

// Property is a property of a body.
type Property struct {
	// Path is the property path.
	Path string `json:"path"`
	Type Type   `json:"type"`
	// Format is "date", "date-time" (RFC 3339) or "byte" (base64), for strings that have one.
	Format string `json:"format"`
	// Enum are the values that both API versions know, PreviewEnum those that only the preview one does.
	Enum        []string `json:"enum"`
	PreviewEnum []string `json:"previewEnum"`
	// Documented is the default that the documentation states, "" where it states none clearly.
	Documented string `json:"default"`
	// Required properties must be there when the object they are in is.
	Required bool `json:"required"`
	// CreateOnly properties cannot change after creation, or cannot be set back to what they were before they were set.
	CreateOnly bool `json:"createOnly"`

	ReadOnly string `json:"readOnly"`
	Only     string `json:"only"`
}

// In tells whether the property exists in an API version.
func (p Property) In(preview bool) bool {
	return p.Only == "" || p.Only == version(preview)
}

// Settable tells whether a request of an API version may set the property.
func (p Property) Settable(preview bool) bool {
	return p.In(preview) && p.ReadOnly != "both" && p.ReadOnly != version(preview)
}

// Values are the values of an enumeration in an API version; none where every value of the type is allowed.
func (p Property) Values(preview bool) []string {
	if !preview {
		return p.Enum
	}
	out := append(slices.Clone(p.Enum), p.PreviewEnum...)
	slices.Sort(out)
	return out
}

// Scalar tells whether the property has no properties, items or entries.
func (p Property) Scalar() bool { return p.Type != Object && p.Type != Map && p.Type != List }

func version(preview bool) string {
	if preview {
		return "preview"
	}
	return "stable"
}

// Lookup is the property at a property path, of whichever API version.
func Lookup(kind Kind, path string) (Property, bool) {
	p, ok := tables()[kind].properties[path]
	return p, ok
}

// Names are the JSON names of the properties of the object at a property path that a request of an API version may set,
// sorted; "" is the body.
func Names(kind Kind, preview bool, path string) []string {
	var out []string
	for _, name := range tables()[kind].names[path] {
		if p, ok := Lookup(kind, Join(path, name)); ok && p.Settable(preview) {
			out = append(out, name)
		}
	}
	return out
}

// Join is the property path of a property of the object at a property path.
func Join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// APIVersion is the api-version that a table describes.
func APIVersion(preview bool) string {
	if preview {
		return tables()[ManagedCluster].Preview.APIVersion
	}
	return tables()[ManagedCluster].Stable.APIVersion
}

// Source is the SDK release that a table was generated from.
type Source struct {
	Module     string `json:"module"`
	Version    string `json:"version"`
	APIVersion string `json:"apiVersion"`
}

type table struct {
	Stable     Source     `json:"stable"`
	Preview    Source     `json:"preview"`
	Properties []Property `json:"properties"`

	properties map[string]Property
	// names are the JSON names of the properties of objects by the objects' path.
	names map[string][]string
}

var (
	//go:embed managedcluster.json
	managedCluster []byte
	//go:embed agentpool.json
	agentPool []byte
)

// tables panics when a generated file is broken, which cannot happen to a manager that was built from tested source.
var tables = sync.OnceValue(func() map[Kind]*table {
	out := map[Kind]*table{}
	for kind, content := range map[Kind][]byte{ManagedCluster: managedCluster, AgentPool: agentPool} {
		t := &table{properties: map[string]Property{}, names: map[string][]string{}}
		if err := json.Unmarshal(content, t); err != nil {
			panic(fmt.Sprintf("the generated table of %s: %v", kind, err))
		}
		for _, p := range t.Properties {
			t.properties[p.Path] = p
			at := strings.LastIndex(p.Path, ".")
			parent, name := p.Path[:max(at, 0)], p.Path[at+1:]
			if name != "*" && !strings.HasSuffix(name, "[]") {
				t.names[parent] = append(t.names[parent], name)
			}
		}
		out[kind] = t
	}
	return out
})
