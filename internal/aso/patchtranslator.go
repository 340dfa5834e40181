package aso

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// patchTranslator applies patches to a body and collects their errors.
type patchTranslator struct {
	kind    Kind
	version string
	secrets Secrets

	body       map[string]any
	exports    Exports
	references []KeyRef
	missing    []KeyRef
	problems   []problem

	index int // of the patch at work
}

// problem is an error in a patch.
type problem struct {
	index int
	// path is dotted, as in "spec.networkProfile.podCidr"; "" for the whole patch.
	path, message string
}

// translatePatches applies the patches to a copy of the body. With nil secrets, Secrets are not looked up.
func translatePatches(kind Kind, version string, body map[string]any, patches []string, secrets Secrets) *patchTranslator {
	t := &patchTranslator{kind: kind, version: version, secrets: secrets, body: map[string]any{}}
	if body != nil {
		t.body = jsonpath.Clone(body).(map[string]any)
	}
	for i, text := range patches {
		t.index = i
		document, err := parsePatch(text)
		if err != nil {
			t.addProblem("", "%s", err)
			continue
		}
		t.translateResource(document)
	}
	return t
}

func (t *patchTranslator) addProblem(path, format string, args ...any) {
	t.problems = append(t.problems, problem{index: t.index, path: path, message: fmt.Sprintf(format, args...)})
}

// translateResource translates the top level of a patch.
func (t *patchTranslator) translateResource(patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		switch key {
		case "spec":
			if spec, ok := t.requireObject("spec", patch[key]); ok {
				t.translateSpec(spec)
			}
		case "apiVersion", "kind":
			t.checkHeader(key, patch[key])
		case "metadata":
			t.checkMetadata(patch[key])
		case "status":
			t.addProblem(key, "is set by Azure; only spec can be patched")
		case "properties":
			t.addProblem(key, "is not part of a spec of ASO: write its keys directly below spec")
		default:
			t.addProblem(key, "is not known; a patch has its keys below spec, such as {\"spec\": {\"%s\": ...}}", key)
		}
	}
}

// requireObject rejects values that are not objects, including null: an object with keys cannot be deleted.
func (t *patchTranslator) requireObject(path string, value any) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		t.addProblem(path, "must be an object, not %s", describeType(value))
	}
	return object, ok
}

func (t *patchTranslator) translateSpec(spec map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		path := "spec." + key
		if message, ok := ownedFields[t.kind][key]; ok {
			t.addProblem(path, "%s", message)
			continue
		}
		if key == "operatorSpec" {
			t.readOperatorSpec(path, spec[key])
			continue
		}
		if _, ok := spec[key].(map[string]any); key == "properties" && ok {
			t.addProblem(path, "is not part of a spec of ASO: write its keys directly below spec")
			continue
		}
		// ASO has the keys of properties and those beside it in one spec.
		parent := "properties"
		if _, ok := t.findTarget(parent, key); !ok {
			if _, ok := armschema.FindProperty(t.kind, t.version, key); ok && key != "properties" {
				parent = ""
			}
		}
		t.translateField(parent, path, t.parentObject(parent, spec[key]), key, spec)
	}
	t.refuseDuplicates("properties", "spec", spec)
}

// parentObject returns the object at "properties" of the body, or the body itself. It creates the object unless the value is only
// deleted.
func (t *patchTranslator) parentObject(parent string, value any) map[string]any {
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

// mergeObject merges a patch into an object of the body. path is the path in the patch, parent the property path.
func (t *patchTranslator) mergeObject(parent, path string, into, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		t.translateField(parent, path+"."+key, into, key, patch)
	}
	t.refuseDuplicates(parent, path, patch)
}

// refuseDuplicates rejects two keys for one property, in ASO's and in Azure's spelling.
func (t *patchTranslator) refuseDuplicates(parent, path string, patch map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		to, ok := t.findTarget(parent, key)
		if _, also := patch[to.name]; ok && to.name != key && also {
			t.addProblem(path+"."+to.name, "means the same as %s: write one of them", key)
		}
	}
}

func (t *patchTranslator) translateField(parent, path string, into map[string]any, key string, patch map[string]any) {
	to, ok := t.findTarget(parent, key)
	if !ok {
		t.refuseUnknown(parent, path, key)
		return
	}
	p := to.property
	switch {
	case !p.IsSettable() || p.Path == "properties.status":
		t.addProblem(path, "is read-only: Azure sets it")
	case patch[key] == nil:
		delete(into, to.name)
	default:
		if value, ok := t.translateForm(to, path, into[to.name], patch[key]); ok {
			into[to.name] = value
		}
	}
}

// translateValue translates a value other than null. have is the value in the body.
func (t *patchTranslator) translateValue(p armschema.Property, path string, have, patch any) (any, bool) {
	switch p.Type {
	case armschema.Object, armschema.Map:
		object, ok := t.requireObject(path, patch)
		if !ok {
			return nil, false
		}
		into, ok := have.(map[string]any)
		if !ok {
			into = map[string]any{}
		}
		if p.Type == armschema.Object {
			t.mergeObject(p.Path, path, into, object)
		} else {
			t.mergeEntries(p, path, into, object)
		}
		return into, true
	case armschema.List:
		return t.translateList(path, patch, func(path string, item any) (any, bool) {
			element, _ := armschema.FindProperty(t.kind, t.version, p.Path+"[]")
			return t.translateValue(element, path, nil, item)
		})
	default:
		value, message := convertScalar(t.kind, t.version, p, patch)
		if message != "" {
			t.addProblem(path, "%s", message)
		}
		return value, message == ""
	}
}

func (t *patchTranslator) mergeEntries(p armschema.Property, path string, into, patch map[string]any) {
	element, _ := armschema.FindProperty(t.kind, t.version, p.Path+".*")
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if strings.HasSuffix("."+p.Path, ".tags") && infrav1.Marks(key) {
			t.addProblem(path+"."+key, "marks the owner of a resource and is set only by the provider: remove it")
			continue
		}
		if patch[key] == nil {
			delete(into, key)
			continue
		}
		if value, ok := t.translateValue(element, path+"."+key, into[key], patch[key]); ok {
			into[key] = value
		}
	}
}

// translateList translates a list, which replaces the one in the body.
func (t *patchTranslator) translateList(path string, patch any, item func(path string, item any) (any, bool)) (any, bool) {
	list, ok := patch.([]any)
	if !ok {
		t.addProblem(path, "must be a list, not %s", describeType(patch))
		return nil, false
	}
	out, fine := make([]any, 0, len(list)), true
	for i, value := range list {
		here := fmt.Sprintf("%s[%d]", path, i)
		if value == nil {
			t.addProblem(here, "must not be null: leave the item out; a list replaces the one before")
			fine = false
			continue
		}
		translated, ok := item(here, value)
		out, fine = append(out, translated), fine && ok
	}
	return out, fine
}

// refuseUnknown rejects a key that is unknown in the api-version, with the properties that the user may have meant.
func (t *patchTranslator) refuseUnknown(parent, path, key string) {
	if message := t.otherVersionsMessage(parent, key); message != "" {
		t.addProblem(path, "%s", message)
		return
	}
	if other := otherKind(t.kind); parent == "properties" {
		if p, ok := armschema.FindProperty(other, t.version, "properties."+key); ok && p.IsSettable() {
			t.addProblem(path, "is a property of the other kind of resource: write it into %s", otherKindFields[t.kind])
			return
		}
	}
	message := fmt.Sprintf("is not a property of %s in API version %s", resourcePlurals[t.kind], t.version)
	if near := nearest.FindNames(key, t.knownNames(parent, key)); len(near) > 0 {
		message += "; names most like it: " + strings.Join(near, ", ")
	}
	t.addProblem(path, "%s", message)
}

// otherVersionsMessage returns the message about other api-versions that have a key, "" if none has it.
func (t *patchTranslator) otherVersionsMessage(parent, key string) string {
	name := key
	for _, version := range armschema.ListVersions() {
		if to, ok := findPatchTarget(t.kind, version, parent, key); ok {
			name = to.name
			break
		}
	}
	property := jsonpath.JoinMember(parent, name)
	having := armschema.VersionsWith(t.kind, property, "")
	if len(having) == 0 && parent == "properties" {
		having = armschema.VersionsWith(t.kind, name, "")
	}
	if len(having) == 0 {
		return ""
	}
	if instead := armschema.FindReplacements(t.kind, t.version, property); len(instead) > 0 {
		return fmt.Sprintf("does not exist in API version %s, which has in its place: %s; API versions that have it: %s", t.version,
			strings.Join(instead, ", "), strings.Join(having, ", "))
	}
	return fmt.Sprintf("does not exist in API version %s. API versions that have it: %s. To use it, %s", t.version, strings.Join(having, ", "),
		describeVersionChoice(having))
}

// describeVersionChoice returns the instruction how to select one of the api-versions.
func describeVersionChoice(versions []string) string {
	way := "set apiVersion in a patch of the AzureManagedControlPlane, for example to " + patchGroup() + "/" + ToVersion(versions[len(versions)-1])
	if slices.Contains(versions, armschema.NewestPreview()) {
		way = "set spec.enablePreviewFeatures of the AzureManagedControlPlane, or " + way
	}
	return way
}

// knownNames returns the keys of the object at a property path, for suggestions. A key like a reference gets references.
func (t *patchTranslator) knownNames(parent, like string) []string {
	names := t.settableKeys(parent, like)
	if parent == "properties" {
		names = append(names, t.settableKeys("", like)...)
		names = slices.DeleteFunc(names, func(name string) bool { return name == "properties" || ownedFields[t.kind][name] != "" })
	}
	slices.Sort(names)
	return names
}

func (t *patchTranslator) settableKeys(parent, like string) []string {
	names := armschema.SettableNames(t.kind, t.version, parent)
	if place, ok := findPatchPlace(t.kind, t.version, parent); ok && isLikeReference(like) {
		for i, name := range names {
			names[i] = place.referenceKey(name, nil)
		}
	}
	return names
}
