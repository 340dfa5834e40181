package definition

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Problem is the kind of fault in a value.
type Problem string

// The problems: the first two are found when a body is decoded, the others when its values are checked.
const (
	Unknown    Problem = "Unknown"    // there is no such property
	WrongType  Problem = "WrongType"  // another JSON type is defined
	Missing    Problem = "Missing"    // a required property is not there
	NotOneOf   Problem = "NotOneOf"   // not one of the values that are defined
	OutOfRange Problem = "OutOfRange" // a number, a length or a number of items
	NotLike    Problem = "NotLike"    // does not match the pattern
)

// Mismatch is a place where a body differs from the definition.
type Mismatch struct {
	Problem Problem
	// Path leads to the value, as in "properties.subnets[0].banana".
	Path string
	// Member is its last step, and Object the name of the definition that it is in.
	Member, Object string
	// Want is the definition: the JSON type, the values, the range or the pattern.
	Want string
	// Got is the JSON type that was sent, or for a scalar of that type the value.
	Got string
}

// PreventsDecoding reports whether the mismatch prevents decoding of the body.
func (m Mismatch) PreventsDecoding() bool { return m.Problem == Unknown || m.Problem == WrongType }

// envelope are properties of every resource: Resource Manager accepts them, and removes those that a type does not
// have. https://learn.microsoft.com/en-us/azure/azure-resource-manager/templates/resource-declaration
var envelope = []string{"id", "name", "type", "apiversion", "location", "tags", "properties", "etag", "systemdata", "kind", "sku", "plan",
	"identity", "managedby", "managedbyextended", "zones", "extendedlocation", "scale", "placement"}

// byURL are required properties of a template that a request has in its URL, and the location, which Resource Manager asks for.
var byURL = []string{"id", "name", "type", "apiVersion", "location"}

// retired are properties that versions older than those of the files had.
var retired = []string{
	// Recording Test_CELExportConfigMapPropertyOnDifferentVersion sends it to version 2024-09-01.
	"ManagedClusterProperties.enablePodSecurityPolicy",
	// az aks create 2.45.0 sends it to version 2022-11-01.
	"ContainerServiceNetworkProfile.dockerBridgeCidr",
}

// Check finds the mismatches of a body, by the order of paths; none when there is no definition. shown is the resource as it is
// read, nil for a new one: Azure shows properties that it does not publish, and takes them back. null is a missing value.
func Check(resourceType, version string, body, shown map[string]any) []Mismatch {
	d, root, ok := findDefinition(resourceType, version)
	if !ok {
		return nil
	}
	j := &judge{document: d, unpublished: map[string]bool{}}
	if version = strings.ToLower(version); version < releasesOf(resourceType)[0].version {
		for _, member := range retired {
			j.unpublished[member] = true
		}
	}
	if shown != nil {
		seen := &judge{document: d, unpublished: j.unpublished, collect: true}
		seen.checkValue(root, resourceType, "", shown, true)
	}
	j.checkValue(root, resourceType, "", body, true)
	return j.found
}

// judge goes through one body.
type judge struct {
	document
	found []Mismatch
	// unpublished are members that the definition has not and Azure takes, because it shows them or because the api-version is old, as
	// "<object>.<member>"; collect has the former noted, and nothing else.
	unpublished map[string]bool
	collect     bool
}

func (j *judge) addMismatch(problem Problem, within, path, want, got string) {
	if !j.collect {
		j.found = append(j.found,
			Mismatch{Problem: problem, Path: path, Member: path[strings.LastIndexByte(path, '.')+1:], Object: within, Want: want, Got: got})
	}
}

func (j *judge) checkValue(s schema, within, path string, value any, top bool) {
	if value == nil {
		return
	}
	switch {
	case s.Object != "":
		object, ok := value.(map[string]any)
		if !ok {
			j.addMismatch(WrongType, within, path, "object", kindOf(value))
			return
		}
		j.checkObject(j.Objects[s.Object], s.Object, path, object, top)
	case len(s.AnyOf) > 0:
		j.anyOf(s, within, path, value)
	case s.Type == "array":
		j.checkArray(s, within, path, value)
	case s.Type == "map":
		entries, ok := value.(map[string]any)
		if !ok {
			j.addMismatch(WrongType, within, path, "object", kindOf(value))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			j.checkInner(s.Values, within, path+"."+key, entries[key])
		}
	default:
		j.checkScalar(s, within, path, value)
	}
}

// anyOf has the mismatches of the shape that fits best: of the JSON type that was sent, and with the fewest.
func (j *judge) anyOf(s schema, within, path string, value any) {
	var best []Mismatch
	cost := math.MaxInt
	for _, option := range s.AnyOf {
		tried := &judge{document: j.document, unpublished: j.unpublished, collect: j.collect}
		tried.checkValue(option, within, path, value, false)
		here := len(tried.found)
		if here == 1 && tried.found[0].Path == path && tried.found[0].Problem == WrongType {
			here = math.MaxInt - 1
		}
		if here < cost {
			best, cost = tried.found, here
		}
	}
	j.found = append(j.found, best...)
}

func (j *judge) checkArray(s schema, within, path string, value any) {
	items, ok := value.([]any)
	if !ok {
		j.addMismatch(WrongType, within, path, "array", kindOf(value))
		return
	}
	j.checkLength(s.MinItems, s.MaxItems, len(items), "items", within, path)
	for i, item := range items {
		j.checkInner(s.Items, within, path+"["+strconv.Itoa(i)+"]", item)
	}
}

func (j *judge) checkInner(s *schema, within, path string, value any) {
	if s != nil {
		j.checkValue(*s, within, path, value, false)
	}
}

func (j *judge) checkObject(o schema, name, path string, object map[string]any, top bool) {
	properties, ok := j.objectMembers(o, object)
	if !ok {
		at := strings.TrimPrefix(path+"."+o.Discriminator, ".")
		if value, sent := object[o.Discriminator].(string); sent {
			j.addMismatch(NotOneOf, name, at, strings.Join(slices.Sorted(maps.Keys(o.Variants)), ", "), value)
		} else {
			j.addMismatch(Missing, name, at, "", "")
		}
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		if top && slices.Contains(envelope, strings.ToLower(key)) && properties[key].Object == "" {
			continue
		}
		_, s, known := findProperty(properties, key)
		switch {
		case known && s.hasFlag("readOnly"):
			// Clients send back the properties that they have read; providers ignore these.
		case known:
			j.checkValue(s, name, at, object[key], false)
		case o.Values != nil:
			j.checkValue(*o.Values, name, at, object[key], false)
		case j.collect:
			j.unpublished[name+"."+key] = true
		case j.unpublished[name+"."+key]:
		default:
			j.addMismatch(Unknown, name, at, "", kindOf(object[key]))
		}
	}
	j.checkRequired(properties, name, path, object, top)
}

// checkRequired finds missing properties. An object with an ID refers to another resource, and needs no other property.
func (j *judge) checkRequired(properties map[string]schema, name, path string, object map[string]any, top bool) {
	if _, reference := object["id"].(string); reference && !top {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		s := properties[key]
		if !s.hasFlag("required") || s.hasFlag("readOnly") || top && slices.Contains(byURL, key) {
			continue
		}
		there := object[key] != nil
		for other, value := range object {
			there = there || value != nil && strings.EqualFold(other, key)
		}
		if !there {
			j.addMismatch(Missing, name, strings.TrimPrefix(path+"."+key, "."), "", "")
		}
	}
}

func (j *judge) checkLength(least, most *int, got int, of, within, path string) {
	low, high := math.Inf(-1), math.Inf(1)
	if least != nil {
		low = float64(*least)
	}
	if most != nil {
		high = float64(*most)
	}
	if want := violatedRange(low, high, float64(got)); want != "" {
		j.addMismatch(OutOfRange, within, path, want+" "+of, strconv.Itoa(got)+" "+of)
	}
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
