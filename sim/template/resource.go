package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// Resource is one that the template deploys.
type Resource struct {
	ID         string
	Type       string // as the template writes it
	Name       string
	APIVersion string
	Location   string // "" for resources without one
	// After are the resources that must be deployed first: those in dependsOn and those that it refers to.
	After []*Resource
	// Skipped is set if the resource's condition is false.
	Skipped bool

	t       *Template
	loop    string
	index   int
	written map[string]any
}

// MaxResources is how many a template may have.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/best-practices#template-limits
const MaxResources = 800

// notBody are the elements of a resource that are the deployment's own.
var notBody = []string{"name", "type", "apiVersion", "dependsOn", "condition", "copy", "comments", "metadata", "resources"}

// nestedType is the type of deployments in a template.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/linked-templates
const nestedType = "Microsoft.Resources/deployments"

func (t *Template) readResources(list []any) error {
	for _, e := range list {
		written, is := e.(map[string]any)
		if !is {
			return newRefusal("The template resource at line '1' and column '1' is not valid: it is not an object. Please see https://aka.ms/arm-syntax-resources for usage details.")
		}
		if err := t.unrollElement(written); err != nil {
			return err
		}
	}
	if len(t.Resources) > MaxResources {
		return newRefusal("The number of template resources limit exceeded. Limit: '%d' and actual: '%d'. Please see https://aka.ms/arm-syntax-resources for usage details.", MaxResources, len(t.Resources))
	}
	for i, r := range t.Resources {
		for _, other := range t.Resources[:i] {
			if strings.EqualFold(other.ID, r.ID) && !other.Skipped && !r.Skipped {
				return newRefusal("The resource '%s' at line '1' and column '1' is defined multiple times in a template. Please see https://aka.ms/arm-syntax-resources for usage details.", relativeID(r.ID))
			}
		}
	}
	for _, r := range t.Resources {
		if err := r.findDependencies(); err != nil {
			return err
		}
	}
	seen := map[*Resource]int{}
	for _, r := range t.Resources {
		if err := r.refuseCircle(seen); err != nil {
			return err
		}
	}
	return nil
}

// unrollElement reads one element of resources: one resource, or one for each iteration of its copy loop.
func (t *Template) unrollElement(written map[string]any) error {
	loop, _ := written["copy"].(map[string]any)
	if loop == nil {
		if written["copy"] != nil {
			return newRefusal("The template resource copy definition at line '1' and column '1' is not valid: it is not an object. Please see https://aka.ms/arm-copy for usage details.")
		}
		return t.addResource(written, "", -1)
	}
	name, err := t.newPlainScope().evaluateValue(loop["name"])
	if err != nil {
		return err
	}
	count, err := t.newPlainScope().evaluateValue(loop["count"])
	if err != nil {
		return err
	}
	loopName, named := name.(string)
	n, counted := count.(float64)
	if mode, has := loop["mode"].(string); has && !strings.EqualFold(mode, "parallel") {
		return newRefusal("The copy mode '%s' of the loop '%v' is not served by the simulator.", mode, name)
	}
	if !named || !counted || !isWholeNumber(n) || n < 0 || n > MaxResources {
		return newRefusal("The template resource copy definition '%v' at line '1' and column '1' is not valid: its count is '%v'. Please see https://aka.ms/arm-copy for usage details.", name, count)
	}
	for i := range int(n) {
		if err := t.addResource(written, loopName, i); err != nil {
			return err
		}
	}
	return nil
}

func (t *Template) addResource(written map[string]any, loop string, index int) error {
	r := &Resource{t: t, loop: loop, index: index, written: written}
	raw, _ := written["name"].(string)
	for _, field := range []struct {
		key string
		to  *string
	}{{"name", &r.Name}, {"type", &r.Type}, {"apiVersion", &r.APIVersion}} {
		s := r.newScope()
		s.noRefs = true
		v, err := s.evaluateValue(written[field.key])
		if err != nil {
			return invalidPart("resource", raw, err)
		}
		text, is := v.(string)
		if !is || text == "" {
			return invalidPart("resource", raw,
				fmt.Errorf("the property '%s' is not a string. Please see https://aka.ms/arm-syntax-resources for usage details", field.key))
		}
		*field.to = text
	}
	if !isEmpty(written["scope"]) {
		return invalidPart("resource", r.Name, fmt.Errorf("the element 'scope' of resources is not served by the simulator"))
	}
	group, err := r.targetGroup()
	if err != nil {
		return err
	}
	if condition, has := written["condition"]; has {
		s := r.newScope()
		s.noRefs = true
		v, err := s.evaluateValue(condition)
		if err != nil {
			return invalidPart("resource", r.Name, err)
		}
		wanted, is := v.(bool)
		if !is {
			return invalidPart("resource", r.Name,
				fmt.Errorf("its condition is no boolean. Please see https://aka.ms/arm-template-conditions for usage details"))
		}
		r.Skipped = !wanted
	}
	parts, names := strings.Split(r.Type, "/"), strings.Split(r.Name, "/")
	if len(parts) < 2 || len(parts)-1 != len(names) {
		return newRefusal("The template resource '%s' for type '%s' at line '1' and column '1' has incorrect segment lengths. A nested resource type must have identical number of segments as its resource name. A root resource type must have segment length one greater than its resource name. Please see https://aka.ms/arm-syntax-resources for usage details.", r.Name, r.Type)
	}
	r.ID = fmt.Sprintf("/subscriptions/%v/resourceGroups/%v/providers/%s", t.env.Subscription["subscriptionId"], group,
		interleaveNames(parts, names))
	t.Resources = append(t.Resources, r)
	return t.addChildren(r)
}

// targetGroup returns the resource group: the deployment's, or for a nested deployment the one that it names.
func (r *Resource) targetGroup() (any, error) {
	if !r.isNested() || isEmpty(r.written["resourceGroup"]) {
		return r.t.env.ResourceGroup["name"], nil
	}
	s := r.newScope()
	s.noRefs = true
	group, err := s.evaluateValue(r.written["resourceGroup"])
	if name, is := group.(string); err == nil && (!is || name == "") {
		err = fmt.Errorf("the property 'resourceGroup' is not a string")
	}
	if err != nil {
		return nil, invalidPart("resource", r.Name, err)
	}
	return group, nil
}

func (r *Resource) isNested() bool { return strings.EqualFold(r.Type, nestedType) }

// addChildren adds the resources that are written inside of one, whose type and name begin with its own.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/child-resource-name-type
func (t *Template) addChildren(parent *Resource) error {
	children, is := parent.written["resources"].([]any)
	if !is {
		if !isEmpty(parent.written["resources"]) {
			return invalidPart("resource", parent.Name, fmt.Errorf("the property 'resources' is not an array"))
		}
		return nil
	}
	for _, e := range children {
		written, is := e.(map[string]any)
		if !is {
			return invalidPart("resource", parent.Name, fmt.Errorf("a resource in it is not an object"))
		}
		child := maps.Clone(written)
		for key, prefix := range body.Sorted(map[string]string{"type": parent.Type, "name": parent.Name}) {
			s := parent.newScope()
			s.noRefs = true
			v, err := s.evaluateValue(written[key])
			if err != nil {
				return invalidPart("resource", parent.Name, err)
			}
			child[key] = fmt.Sprintf("%s/%v", prefix, v)
		}
		if parent.Skipped {
			child["condition"] = false
		}
		if err := t.addResource(child, parent.loop, parent.index); err != nil {
			return err
		}
	}
	return nil
}

func (r *Resource) newScope() *scope { return &scope{t: r.t, loop: r.loop, index: r.index, of: r} }

// findDependencies finds the resources that must be deployed first.
func (r *Resource) findDependencies() error {
	list, is := r.written["dependsOn"].([]any)
	if !is && r.written["dependsOn"] != nil {
		return invalidPart("resource", r.Name,
			fmt.Errorf("the property 'dependsOn' is not an array. Please see https://aka.ms/arm-syntax-resources for usage details"))
	}
	for _, e := range list {
		s := r.newScope()
		s.noRefs = true
		v, err := s.evaluateValue(e)
		if err != nil {
			return invalidPart("resource", r.Name, err)
		}
		name, is := v.(string)
		found := r.t.findResources(name)
		if !is || len(found) == 0 {
			return newRefusal("The resource '%v' is not defined in the template. Please see https://aka.ms/arm-syntax for usage details.", v)
		}
		r.addDependencies(found)
	}
	s := r.newScope()
	v, err := r.evaluateOwn(s)
	if err != nil {
		return invalidPart("resource", r.Name, err)
	}
	r.Location, _ = v.(map[string]any)["location"].(string)
	r.addDependencies(s.referred)
	return nil
}

func (r *Resource) addDependencies(others []*Resource) {
	for _, o := range others {
		if !slices.Contains(r.After, o) {
			r.After = append(r.After, o)
		}
	}
}

// ownElements returns the elements that its provider gets.
func (r *Resource) ownElements() map[string]any {
	out := map[string]any{}
	for k, v := range r.written {
		if !slices.Contains(notBody, k) {
			out[k] = v
		}
	}
	return out
}

// evaluateOwn evaluates the elements for the provider. The template of a nested deployment is evaluated with the outer one's parameters and
// variables, unless it asks for its own: then it stays as it is written.
func (r *Resource) evaluateOwn(s *scope) (any, error) {
	own := r.ownElements()
	properties, _ := own["properties"].(map[string]any)
	options, _ := properties["expressionEvaluationOptions"].(map[string]any)
	scope, _ := options["scope"].(string)
	if !r.isNested() || properties == nil {
		return s.evaluateValue(own)
	}
	if properties["templateLink"] != nil {
		return nil, fmt.Errorf("links to templates are not served by the simulator")
	}
	delete(own, "resourceGroup")
	delete(own, "subscriptionId")
	if !strings.EqualFold(scope, "inner") {
		return s.evaluateValue(own)
	}
	properties = maps.Clone(properties)
	inner := properties["template"]
	delete(properties, "template")
	own["properties"] = properties
	v, err := s.evaluateValue(own)
	if err == nil {
		v.(map[string]any)["properties"].(map[string]any)["template"] = inner
	}
	return v, err
}

// Body returns the body that the provider gets, with the present values of all references.
func (r *Resource) Body() (map[string]any, error) {
	s := r.newScope()
	s.reference = askingOrNil(r.t.env.Reference)
	v, err := r.evaluateOwn(s)
	if err != nil {
		return nil, invalidPart("resource", r.Name, err)
	}
	return v.(map[string]any), nil
}

// refuseCircle refuses circular dependencies. seen has 1 for resources on the current path, and 2 for those that are
// checked.
func (r *Resource) refuseCircle(seen map[*Resource]int) error {
	switch seen[r] {
	case 1:
		return newRefusal("Circular dependency detected on resource: '%s'. Please see https://aka.ms/arm-syntax-resources for usage details.",
			r.ID)
	case 2:
		return nil
	}
	seen[r] = 1
	for _, o := range r.After {
		if err := o.refuseCircle(seen); err != nil {
			return err
		}
	}
	seen[r] = 2
	return nil
}

// findResources returns the resources that a name, a name with its type, an ID or the name of a loop means.
func (t *Template) findResources(name string) []*Resource {
	var out []*Resource
	for _, r := range t.Resources {
		if strings.EqualFold(name, r.ID) || strings.EqualFold(name, relativeID(r.ID)) || strings.EqualFold(name, r.Name) || r.loop != "" &&
			strings.EqualFold(name, r.loop) {
			out = append(out, r)
		}
	}
	return out
}

// relativeID returns an ID from the namespace on.
func relativeID(id string) string {
	_, after, _ := strings.Cut(id, "/providers/")
	return after
}
