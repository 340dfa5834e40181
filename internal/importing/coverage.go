package importing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Coverage is the result of the import for one property or resource.
type Coverage string

// The kinds of coverage.
const (
	// Carried means that the plan of the manifests has the value.
	Carried Coverage = "carried"
	// Default means that Azure fills in the value if a request leaves it out.
	Default Coverage = "default"
	// Listed means that the manifests lack the value. Reason explains why.
	Listed Coverage = "listed"
)

// Finding is the result for one property of a resource, or for the resource as a whole if Path is empty.
type Finding struct {
	Resource arm.ID   `json:"resource"`
	Path     string   `json:"path,omitempty"`
	Coverage Coverage `json:"outcome"`
	// Properties is how many properties the finding stands for: those below a listed path.
	Properties int `json:"properties"`
	// Value is the value in Azure as short text, for a listed property. It is no secret.
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Count returns how many properties have a kind of coverage.
func Count(findings []Finding, coverage Coverage) int {
	n := 0
	for _, f := range findings {
		if f.Coverage == coverage {
			n += f.Properties
		}
	}
	return n
}

// reasonKey is the place of a reason.
type reasonKey struct{ id, path string }

// explain records why a resource (with an empty path) or a property is not carried.
func (w *writer) explain(id arm.ID, path, why string) {
	key := reasonKey{id.Key(), strings.ToLower(jsonpath.Parse(path).String())}
	if _, has := w.reasons[key]; !has {
		w.reasons[key] = why
	}
}

const (
	reasonStays   = "no field of the manifests has it. It stays as it is"
	reasonDiffers = "the manifests result in another value. Azure keeps this one until the field changes"
	reasonBrought = "it does not carry the ownership tag of the cluster, so it is used as it is"
	reasonOther   = "it is not part of the manifests and stays as it is"
	reasonTag     = "it is a tag of this resource alone. It stays as it is"
)

// listFindings compares all resources with the plans of the objects.
func (w *writer) listFindings() ([]Finding, error) {
	nodes, err := w.planNodes()
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, key := range sortedKeys(w.estate.Resources) {
		r := w.estate.Resources[key]
		c := coverage{w: w, resource: r}
		if err := c.addResource(nodes[key]); err != nil {
			return nil, err
		}
		out = append(out, c.out...)
	}
	for _, id := range w.estate.Others {
		if w.isInstance(id) {
			continue // The objects of instances are created by the provider.
		}
		out = append(out, Finding{Resource: id, Coverage: Listed, Reason: "no manifest of the provider describes this type. It stays as it is"})
	}
	for _, id := range slices.SortedFunc(maps.Keys(w.estate.Unreadable), func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) }) {
		out = append(out, Finding{Resource: id, Coverage: Listed, Reason: "it could not be read: " + w.estate.Unreadable[id]})
	}
	return out, nil
}

// reasonUnplanned returns the reason why no plan has a resource.
func reasonUnplanned(r Resource) string {
	var shown struct{ ManagedBy string }
	if strings.EqualFold(r.ID.Type(), types.Disk) && json.Unmarshal(r.Body, &shown) == nil && shown.ManagedBy != "" {
		return fmt.Sprintf("it is attached to %s, which keeps it: as a disk of an instance of a pool, of a volume, or with a name that an AzureMachine does not give", arm.ID(shown.ManagedBy).Name())
	}
	return reasonOther
}

// coverage makes the findings of one resource.
type coverage struct {
	w        *writer
	resource Resource
	out      []Finding
}

// addResource adds the findings of the resource, which has a node in a plan or not.
func (c *coverage) addResource(node *arm.Node) error {
	raw, err := arm.DecodeBody(c.resource.Body)
	if err != nil {
		return fmt.Errorf("%s cannot be read, because Azure's answer is not JSON: %w", c.resource.ID, err)
	}
	row, _ := types.ForID(c.resource.ID)
	definition, ok := schema.NearestDefinition(c.resource.ID.Type(), row.APIVersion)
	shown := raw
	if ok {
		shown = definition.Body().StripUnsettable(raw)
	}
	body, _ := shown.(map[string]any)
	for _, key := range []string{"id", "name", "type", "etag"} {
		delete(body, key)
	}
	why := c.w.reasons[reasonKey{c.resource.ID.Key(), ""}]
	if node == nil || node.Body == nil || why != "" {
		switch {
		case why != "":
		case node != nil:
			why = reasonBrought
		default:
			why = reasonUnplanned(c.resource)
		}
		c.out = append(c.out, Finding{Resource: c.resource.ID, Coverage: Listed, Properties: countLeaves(body), Reason: why})
		return nil
	}
	decoded, err := arm.DecodeBody(node.Body)
	if err != nil {
		return err
	}
	planned, _ := decoded.(map[string]any)
	c.compareObject(nil, body, planned)
	return nil
}

// compareObject adds the findings of the members of an object.
func (c *coverage) compareObject(path jsonpath.Path, shown, planned map[string]any) {
	for _, key := range sortedKeys(shown) {
		value, _ := jsonpath.LookUp(planned, key)
		c.compareValue(path.Member(key), shown[key], value)
	}
}

func (c *coverage) compareValue(path jsonpath.Path, shown, planned any) {
	if c.isOwnID(path, shown) || isEmpty(shown) {
		return
	}
	if len(path) == 2 && path[0].Name == "tags" && isProvidersTag(path[1].Name) {
		c.add(path, Carried, 1) // The provider gives resources these tags, or knows the resource by them.
		return
	}
	if why := c.reasonAt(path); why != "" && planned == nil {
		c.list(path, shown, why)
		return
	}
	switch shown := shown.(type) {
	case map[string]any:
		if of, is := planned.(map[string]any); is {
			c.compareObject(path, shown, of)
			return
		}
		if planned == nil && c.onlyDefaults(path, shown) {
			c.add(path, Default, countLeaves(shown))
			return
		}
		if planned == nil {
			c.compareObject(path, shown, nil)
			return
		}
	case []any:
		if of, is := planned.([]any); is || planned == nil {
			c.compareList(path, shown, of)
			return
		}
	default:
		switch {
		case planned != nil && equalScalars(shown, planned):
			c.add(path, Carried, 1)
			return
		case planned == nil && c.isDiskField(path):
			c.add(path, Carried, 1)
			return
		case planned == nil && isDefault(c.resource.ID.Type(), path, shown):
			c.add(path, Default, 1)
			return
		case planned == nil && len(path) > 0 && path[0].Name == "tags":
			c.list(path, shown, reasonTag)
			return
		}
	}
	why := reasonStays
	if planned != nil {
		why = cmp.Or(c.reasonAt(path), reasonDiffers)
	}
	c.list(path, shown, why)
}

// compareList adds the findings of the elements of a list. Elements with names are compared by name, others by value.
func (c *coverage) compareList(path jsonpath.Path, shown, planned []any) {
	key := jsonpath.ElementKey(shown, planned)
	for i, item := range shown {
		name := jsonpath.ElementName(item, key)
		if name == "" {
			name = fmt.Sprint(i)
		}
		var of any
		if key != "" {
			of = jsonpath.FindElement(planned, key, jsonpath.ElementName(item, key))
		} else if at := slices.IndexFunc(planned, func(p any) bool { return equalScalars(item, p) }); at >= 0 {
			of = planned[at]
		} else if i < len(planned) {
			of = planned[i]
		}
		element, isObject := item.(map[string]any)
		if of == nil && key != "" && isObject && c.reasonAt(path.Element(name)) == "" && !c.onlyDefaults(path.Element(name), element) {
			c.list(path.Element(name), item, reasonStays)
			continue
		}
		c.compareValue(path.Element(name), item, of)
	}
}

// reasonAt returns the recorded reason for a path.
func (c *coverage) reasonAt(path jsonpath.Path) string {
	return c.w.reasons[reasonKey{c.resource.ID.Key(), strings.ToLower(path.String())}]
}

// isOwnID reports whether a value is the ID, name or state of a part of the resource.
func (c *coverage) isOwnID(path jsonpath.Path, value any) bool {
	if len(path) == 0 {
		return false
	}
	text, _ := value.(string)
	switch strings.ToLower(path[len(path)-1].Name) {
	case "id":
		return arm.ID(text).IsWithin(c.resource.ID)
	case "etag", "type", "provisioningstate":
		return len(path) > 1 && path[0].Name != "tags" && !strings.Contains(path.String(), "xtension")
	}
	return false
}

// isDiskField reports whether a property is one of a machine's disk that follows from the machine. Disks without a machine do not get here.
func (c *coverage) isDiskField(path jsonpath.Path) bool {
	shape := path.Shape().String()
	return strings.EqualFold(c.resource.ID.Type(), types.Disk) && slices.ContainsFunc(diskFields, func(of string) bool { return strings.EqualFold(of, shape) })
}

func (c *coverage) onlyDefaults(path jsonpath.Path, shown map[string]any) bool {
	all := true
	jsonpath.Walk(shown, func(at jsonpath.Path, value any) bool {
		switch value.(type) {
		case map[string]any, []any:
			return true
		}
		full := append(slices.Clone(path), at...)
		all = all && (isEmpty(value) || c.isOwnID(full, value) || isDefault(c.resource.ID.Type(), full, value))
		return true
	})
	return all
}

func (c *coverage) add(path jsonpath.Path, coverage Coverage, n int) {
	c.out = append(c.out, Finding{Resource: c.resource.ID, Path: path.String(), Coverage: coverage, Properties: n})
}

func (c *coverage) list(path jsonpath.Path, value any, why string) {
	text := compare.FormatValue(path.String(), value)
	c.out = append(c.out, Finding{Resource: c.resource.ID, Path: path.String(), Coverage: Listed, Properties: countLeaves(value), Value: text,
		Reason: why})
}

// countLeaves returns the number of scalars in a value.
func countLeaves(value any) int {
	n := 0
	jsonpath.Walk(value, func(_ jsonpath.Path, value any) bool {
		switch value.(type) {
		case map[string]any, []any:
		default:
			if !isEmpty(value) {
				n++
			}
		}
		return true
	})
	return n
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// equalScalars compares as Azure does: IDs, regions and words ignore case.
func equalScalars(a, b any) bool {
	x, xIs := a.(string)
	y, yIs := b.(string)
	if !xIs || !yIs {
		return fmt.Sprint(a) == fmt.Sprint(b) && a != nil
	}
	if strings.EqualFold(x, y) {
		return true
	}
	p, err := netip.ParseAddr(x)
	q, otherErr := netip.ParseAddr(y)
	return err == nil && otherErr == nil && p == q
}

// isDefault reports whether Azure fills in a value when a request leaves it out.
func isDefault(resourceType string, path jsonpath.Path, value any) bool {
	if value == false || value == json.Number("0") {
		return true
	}
	shape := strings.ToLower(path.Shape().String())
	for _, d := range knownDefaults {
		if strings.EqualFold(d.resourceType, resourceType) && shape == strings.ToLower(d.path) && (d.value == anyValue || equalScalars(value, d.value)) {
			return true
		}
	}
	return false
}
