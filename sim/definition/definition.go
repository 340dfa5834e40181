// Package definition holds request bodies against Azure's published definitions of resource types: does a property exist in
// the api-version that is spoken, and has it the JSON type that is defined?
//
// Its promise: what Azure has taken in recorded traffic has no mismatch, and what the definitions do not tell is nothing
// wrong. It is the simulator's own reader of the files of package definitions.
package definition

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/definitions"
)

// Mismatch is a place where a body is not what the definition says.
type Mismatch struct {
	// Path leads to the value, as in "properties.subnets[0].banana".
	Path string
	// Member is its last step, and Object the name of the definition that it is in.
	Member, Object string
	// Want is the JSON type that is defined; "" for a member that does not exist.
	Want string
	// Got is the JSON type that was sent.
	Got string
}

type document struct {
	Resources map[string]schema
	Objects   map[string]schema
}

// schema is both what the files call a shape and what they call an object.
type schema struct {
	Object, Type, Discriminator string
	Flags                       []string
	Items, Values               *schema
	AnyOf                       []schema
	Properties                  map[string]schema
	Variants                    map[string]schema
	Minimum, Maximum            *float64
}

// library are the documents by provider and version, in lower case.
var library = sync.OnceValue(func() map[string]func() document {
	out := map[string]func() document{}
	entries, err := definitions.Files.ReadDir(".")
	if err != nil {
		panic(err) // The files are part of the binary.
	}
	for _, entry := range entries {
		name, isDocument := strings.CutSuffix(entry.Name(), ".json")
		if !isDocument {
			continue
		}
		out[strings.ToLower(name)] = sync.OnceValue(func() (d document) {
			raw, err := definitions.Files.ReadFile(name + ".json")
			if err == nil {
				err = json.Unmarshal(raw, &d)
			}
			if err != nil {
				panic(name + ": " + err.Error())
			}
			return d
		})
	}
	return out
})

// find is the document that tells of a type in a version, or else in the next newer version that is no preview, and the
// type's body. A preview has properties that never came to more, so that one which is not there is told by none.
func find(resourceType, version string) (document, schema, bool) {
	provider, _, _ := strings.Cut(strings.ToLower(resourceType), "/")
	version = strings.ToLower(version)
	docs := library()
	var candidates []string
	for key := range docs {
		of, at, _ := strings.Cut(key, "@")
		if of == provider && (at == version || at > version && !preview(at) && !preview(version)) {
			candidates = append(candidates, key)
		}
	}
	slices.Sort(candidates)
	for _, key := range candidates {
		d := docs[key]()
		for name, body := range d.Resources {
			if strings.EqualFold(name, resourceType) {
				return d, body, true
			}
		}
	}
	return document{}, schema{}, false
}

func preview(version string) bool { return strings.HasSuffix(version, "-preview") }

// envelope are properties of every resource: Resource Manager takes them, and takes away what a type does not have.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/templates/resource-declaration
var envelope = []string{"id", "name", "type", "apiversion", "location", "tags", "properties", "etag", "systemdata", "kind", "sku", "plan", "identity", "managedby", "managedbyextended", "zones", "extendedlocation", "scale", "placement"}

// retired are properties that versions older than those of the files had.
var retired = []string{
	// Recording Test_CELExportConfigMapPropertyOnDifferentVersion sends it to version 2024-09-01.
	"ManagedClusterProperties.enablePodSecurityPolicy",
}

// Check finds the first mismatch of a body, by the order of paths; nil when there is none, or no definition. shown is the
// resource as it is read, nil for a new one: Azure shows properties that it does not publish, and takes them back.
func Check(resourceType, version string, body, shown map[string]any) *Mismatch {
	d, root, ok := find(resourceType, version)
	if !ok {
		return nil
	}
	j := judge{document: d, unpublished: map[string]bool{}}
	if shown != nil {
		j.collect = true
		j.check(root, resourceType, "", shown, true)
		j.collect = false
	}
	return j.check(root, resourceType, "", body, true)
}

// judge goes through one body.
type judge struct {
	document
	// unpublished are members that no definition has and Azure shows, as "<object>.<member>"; collect has them noted, and
	// nothing else.
	unpublished map[string]bool
	collect     bool
}

func (j judge) check(s schema, within, path string, value any, top bool) *Mismatch {
	if value == nil {
		return nil
	}
	wrong := func(want string) *Mismatch {
		if j.collect {
			return nil
		}
		return &Mismatch{Path: path, Member: path[strings.LastIndexByte(path, '.')+1:], Object: within, Want: want, Got: kindOf(value)}
	}
	switch {
	case s.Object != "":
		object, ok := value.(map[string]any)
		if !ok {
			return wrong("object")
		}
		return j.members(j.Objects[s.Object], s.Object, path, object, top)
	case len(s.AnyOf) > 0:
		var first *Mismatch
		for _, option := range s.AnyOf {
			m := j.check(option, within, path, value, false)
			if m == nil {
				return nil
			}
			if first == nil {
				first = m
			}
		}
		return first
	case s.Type == "array":
		items, ok := value.([]any)
		if !ok {
			return wrong("array")
		}
		for i, item := range items {
			if m := j.inner(s.Items, within, path+"["+strconv.Itoa(i)+"]", item); m != nil {
				return m
			}
		}
	case s.Type == "map":
		entries, ok := value.(map[string]any)
		if !ok {
			return wrong("object")
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if m := j.inner(s.Values, within, path+"."+key, entries[key]); m != nil {
				return m
			}
		}
	case s.Type == "integer":
		n, ok := value.(float64)
		// Bicep calls prices integers: it has no other numbers.
		if !ok || n != math.Trunc(n) && (s.Minimum != nil || s.Maximum != nil) {
			return wrong("integer")
		}
	case s.Type == "string" || s.Type == "boolean":
		if kindOf(value) != s.Type {
			return wrong(s.Type)
		}
	}
	return nil
}

func (j judge) inner(s *schema, within, path string, value any) *Mismatch {
	if s == nil {
		return nil
	}
	return j.check(*s, within, path, value, false)
}

func (j judge) members(o schema, name, path string, object map[string]any, top bool) *Mismatch {
	properties := maps.Clone(o.Properties)
	if o.Discriminator != "" {
		value, _ := object[o.Discriminator].(string)
		for variant, s := range o.Variants {
			if strings.EqualFold(variant, value) {
				maps.Copy(properties, j.Objects[s.Object].Properties)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		if top && slices.Contains(envelope, strings.ToLower(key)) && properties[key].Object == "" {
			continue
		}
		s, known := properties[key]
		for other, candidate := range properties {
			if !known && strings.EqualFold(other, key) {
				s, known = candidate, true
			}
		}
		switch {
		case known && slices.Contains(s.Flags, "readOnly"):
			// Clients send back what they have read; providers pass it over.
		case known:
			if m := j.check(s, name, at, object[key], false); m != nil {
				return m
			}
		case o.Values != nil:
			if m := j.check(*o.Values, name, at, object[key], false); m != nil {
				return m
			}
		case j.collect:
			j.unpublished[name+"."+key] = true
		case j.unpublished[name+"."+key], slices.Contains(retired, name+"."+key):
		default:
			return &Mismatch{Path: at, Member: key, Object: name, Got: kindOf(object[key])}
		}
	}
	return nil
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "null"
	}
}
