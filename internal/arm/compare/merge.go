package compare

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// MergeBody builds the body of a PUT from the desired state and the observed resource: tags, list elements and settings of others are
// carried over. Values that the plan owns and no longer has are left out, or sent as null if a PUT patches. want and observed are not
// changed.
func MergeBody(want Desired, observed any) any {
	body, ok := cloneValue(want.Body).(map[string]any)
	have, _ := observed.(map[string]any)
	if !ok || have == nil {
		return cloneValue(want.Body)
	}
	if want.Type.Taggable {
		mergeTags(want, body, have)
	}
	if want.Type.SharedIdentity {
		mergeIdentity(want, body, have)
	}
	for _, path := range want.Type.CompletedElements {
		completeElements(body, have, splitPath(path))
	}
	for _, path := range want.Type.SharedLists {
		carrySharedElements(want, body, have, splitPath(path), "")
	}
	for _, path := range slices.Concat(want.Type.ChildLists, want.Type.PreservedPaths, want.Type.PreservedOnceSet) {
		steps := splitPath(path)
		owned := slices.ContainsFunc(want.OwnedPaths, func(other string) bool { return strings.EqualFold(other, path) })
		if value := valueAt(have, steps); !isEmpty(value) && valueAt(body, steps) == nil && !owned {
			setPath(body, steps, cloneValue(value))
		}
	}
	if want.Type.Put == types.PutPatches {
		for _, path := range want.OwnedPaths {
			for _, match := range expandPath(splitPath(path), have, "") {
				if !isEmpty(match.value) && valueAt(body, match.steps) == nil && !strings.HasPrefix(match.path, identityUsers) {
					setPath(body, match.steps, nil)
				}
			}
		}
	}
	return body
}

// TagChanges returns the changes of tags that repair observed: tags to merge and keys to delete. Both are empty if the tags are as
// desired.
func TagChanges(want Desired, observed any) (merge map[string]string, drop []string) {
	body, _ := want.Body.(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	have, _ := observed.(map[string]any)
	tags, _ := have["tags"].(map[string]any)
	for key, value := range wanted {
		if current, ok := lookupKey(tags, key); !ok || current != value {
			if merge == nil {
				merge = map[string]string{}
			}
			merge[key], _ = value.(string)
		}
	}
	for _, key := range want.DropTags {
		if _, wants := lookupKey(wanted, key); wants {
			continue
		}
		if _, ok := lookupKey(tags, key); ok {
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
		_, wants := lookupKey(wanted, key)
		if !wants && !slices.ContainsFunc(want.DropTags, func(drop string) bool { return matchesPattern(drop, key) }) {
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
func carrySharedElements(want Desired, body, have any, steps []step, path string) {
	for i, s := range steps {
		if s.inList {
			planned, _ := body.([]any)
			list, _ := have.([]any)
			key := elementKey(planned, list)
			for _, item := range planned {
				if name := elementName(item, key); name != "" {
					carrySharedElements(want, item, findElement(list, key, name), steps[i+1:], path+"["+name+"]")
				}
			}
			return
		}
		if i == len(steps)-1 {
			break
		}
		object, _ := body.(map[string]any)
		other, _ := have.(map[string]any)
		body, have = object[s.member], other[s.member]
		path = joinPath(path, s.member)
	}
	object, ok := body.(map[string]any)
	other, _ := have.(map[string]any)
	if !ok || len(steps) == 0 {
		return
	}
	member := steps[len(steps)-1].member
	path = joinPath(path, member)
	planned, _ := object[member].([]any)
	list, _ := other[member].([]any)
	key := elementKey(planned, list)
	merged := slices.Clone(planned)
	for _, item := range list {
		name := elementName(item, key)
		if name == "" || findElement(planned, key, name) != nil || ownsElement(want.OwnedPaths, path, name) {
			continue
		}
		merged = append(merged, cloneValue(item))
	}
	if len(merged) > len(planned) {
		object[member] = merged
	}
}

// ownsElement reports whether one of the owned paths is the element with this name in the list at path, or the list itself.
func ownsElement(owned []string, path, name string) bool {
	want := splitPath(path)
	for _, other := range owned {
		steps := splitPath(other)
		if len(steps) != len(want) && len(steps) != len(want)+1 {
			continue
		}
		same := true
		for i := range want {
			if want[i].inList {
				same = same && steps[i].inList && matchesPattern(steps[i].element, want[i].element)
			} else {
				same = same && matchesPattern(steps[i].member, want[i].member)
			}
		}
		if same && (len(steps) == len(want) || steps[len(want)].inList && matchesPattern(steps[len(want)].element, name)) {
			return true
		}
	}
	return false
}

// setPath writes a value at concrete steps of members and creates missing objects; it stops at lists.
func setPath(body map[string]any, steps []step, value any) {
	for i, s := range steps {
		if s.inList {
			return
		}
		if i == len(steps)-1 {
			body[s.member] = value
			return
		}
		next, ok := body[s.member].(map[string]any)
		if !ok && steps[i+1].inList {
			return
		}
		if !ok {
			next = map[string]any{}
			body[s.member] = next
		}
		body = next
	}
}

func cloneValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, item := range value {
			out[key] = cloneValue(item)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = cloneValue(item)
		}
		return out
	}
	return value
}

// VisibleBody returns a copy of the desired body without the paths that Azure never returns, which may hold secrets.
func VisibleBody(want Desired) any { return removeWriteOnly(want.Type.WriteOnlyPaths, want.Body, "") }

func removeWriteOnly(writeOnly []string, value any, shape string) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, item := range value {
			if here := joinPath(shape, key); !slices.Contains(writeOnly, here) {
				out[key] = removeWriteOnly(writeOnly, item, here)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = removeWriteOnly(writeOnly, item, shape+"[]")
		}
		return out
	}
	return value
}
