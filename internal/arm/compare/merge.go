package compare

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// MergeBody builds the body of a PUT from the desired state and the observed resource: tags, list elements and settings of others are
// carried over. Values that the plan owns and no longer has are left out, or sent as null if a PUT patches. want and observed are not
// changed.
func MergeBody(want Desired, observed any) any {
	body, ok := jsonpath.Clone(want.Body).(map[string]any)
	have, _ := observed.(map[string]any)
	if !ok || have == nil {
		return jsonpath.Clone(want.Body)
	}
	if want.Type.Taggable {
		mergeTags(want, body, have)
	}
	if want.Type.SharedIdentity {
		mergeIdentity(want, body, have)
	}
	for _, path := range want.Type.CompletedElements {
		completeElements(body, have, jsonpath.Parse(path))
	}
	for _, path := range want.Type.SharedLists {
		carrySharedElements(want, body, have, jsonpath.Parse(path), "")
	}
	for _, path := range slices.Concat(want.Type.ChildLists, want.Type.PreservedPaths, want.Type.PreservedOnceSet) {
		if owned := slices.ContainsFunc(want.OwnedPaths, func(other string) bool { return strings.EqualFold(other, path) }); !owned {
			preserve(body, have, jsonpath.Parse(path))
		}
	}
	if want.Type.Put == types.PutPatches {
		for _, path := range want.OwnedPaths {
			for _, match := range jsonpath.Expand(have, path) {
				if !isEmpty(match.Value) && match.Path.GetFold(body) == nil && !match.Path.HasPrefix(usersPath) {
					match.Path.Set(body, nil)
				}
			}
		}
	}
	return body
}

// KeepValues returns the desired state with the observed values at the paths of differences that are kept, or without a value where none is
// observed.
func KeepValues(want Desired, observed any, kept []Difference) Desired {
	body, ok := jsonpath.Clone(want.Body).(map[string]any)
	if !ok || len(kept) == 0 {
		return want
	}
	for _, difference := range kept {
		if key, isTag := strings.CutPrefix(difference.Path, "tags."); isTag {
			keepTag(body, observed, key)
			continue
		}
		path := jsonpath.Parse(difference.Path)
		if value := path.GetFold(observed); value == nil {
			jsonpath.Delete(body, difference.Path)
		} else {
			setOrAppend(body, path, jsonpath.Clone(value))
		}
	}
	want.Body = body
	return want
}

// keepTag gives body the observed value of a tag, or takes the tag away. Keys of tags have dots, which separate members in other paths.
func keepTag(body map[string]any, observed any, key string) {
	have, _ := observed.(map[string]any)
	current, _ := have["tags"].(map[string]any)
	value, there := jsonpath.LookUp(current, key)
	tags, _ := body["tags"].(map[string]any)
	maps.DeleteFunc(tags, func(known string, _ any) bool { return strings.EqualFold(known, key) })
	if !there {
		return
	}
	if tags == nil {
		tags = map[string]any{}
		body["tags"] = tags
	}
	tags[key] = value
}

// setOrAppend sets the value at a path. A list that lacks the element at the end of the path gets it.
func setOrAppend(body map[string]any, path jsonpath.Path, value any) {
	last := len(path) - 1
	if list, isList := path[:last].GetFold(body).([]any); path[last].Element && isList && path.GetFold(body) == nil {
		path[:last].Set(body, append(list, value))
		return
	}
	path.Set(body, value)
}

// TagChanges returns the changes of tags that repair observed: tags to merge and keys to delete. Both are empty if the tags are as
// desired.
func TagChanges(want Desired, observed any) (merge map[string]string, drop []string) {
	body, _ := want.Body.(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	have, _ := observed.(map[string]any)
	tags, _ := have["tags"].(map[string]any)
	for key, value := range wanted {
		if current, ok := jsonpath.LookUp(tags, key); !ok || current != value {
			if merge == nil {
				merge = map[string]string{}
			}
			merge[key], _ = value.(string)
		}
	}
	for _, key := range want.DropTags {
		if _, wants := jsonpath.LookUp(wanted, key); wants {
			continue
		}
		if _, ok := jsonpath.LookUp(tags, key); ok {
			drop = append(drop, key)
		}
	}
	return merge, drop
}

func mergeTags(want Desired, body, have map[string]any) {
	tags, _ := have["tags"].(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	merged := map[string]any{}
	for key, value := range tags {
		_, wants := jsonpath.LookUp(wanted, key)
		if !wants && !slices.ContainsFunc(want.DropTags, func(drop string) bool { return jsonpath.MatchesName(drop, key) }) {
			merged[key] = value
		}
	}
	for key, value := range wanted {
		merged[key] = value
	}
	if len(merged) > 0 || wanted != nil {
		body["tags"] = merged
	}
}

// carrySharedElements appends the elements of the observed list at steps that the plan neither has nor owns.
func carrySharedElements(want Desired, body, have any, steps jsonpath.Path, path string) {
	for i, s := range steps {
		if s.Element {
			planned, _ := body.([]any)
			list, _ := have.([]any)
			key := jsonpath.ElementKey(planned, list)
			for _, item := range planned {
				if name := jsonpath.ElementName(item, key); name != "" {
					carrySharedElements(want, item, jsonpath.FindElement(list, key, name), steps[i+1:], path+"["+name+"]")
				}
			}
			return
		}
		if i == len(steps)-1 {
			break
		}
		object, _ := body.(map[string]any)
		other, _ := have.(map[string]any)
		body, have = object[s.Name], other[s.Name]
		path = jsonpath.JoinMember(path, s.Name)
	}
	object, ok := body.(map[string]any)
	other, _ := have.(map[string]any)
	if !ok || len(steps) == 0 {
		return
	}
	member := steps[len(steps)-1].Name
	path = jsonpath.JoinMember(path, member)
	planned, _ := object[member].([]any)
	list, _ := other[member].([]any)
	key := jsonpath.ElementKey(planned, list)
	merged := slices.Clone(planned)
	for _, item := range list {
		name := jsonpath.ElementName(item, key)
		if name == "" || jsonpath.FindElement(planned, key, name) != nil || ownsElement(want.OwnedPaths, path, name) {
			continue
		}
		merged = append(merged, jsonpath.Clone(item))
	}
	if len(merged) > len(planned) {
		object[member] = merged
	}
}

// ownsElement reports whether one of the owned paths is the element with this name in the list at path, or the list itself.
func ownsElement(owned []string, path, name string) bool {
	list := jsonpath.Parse(path)
	element := list.Element(name)
	return slices.ContainsFunc(owned, func(other string) bool {
		pattern := jsonpath.Parse(other)
		return list.Matches(pattern) || element.Matches(pattern)
	})
}

// VisibleBody returns a copy of the desired body without the paths that Azure never returns, which may hold secrets.
func VisibleBody(want Desired) any {
	visible := jsonpath.Clone(want.Body)
	if object, ok := visible.(map[string]any); ok {
		for _, path := range want.Type.WriteOnlyPaths {
			jsonpath.Delete(object, path)
		}
	}
	return visible
}
