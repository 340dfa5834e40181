package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Desired is the desired state of a resource.
type Desired struct {
	// Type is the row of the resource's type.
	Type types.Type
	// Body is the plan's body as decoded JSON.
	Body any
	// OwnedPaths lists dotted paths that are compared even when Body does not have them. A list element is named in brackets,
	// as in "properties.probes[HTTPSProbe]"; a trailing * matches every name with that prefix.
	OwnedPaths []string
	// DropTags lists keys of tags that must be absent.
	DropTags []string
}

// Difference is one path where an observed resource differs from the desired state.
type Difference struct {
	// Path is dotted, with list elements by name in brackets.
	Path string
	// Want and Have are the values as short JSON, "(absent)" if there is none. They are hidden for paths that may hold secrets.
	Want, Have string
	// Renewed means that the value is one of Type.RenewedStates.
	Renewed bool
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: have %s, want %s", d.Path, d.Have, d.Want)
}

// PathsOf returns the paths of differences, in order.
func PathsOf(differences []Difference) []string {
	out := make([]string, 0, len(differences))
	for _, difference := range differences {
		out = append(out, difference.Path)
	}
	return out
}

// Diff returns the differences between want and observed, sorted by path. It compares only paths that want has or owns and skips
// write-only ones. Null, the empty string, false and empty lists and objects equal absence. Lists of objects match by name, or else by
// ID, by service, or by position; lists of scalars match in any order. Text is compared exactly unless the type's row has an exception.
func Diff(want Desired, observed any) []Difference {
	d := differ{desired: want}
	d.compareValue("", "", want.Body, observed)
	for _, path := range want.OwnedPaths {
		d.reportOwnedPath(path, observed)
	}
	d.reportDroppedKinds(observed)
	d.reportDroppedTags(observed)
	d.reportRenewedStates(observed)
	slices.SortFunc(d.out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(d.out, func(a, b Difference) bool { return a.Path == b.Path })
}

type differ struct {
	desired Desired
	out     []Difference
}

// compareValue compares one value. path has the names of list elements and the keys of maps, shape has "[]" and "*" in their place, as
// the paths in the table.
func (d *differ) compareValue(path, shape string, want, have any) {
	if isTags(shape) {
		d.compareTags(path, shape, want, have)
		return
	}
	if slices.Contains(d.desired.Type.WriteOnlyPaths, shape) || isEmpty(want) && isEmpty(have) {
		return
	}
	if d.desired.Type.SharedIdentity && shape == identityType {
		if !sameIdentityType(d.desired, want, have) {
			d.addDifference(path, want, have)
		}
		return
	}
	switch want := want.(type) {
	case map[string]any:
		if d.desired.Type.SharedIdentity && shape == identityUsers {
			d.missingIdentities(path, want, have)
			return
		}
		object, ok := have.(map[string]any)
		if !ok && !isEmpty(have) {
			d.addDifference(path, want, have)
			return
		}
		d.compareMembers(path, shape, "", want, object)
	case []any:
		list, ok := have.([]any)
		if !ok && !isEmpty(have) {
			d.addDifference(path, want, have)
			return
		}
		d.compareList(path, shape, want, list)
	default:
		if !d.sameScalar(shape, want, have) {
			d.addDifference(path, want, have)
		}
	}
}

// compareMembers compares the members of an object, except the one that identified it.
func (d *differ) compareMembers(path, shape, found string, want, have map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if key == found {
			continue
		}
		value, _ := d.lookupMember(shape, have, key)
		d.compareValue(jsonpath.JoinMember(path, key), memberShape(d.desired.Type, shape, key), want[key], value)
	}
	d.reportExtraKeys(path, shape, want, have)
}

// reportExtraKeys reports keys of a map that a PUT would remove.
func (d *differ) reportExtraKeys(path, shape string, want, have map[string]any) {
	if !slices.Contains(d.desired.Type.ReplacedMaps, shape) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if _, wanted := d.lookupMember(shape, want, key); !wanted {
			d.addDifference(jsonpath.JoinMember(path, key), nil, have[key])
		}
	}
}

func (d *differ) compareList(path, shape string, want, have []any) {
	key := jsonpath.ElementKey(want, have)
	if key == "" && !containsObjects(want) && !containsObjects(have) {
		if !d.sameScalars(shape, want, have) {
			d.addDifference(path, want, have)
		}
		return
	}
	carried := slices.Contains(d.desired.Type.SharedLists, shape) || slices.Contains(d.desired.Type.ChildLists, shape)
	if key == "" {
		if len(want) != len(have) {
			d.addDifference(path, want, have)
			return
		}
		for i := range want {
			d.compareValue(fmt.Sprintf("%s[%d]", path, i), shape+"[]", want[i], have[i])
		}
		return
	}
	for _, item := range want {
		name := jsonpath.ElementName(item, key)
		element := jsonpath.FindElement(have, key, name)
		here := path + "[" + name + "]"
		if element == nil {
			d.addDifference(here, item, nil)
			continue
		}
		d.compareElement(here, shape+"[]", key, item, element)
	}
	for _, item := range have {
		name := jsonpath.ElementName(item, key)
		if carried && !ownsElement(d.desired.OwnedPaths, path, name) {
			continue
		}
		if jsonpath.FindElement(want, key, name) == nil {
			d.addDifference(path+"["+name+"]", nil, item)
		}
	}
}

// compareElement compares two elements with the same name or ID. Names of resources are not case-sensitive in Azure, those in free-form
// values are.
func (d *differ) compareElement(path, shape, key string, want, have any) {
	wanted, _ := want.(map[string]any)
	object, ok := have.(map[string]any)
	if !ok || isFreeForm(d.desired.Type, shape) {
		d.compareValue(path, shape, want, have)
		return
	}
	d.compareMembers(path, shape, key, wanted, object)
}

func (d *differ) compareTags(path, shape string, want, have any) {
	wanted, _ := want.(map[string]any)
	tags, _ := have.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		value, ok := jsonpath.LookUp(tags, key)
		if !ok || value != wanted[key] {
			d.addDifference(jsonpath.JoinMember(path, key), wanted[key], value)
		}
	}
	d.reportExtraKeys(path, shape, wanted, tags)
}

func (d *differ) reportDroppedTags(observed any) {
	object, _ := observed.(map[string]any)
	tags, _ := object["tags"].(map[string]any)
	body, _ := d.desired.Body.(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	for _, key := range d.desired.DropTags {
		if _, wants := jsonpath.LookUp(wanted, key); wants {
			continue
		}
		if value, ok := jsonpath.LookUp(tags, key); ok {
			d.addDifference("tags."+key, nil, value)
		}
	}
}

// reportRenewedStates reports states that a PUT ends.
func (d *differ) reportRenewedStates(observed any) {
	for path, states := range d.desired.Type.RenewedStates {
		for _, match := range jsonpath.Expand(observed, path) {
			text, _ := match.Value.(string)
			if slices.ContainsFunc(states, func(state string) bool { return strings.EqualFold(state, text) }) {
				d.out = append(d.out, Difference{Path: path, Want: formatValue(path, nil), Have: formatValue(path, text), Renewed: true})
			}
		}
	}
}

// NeedsRenewal reports whether an observed resource of a type is in a state that a PUT ends.
func NeedsRenewal(row types.Type, observed any) bool {
	d := differ{desired: Desired{Type: row}}
	d.reportRenewedStates(observed)
	return len(d.out) > 0
}

// reportOwnedPath reports existing values at an owned path where the plan has none.
func (d *differ) reportOwnedPath(path string, observed any) {
	for _, match := range jsonpath.Expand(observed, path) {
		if isEmpty(match.Value) {
			continue
		}
		if value := match.Path.GetFold(d.desired.Body); isEmpty(value) {
			d.addDifference(match.Path.String(), nil, match.Value)
		}
	}
}

func (d *differ) addDifference(path string, want, have any) {
	d.out = append(d.out, Difference{Path: path, Want: formatValue(path, want), Have: formatValue(path, have)})
}
