package aso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// translation applies patches to a body and collects what is wrong with them.
type translation struct {
	kind    Kind
	version string
	secrets Secrets

	body       map[string]any
	exports    Exports
	references []SecretRef
	missing    []SecretRef
	problems   []problem

	index int // of the patch at work
}

// problem is one thing that is wrong with a patch.
type problem struct {
	index int
	// path is dotted, as in "spec.networkProfile.podCidr"; "" for the whole patch.
	path, message string
}

// translate applies the patches to a copy of the body. Secrets are not asked for when secrets is nil.
func translate(kind Kind, version string, body map[string]any, patches []string, secrets Secrets) *translation {
	t := &translation{kind: kind, version: version, secrets: secrets, body: map[string]any{}}
	if body != nil {
		t.body = clone(body).(map[string]any)
	}
	for i, text := range patches {
		t.index = i
		document, err := parse(text)
		if err != nil {
			t.refuse("", "%s", err)
			continue
		}
		t.document(document)
	}
	return t
}

func (t *translation) refuse(path, format string, args ...any) {
	t.problems = append(t.problems, problem{index: t.index, path: path, message: fmt.Sprintf(format, args...)})
}

// document translates a whole ASO document.
func (t *translation) document(patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		switch key {
		case "spec":
			if spec, ok := t.asObject("spec", patch[key]); ok {
				t.spec(spec)
			}
		case "apiVersion", "kind":
			t.header(key, patch[key])
		case "metadata":
			t.metadata(patch[key])
		case "status":
			t.refuse(key, "is what Azure answers; only spec can be patched")
		case "properties":
			t.refuse(key, "is not there in the document that is patched: write its keys directly below spec")
		default:
			t.refuse(key, "is not known; a patch has its keys below spec, as in {\"spec\": {\"%s\": ...}}", key)
		}
	}
}

// asObject reports values that are no objects, null included: what holds the keys cannot be deleted.
func (t *translation) asObject(path string, value any) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		t.refuse(path, "must be an object, not %s", describe(value))
	}
	return object, ok
}

func (t *translation) spec(spec map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		path := "spec." + key
		if message, ok := owned[t.kind][key]; ok {
			t.refuse(path, "%s", message)
			continue
		}
		if key == "operatorSpec" {
			t.operatorSpec(path, spec[key])
			continue
		}
		if _, ok := spec[key].(map[string]any); key == "properties" && ok {
			t.refuse(path, "is not there in the document that is patched: write its keys directly below spec")
			continue
		}
		// ASO puts the keys of properties and those beside it into one spec.
		parent := "properties"
		if _, ok := t.find(parent, key); !ok {
			if _, ok := armschema.Lookup(t.kind, t.version, key); ok && key != "properties" {
				parent = ""
			}
		}
		t.field(parent, path, t.within(parent, spec[key]), key, spec)
	}
	t.twice("properties", "spec", spec)
}

// within is the object of the body at "properties" or the body itself. It is made unless the value is only deleted.
func (t *translation) within(parent string, value any) map[string]any {
	if parent == "" {
		return t.body
	}
	object, ok := t.body[parent].(map[string]any)
	if !ok {
		object = map[string]any{}
		if value != nil {
			t.body[parent] = object
		}
	}
	return object
}

// target is where a key of ASO's document goes.
type target struct {
	// name is Azure's JSON name.
	name     string
	shape    shape
	property armschema.Property
}

// find is the target of a key of the object at a property path.
func (t *translation) find(parent, key string) (target, bool) {
	if to, ok := renames[t.kind][armschema.Join(parent, key)]; ok {
		p, ok := armschema.Lookup(t.kind, t.version, armschema.Join(parent, to.name))
		return target{name: to.name, shape: to.shape, property: p}, ok
	}
	p, ok := armschema.Lookup(t.kind, t.version, armschema.Join(parent, key))
	return target{name: key, shape: shapes[t.kind][p.Path], property: p}, ok
}

// object merges a patch into an object of the body. path is that of the patch, parent the property path.
func (t *translation) object(parent, path string, into, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		t.field(parent, path+"."+key, into, key, patch)
	}
	t.twice(parent, path, patch)
}

// twice reports keys that name one property in ASO's and in Azure's way.
func (t *translation) twice(parent, path string, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		to, ok := t.find(parent, key)
		if _, also := patch[to.name]; ok && to.name != key && also {
			t.refuse(path+"."+to.name, "means the same as %s: write one of them", key)
		}
	}
}

func (t *translation) field(parent, path string, into map[string]any, key string, patch map[string]any) {
	to, ok := t.find(parent, key)
	if !ok {
		t.unknown(parent, path, key)
		return
	}
	p := to.property
	switch {
	case !p.Settable() || p.Path == "properties.status":
		t.refuse(path, "is read-only: Azure sets it")
	case patch[key] == nil:
		delete(into, to.name)
	default:
		if value, ok := t.shaped(to, path, into[to.name], patch[key]); ok {
			into[to.name] = value
		}
	}
}

// value translates a value that is not null. have is what the body has there.
func (t *translation) value(p armschema.Property, path string, have, patch any) (any, bool) {
	switch p.Type {
	case armschema.Object, armschema.Map:
		object, ok := t.asObject(path, patch)
		if !ok {
			return nil, false
		}
		into, ok := have.(map[string]any)
		if !ok {
			into = map[string]any{}
		}
		if p.Type == armschema.Object {
			t.object(p.Path, path, into, object)
		} else {
			t.entries(p, path, into, object)
		}
		return into, true
	case armschema.List:
		return t.items(path, patch, func(path string, item any) (any, bool) {
			element, _ := armschema.Lookup(t.kind, t.version, p.Path+"[]")
			return t.value(element, path, nil, item)
		})
	default:
		value, message := scalar(t.kind, t.version, p, patch)
		if message != "" {
			t.refuse(path, "%s", message)
		}
		return value, message == ""
	}
}

func (t *translation) entries(p armschema.Property, path string, into, patch map[string]any) {
	element, _ := armschema.Lookup(t.kind, t.version, p.Path+".*")
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if strings.HasSuffix("."+p.Path, ".tags") && infrav1.Marks(key) {
			t.refuse(path+"."+key, "marks whose a resource is, and only the provider writes it: leave it out")
			continue
		}
		if patch[key] == nil {
			delete(into, key)
			continue
		}
		if value, ok := t.value(element, path+"."+key, into[key], patch[key]); ok {
			into[key] = value
		}
	}
}

// items translates a list, which replaces the one in the body.
func (t *translation) items(path string, patch any, item func(path string, item any) (any, bool)) (any, bool) {
	list, ok := patch.([]any)
	if !ok {
		t.refuse(path, "must be a list, not %s", describe(patch))
		return nil, false
	}
	out, fine := make([]any, 0, len(list)), true
	for i, value := range list {
		here := fmt.Sprintf("%s[%d]", path, i)
		if value == nil {
			t.refuse(here, "must not be null: leave the item out; a list replaces the one before")
			fine = false
			continue
		}
		translated, ok := item(here, value)
		out, fine = append(out, translated), fine && ok
	}
	return out, fine
}

// unknown reports a key that means nothing in the version that is spoken, with what its writer may have meant.
func (t *translation) unknown(parent, path, key string) {
	if message := t.elsewhere(parent, key); message != "" {
		t.refuse(path, "%s", message)
		return
	}
	if other := otherKind(t.kind); parent == "properties" {
		if p, ok := armschema.Lookup(other, t.version, "properties."+key); ok && p.Settable() {
			t.refuse(path, "is a property of the other kind of resource: write it into %s", elsewhere[t.kind])
			return
		}
	}
	message := fmt.Sprintf("is not a property of %s in API version %s", resource[t.kind], t.version)
	if near := nearest.Names(key, t.names(parent)); len(near) > 0 {
		message += "; names most like it: " + strings.Join(near, ", ")
	}
	t.refuse(path, "%s", message)
}

// elsewhere says that other API versions have a key that the one that is spoken has not; "" when none does.
func (t *translation) elsewhere(parent, key string) string {
	name := key
	if to, ok := renames[t.kind][armschema.Join(parent, key)]; ok {
		name = to.name
	}
	property := armschema.Join(parent, name)
	having := armschema.Having(t.kind, property, "")
	if len(having) == 0 && parent == "properties" {
		having = armschema.Having(t.kind, name, "")
	}
	if len(having) == 0 {
		return ""
	}
	if instead := armschema.Replacements(t.kind, t.version, property); len(instead) > 0 {
		return fmt.Sprintf("does not exist in API version %s, which has in its place: %s; API versions that have it: %s", t.version, strings.Join(instead, ", "), strings.Join(having, ", "))
	}
	return fmt.Sprintf("does not exist in API version %s; API versions that have it: %s: %s", t.version, strings.Join(having, ", "), reach(having))
}

// reach says how one of the API versions is spoken.
func reach(versions []string) string {
	way := "name one as apiVersion in a patch of the AzureManagedControlPlane, as in " + group + inName(versions[len(versions)-1])
	if slices.Contains(versions, armschema.NewestPreview()) {
		way = "set spec.enablePreviewFeatures of the AzureManagedControlPlane, or " + way
	}
	return way
}

// names are the keys that the object at a property path may have, in ASO's form where there is one.
func (t *translation) names(parent string) []string {
	names := armschema.Names(t.kind, t.version, parent)
	if parent == "properties" {
		names = append(names, armschema.Names(t.kind, t.version, "")...)
		names = slices.DeleteFunc(names, func(name string) bool { return name == "properties" || owned[t.kind][name] != "" })
	}
	for path, to := range renames[t.kind] {
		at := strings.LastIndex(path, ".")
		if path[:at] == parent && slices.Contains(names, to.name) {
			names = append(names, path[at+1:])
			if to.shape == reference || to.shape == references {
				names = slices.DeleteFunc(names, func(name string) bool { return name == to.name })
			}
		}
	}
	slices.Sort(names)
	return names
}
