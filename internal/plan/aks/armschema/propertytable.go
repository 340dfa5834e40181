package armschema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

var resourceTypes = map[Kind]string{
	ManagedCluster: "Microsoft.ContainerService/managedClusters",
	AgentPool:      "Microsoft.ContainerService/managedClusters/agentPools",
}

// urlProperties are the properties of a resource that its URL contains.
var urlProperties = []string{"id", "name", "type"}

// table holds the properties of a kind in one api-version.
type table struct {
	body       schema.Part
	properties map[string]Property
	// names are the JSON names of the properties of objects by the objects' path, sorted.
	names map[string][]string
}

type tableKey struct {
	kind    Kind
	version string
}

var tables sync.Map // *table by tableKey, only for versions with definitions

// findTable returns the table of the nearest defined version. It is built on first use.
func findTable(kind Kind, version string) *table {
	if made, ok := tables.Load(tableKey{kind, version}); ok {
		return made.(*table)
	}
	definition, ok := schema.NearestDefinition(resourceTypes[kind], version)
	switch {
	case !ok:
		return &table{}
	case definition.APIVersion != version:
		// Users choose versions, so only tables of defined versions are kept.
		return findTable(kind, definition.APIVersion)
	}
	made, _ := tables.LoadOrStore(tableKey{kind, version}, newTable(kind, definition))
	return made.(*table)
}

func newTable(kind Kind, definition schema.Definition) *table {
	t := &table{body: definition.Body(), properties: map[string]Property{}, names: map[string][]string{}}
	w := tableBuilder{table: t, notes: readNotes()[kind]}
	w.addObject(Property{}, definition.Body(), nil)
	return t
}

type tableBuilder struct {
	*table
	notes map[string]propertyNote
}

// addObject adds the properties of an object. parents are the names of the objects around it, because definitions can be recursive:
// errors have errors as details.
func (w tableBuilder) addObject(of Property, part schema.Part, parents []string) {
	name := part.Shape().Object
	if slices.Contains(parents, name) {
		return
	}
	parents = append(slices.Clone(parents), name)
	properties := part.Properties()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if of.Path == "" && name == "apiVersion" {
			continue
		}
		inner := properties[name]
		s := inner.Shape()
		p := Property{Path: jsonpath.JoinMember(of.Path, name), Required: s.HasFlag(schema.Required), ReadOnly: of.ReadOnly ||
			s.HasFlag(schema.ReadOnly), CreateOnly: of.CreateOnly}
		p.ReadOnly = p.ReadOnly || of.Path == "" && slices.Contains(urlProperties, name)
		w.names[of.Path] = append(w.names[of.Path], name)
		w.addProperty(p, inner, parents)
	}
}

func (w tableBuilder) addProperty(p Property, part schema.Part, parents []string) {
	note, s := w.notes[p.Path], part.Shape()
	p.part, p.Values = part, slices.Sorted(slices.Values(s.Enum))
	p.CreateOnly, p.DocumentedDefault, p.Format = p.CreateOnly || note.CreateOnly, note.Default, note.Format
	p.Type = Type(s.Type)
	switch {
	case s.Object != "":
		p.Type = Object
	case s.Type == "array":
		p.Type = List
	case len(s.AnyOf) > 0, s.Type == "":
		p.Type = Any
	case p.Format == string(Number):
		// The definitions have only integers.
		p.Type, p.Format = Number, ""
	case p.Format != "":
		// The definitions have no bytes.
		p.Type = String
	}
	w.properties[p.Path] = p
	inner := Property{ReadOnly: p.ReadOnly, CreateOnly: p.CreateOnly}
	switch {
	case p.Path == "properties.agentPoolProfiles":
	case p.Type == Object:
		inner.Path = p.Path
		w.addObject(inner, part, parents)
	case p.Type == List:
		inner.Path = p.Path + "[]"
		w.addProperty(inner, part.Items(), parents)
	case p.Type == Map:
		inner.Path = p.Path + ".*"
		w.addProperty(inner, part.Values(), parents)
	}
}

// propertyNote contains the facts about a property that the definitions lack. CreateOnly of an object applies to all its properties.
type propertyNote struct {
	Path       string `json:"path"`
	Format     string `json:"format"`
	Default    string `json:"default"`
	CreateOnly bool   `json:"createOnly"`
}

//go:embed notes.json
var notesFile []byte

// readNotes panics if the generated file is broken, which tests prevent.
var readNotes = sync.OnceValue(func() map[Kind]map[string]propertyNote {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(notesFile, &file); err != nil {
		panic(fmt.Sprintf("the generated notes: %v", err))
	}
	out := map[Kind]map[string]propertyNote{}
	for kind := range resourceTypes {
		var list []propertyNote
		if err := json.Unmarshal(file[string(kind)], &list); err != nil {
			panic(fmt.Sprintf("the generated notes of %s: %v", kind, err))
		}
		out[kind] = map[string]propertyNote{}
		for _, n := range list {
			out[kind][n.Path] = n
		}
	}
	return out
})
