package compare

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Want is what a plan wants of a resource.
type Want struct {
	// Type is the row of the resource's type.
	Type types.Type
	// Body is the plan's body as decoded JSON.
	Body any
	// Owned lists dotted paths that are compared even when Body does not have them. A list element is named in brackets,
	// as in "properties.probes[HTTPSProbe]"; a trailing * matches every name with that prefix.
	Owned []string
	// DropTags lists tag keys that must not be there.
	DropTags []string
}

// Difference is one path in which an observed resource is not what the plan wants.
type Difference struct {
	// Path is dotted, with list elements by name in brackets.
	Path string
	// Want and Have are the values as short JSON, "(absent)" where there is none. They are hidden for paths that may
	// hold secrets.
	Want, Have string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: have %s, want %s", d.Path, d.Have, d.Want)
}

// Paths are the paths of differences, in order.
func Paths(differences []Difference) []string {
	out := make([]string, 0, len(differences))
	for _, difference := range differences {
		out = append(out, difference.Path)
	}
	return out
}

// Diff lists, sorted by path, where observed is not what want sends. Only paths that want sends or owns are looked at;
// write-only paths are skipped; null, the empty string, false and empty lists and objects are the same as absence; lists
// of objects match by name, else by ID, else by service, else by position; lists of scalars match in any order. Text is
// compared exactly where the type's row does not say otherwise.
func Diff(want Want, observed any) []Difference {
	d := differ{want: want}
	d.value("", "", want.Body, observed)
	for _, path := range want.Owned {
		d.owned(path, observed)
	}
	d.dropTags(observed)
	slices.SortFunc(d.out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(d.out, func(a, b Difference) bool { return a.Path == b.Path })
}

type differ struct {
	want Want
	out  []Difference
}

// value compares one value. path names list elements and keys of maps, shape has "[]" and "*" in their place, as the table's
// paths do.
func (d *differ) value(path, shape string, want, have any) {
	if isTags(shape) {
		d.tags(path, shape, want, have)
		return
	}
	if slices.Contains(d.want.Type.WriteOnly, shape) || empty(want) && empty(have) {
		return
	}
	if d.want.Type.SharedIdentity && shape == identityType {
		if !sameIdentityType(d.want, want, have) {
			d.add(path, want, have)
		}
		return
	}
	switch want := want.(type) {
	case map[string]any:
		if d.want.Type.SharedIdentity && shape == identityUsers {
			d.missingIdentities(path, want, have)
			return
		}
		object, ok := have.(map[string]any)
		if !ok && !empty(have) {
			d.add(path, want, have)
			return
		}
		d.members(path, shape, "", want, object)
	case []any:
		list, ok := have.([]any)
		if !ok && !empty(have) {
			d.add(path, want, have)
			return
		}
		d.list(path, shape, want, list)
	default:
		if !d.sameScalar(shape, want, have) {
			d.add(path, want, have)
		}
	}
}

// members compares the members of an object but the one by which it was found.
func (d *differ) members(path, shape, found string, want, have map[string]any) {
	for _, key := range sortedKeys(want) {
		if key == found {
			continue
		}
		value, _ := d.lookup(shape, have, key)
		d.value(join(path, key), member(d.want.Type, shape, key), want[key], value)
	}
	d.rest(path, shape, want, have)
}

// rest reports what a map that a PUT replaces has and is wanted no more.
func (d *differ) rest(path, shape string, want, have map[string]any) {
	if !slices.Contains(d.want.Type.Whole, shape) {
		return
	}
	for _, key := range sortedKeys(have) {
		if _, wanted := d.lookup(shape, want, key); !wanted {
			d.add(join(path, key), nil, have[key])
		}
	}
}

func (d *differ) list(path, shape string, want, have []any) {
	key := elementKey(want, have)
	if key == "" && !objects(want) && !objects(have) {
		if !d.sameScalars(shape, want, have) {
			d.add(path, want, have)
		}
		return
	}
	carried := slices.Contains(d.want.Type.Carry, shape) || slices.Contains(d.want.Type.CarryWhole, shape)
	if key == "" {
		if len(want) != len(have) {
			d.add(path, want, have)
			return
		}
		for i := range want {
			d.value(fmt.Sprintf("%s[%d]", path, i), shape+"[]", want[i], have[i])
		}
		return
	}
	for _, item := range want {
		name := keyOf(item, key)
		element := find(have, key, name)
		here := path + "[" + name + "]"
		if element == nil {
			d.add(here, item, nil)
			continue
		}
		d.element(here, shape+"[]", key, item, element)
	}
	for _, item := range have {
		name := keyOf(item, key)
		if carried && !owns(d.want.Owned, path, name) {
			continue
		}
		if find(want, key, name) == nil {
			d.add(path+"["+name+"]", nil, item)
		}
	}
}

// element compares an element of a list with the one that has its name or ID: names of resources have no case in Azure,
// those in other's text do.
func (d *differ) element(path, shape, key string, want, have any) {
	wanted, _ := want.(map[string]any)
	object, ok := have.(map[string]any)
	if !ok || exact(d.want.Type, shape) {
		d.value(path, shape, want, have)
		return
	}
	d.members(path, shape, key, wanted, object)
}

func (d *differ) tags(path, shape string, want, have any) {
	wanted, _ := want.(map[string]any)
	tags, _ := have.(map[string]any)
	for _, key := range sortedKeys(wanted) {
		value, ok := lookup(tags, key)
		if !ok || value != wanted[key] {
			d.add(join(path, key), wanted[key], value)
		}
	}
	d.rest(path, shape, wanted, tags)
}

func (d *differ) dropTags(observed any) {
	object, _ := observed.(map[string]any)
	tags, _ := object["tags"].(map[string]any)
	body, _ := d.want.Body.(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	for _, key := range d.want.DropTags {
		if _, wants := lookup(wanted, key); wants {
			continue
		}
		if value, ok := lookup(tags, key); ok {
			d.add("tags."+key, nil, value)
		}
	}
}

// owned reports values that are there although the plan has none at a path it owns.
func (d *differ) owned(path string, observed any) {
	for _, match := range expand(splitPath(path), observed, "") {
		if empty(match.value) {
			continue
		}
		if value := at(d.want.Body, match.steps); empty(value) {
			d.add(match.path, nil, match.value)
		}
	}
}

func (d *differ) add(path string, want, have any) {
	d.out = append(d.out, Difference{Path: path, Want: short(path, want), Have: short(path, have)})
}
