package provider

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// unaskedTable is what Azure shows without being asked, and how it answers, by type and api-version. A new api-version is a row with its
// source and needs no code.
//
//go:embed unasked.json
var unaskedTable []byte

// Unasked is a property that Azure shows although no request had it.
type Unasked struct {
	Type string `json:"type"`
	// Path is dotted; "[]" stands for items. A property whose parent object is absent is not shown.
	Path string `json:"path"`
	// Since is the first api-version that shows it; empty for all.
	Since string `json:"since"`
	// Until is the first api-version that no longer shows it; empty for none.
	Until string `json:"until"`
	// Hide removes the property from these api-versions.
	Hide bool `json:"hide"`
	// InLists restricts it to answers with a list.
	InLists bool `json:"inLists"`
	// Value is the value, From the path of another property with it (of the first item of a list), Make the kind of a generated one: guid,
	// pairedRegion or scaleSet, which is a reference to the scale set of the resource's name.
	Value any    `json:"value"`
	From  string `json:"from"`
	Make  string `json:"make"`
	// Of is the path of the property that a generated value depends on; empty for the resource's ID.
	Of   string      `json:"of"`
	When []Condition `json:"when"`
	// Source and Recording prove it.
	Source    string `json:"source"`
	Recording string `json:"recording"`
}

// Condition is met by resources that have a property, with one of the values or with a text in it if these are given. An absent one is met by
// resources that do not have it.
type Condition struct {
	Path     string   `json:"path"`
	Absent   bool     `json:"absent"`
	In       []string `json:"in"`
	Contains string   `json:"contains"`
}

// UnusualAnswer is an answer of a type that differs from that of its wire style.
type UnusualAnswer struct {
	Type   string `json:"type"`
	Method string `json:"method"`
	Since  string `json:"since"`
	// Existing and Unchanged restrict a PUT to those of existing resources, and to those that change nothing.
	Existing  bool        `json:"existing"`
	Unchanged bool        `json:"unchanged"`
	When      []Condition `json:"when"`
	// Status takes the place of the usual status. A DELETE with status 200 ends at once. NoOperation leaves out the headers of the operation.
	Status      int    `json:"status"`
	NoOperation bool   `json:"noOperation"`
	Source      string `json:"source"`
	Recording   string `json:"recording"`
}

type table struct {
	Shown   []Unasked       `json:"shown"`
	Answers []UnusualAnswer `json:"answers"`
}

var readTable = sync.OnceValue(func() (t table) {
	if err := json.Unmarshal(unaskedTable, &t); err != nil {
		panic("unasked.json: " + err.Error()) // It is part of the binary.
	}
	return t
})

// ListUnasked returns the properties that Azure shows unasked.
func ListUnasked() []Unasked { return slices.Clone(readTable().Shown) }

// ListUnusualAnswers returns the answers that differ from those of their wire style.
func ListUnusualAnswers() []UnusualAnswer { return slices.Clone(readTable().Answers) }

// showUnasked adds the properties to a shown resource that Azure shows unasked in an api-version, alone or in a list. pairOf returns the pair of
// a region.
func showUnasked(resourceType, version string, inList bool, shown body.Object, pairOf func(region string) string) {
	for _, u := range readTable().Shown {
		if !u.includes(version) || u.InLists && !inList || !strings.EqualFold(u.Type, resourceType) || !areMet(u.When, shown) {
			continue
		}
		if u.Hide {
			body.Strip(shown, u.Path)
			continue
		}
		value := u.valueFor(shown, pairOf)
		if value == nil {
			continue
		}
		for _, parent := range parentsOf(shown, u.Path) {
			if name := u.Path[strings.LastIndexByte(u.Path, '.')+1:]; !hasMember(parent, name) {
				parent[name] = cloneValue(value)
			}
		}
	}
}

// dropUnasked removes the properties from a body that its sender has read and not chosen: those that the resource shows unasked, with the
// values that it shows. id is the resource's, old its stored body.
func (c *Call) dropUnasked(t *Type, id string, old, sent body.Object) {
	if old == nil || c.APIVersion == "" || c.Internal {
		return
	}
	whole := body.Clone(old)
	whole["id"] = id
	if location := body.String(sent, "location"); location != "" {
		whole["location"] = location
	}
	for _, u := range readTable().Shown {
		if !u.includes(c.APIVersion) || u.Hide || u.InLists || !strings.EqualFold(u.Type, t.Name) || !areMet(u.When, whole) {
			continue
		}
		value := u.valueFor(whole, c.Env.pairOf)
		was := parentsOf(whole, u.Path)
		name := u.Path[strings.LastIndexByte(u.Path, '.')+1:]
		for i, parent := range parentsOf(sent, u.Path) {
			if i < len(was) && !hasMember(was[i], name) && body.Equal(cloneValue(parent[name]), cloneValue(value)) {
				delete(parent, name)
			}
		}
	}
}

// includes reports whether the row is for an api-version.
func (u Unasked) includes(version string) bool {
	return version >= u.Since && (u.Until == "" || version < u.Until)
}

// valueFor returns the value of the property for a resource; nil if it has none.
func (u Unasked) valueFor(shown body.Object, pairOf func(string) string) any {
	switch {
	case u.From != "":
		for _, parent := range parentsOf(shown, u.From) {
			return body.Get(parent, u.From[strings.LastIndexByte(u.From, '.')+1:])
		}
		return nil
	case u.Make == "guid":
		of := body.String(shown, "id")
		if u.Of != "" {
			of = body.String(shown, u.Of)
		}
		sum := sha256.Sum256([]byte(strings.ToLower(of) + "/" + u.Path))
		digits := hex.EncodeToString(sum[:16])
		return digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-8" + digits[17:20] + "-" + digits[20:]
	case u.Make == "scaleSet":
		group, _, _ := strings.Cut(body.String(shown, "id"), "/providers/")
		return body.Object{"id": group + "/providers/Microsoft.Compute/virtualMachineScaleSets/" + body.String(shown, "name")}
	case u.Make == "pairedRegion":
		if pair := pairOf(body.String(shown, "location")); pair != "" {
			return pair
		}
		return nil
	}
	return u.Value
}

// parentsOf returns the objects that have or may get the last step of a path.
func parentsOf(o body.Object, path string) []body.Object {
	step, rest, isList := strings.Cut(path, "[].")
	if isList {
		var out []body.Object
		for _, item := range body.Objects(o, step) {
			out = append(out, parentsOf(item, rest)...)
		}
		return out
	}
	cut := strings.LastIndexByte(path, '.')
	if cut < 0 {
		return []body.Object{o}
	}
	if parent := body.Child(o, path[:cut]); parent != nil {
		return []body.Object{parent}
	}
	return nil
}

// hasMember reports whether an object has a member in any casing.
func hasMember(o body.Object, name string) bool {
	for key := range o {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

func cloneValue(value any) any {
	return body.Clone(body.Object{"value": value})["value"]
}

func areMet(conditions []Condition, o body.Object) bool {
	for _, c := range conditions {
		value := body.String(o, c.Path)
		if c.Absent {
			if body.Get(o, c.Path) != nil {
				return false
			}
			continue
		}
		if _, isObject := body.Get(o, c.Path).(body.Object); isObject && len(c.In) == 0 && c.Contains == "" {
			continue
		}
		switch {
		case value == "",
			len(c.In) > 0 && !slices.ContainsFunc(c.In, func(s string) bool { return strings.EqualFold(s, value) }),
			!strings.Contains(strings.ToLower(value), c.Contains):
			return false
		}
	}
	return true
}

// unusualAnswer returns the row for an answer of the call's type; a row without effect if there is none.
func (c *Call) unusualAnswer(method string, resource body.Object, existing, unchanged bool) UnusualAnswer {
	for _, a := range readTable().Answers {
		if strings.EqualFold(a.Type, c.Type.Name) && a.Method == method && c.APIVersion >= a.Since && !c.Internal &&
			(!a.Existing || existing) && (!a.Unchanged || unchanged) && areMet(a.When, resource) {
			return a
		}
	}
	return UnusualAnswer{}
}
