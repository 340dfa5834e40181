package compare

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Merge builds the body of a PUT from what the plan wants and what was observed: tags, list elements and settings of others
// are carried over, and what the plan owns and no longer has is left out, or sent as null where a PUT patches. want and
// observed are not changed.
func Merge(want Want, observed any) any {
	body, ok := clone(want.Body).(map[string]any)
	have, _ := observed.(map[string]any)
	if !ok || have == nil {
		return clone(want.Body)
	}
	if want.Type.Taggable {
		mergeTags(want, body, have)
	}
	if want.Type.SharedIdentity {
		mergeIdentity(want, body, have)
	}
	for _, path := range want.Type.Complete {
		complete(body, have, splitPath(path))
	}
	for _, path := range want.Type.Carry {
		carry(want, body, have, splitPath(path), "")
	}
	for _, path := range slices.Concat(want.Type.CarryWhole, want.Type.Keep, want.Type.KeepLast) {
		steps := splitPath(path)
		owned := slices.ContainsFunc(want.Owned, func(other string) bool { return strings.EqualFold(other, path) })
		if value := at(have, steps); !empty(value) && at(body, steps) == nil && !owned {
			set(body, steps, clone(value))
		}
	}
	if want.Type.Put == types.Patches {
		for _, path := range want.Owned {
			for _, match := range expand(splitPath(path), have, "") {
				if !empty(match.value) && at(body, match.steps) == nil && !strings.HasPrefix(match.path, identityUsers) {
					set(body, match.steps, nil)
				}
			}
		}
	}
	return body
}

// Tags is the change of tags that brings observed in line: what to merge and which keys to delete. Both are empty when
// the tags are as wanted.
func Tags(want Want, observed any) (merge map[string]string, drop []string) {
	body, _ := want.Body.(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	have, _ := observed.(map[string]any)
	tags, _ := have["tags"].(map[string]any)
	for key, value := range wanted {
		if current, ok := lookup(tags, key); !ok || current != value {
			if merge == nil {
				merge = map[string]string{}
			}
			merge[key], _ = value.(string)
		}
	}
	for _, key := range want.DropTags {
		if _, wants := lookup(wanted, key); wants {
			continue
		}
		if _, ok := lookup(tags, key); ok {
			drop = append(drop, key)
		}
	}
	return merge, drop
}

func mergeTags(want Want, body, have map[string]any) {
	tags, _ := have["tags"].(map[string]any)
	wanted, _ := body["tags"].(map[string]any)
	merged := map[string]any{}
	for key, value := range tags {
		_, wants := lookup(wanted, key)
		if !wants && !slices.ContainsFunc(want.DropTags, func(drop string) bool { return matches(drop, key) }) {
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

// carry appends elements of the observed list at steps that the plan does not name and does not own.
func carry(want Want, body, have any, steps []step, path string) {
	for i, s := range steps {
		if s.inList {
			planned, _ := body.([]any)
			list, _ := have.([]any)
			key := elementKey(planned, list)
			for _, item := range planned {
				if name := keyOf(item, key); name != "" {
					carry(want, item, find(list, key, name), steps[i+1:], path+"["+name+"]")
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
		path = join(path, s.member)
	}
	object, ok := body.(map[string]any)
	other, _ := have.(map[string]any)
	if !ok || len(steps) == 0 {
		return
	}
	member := steps[len(steps)-1].member
	path = join(path, member)
	planned, _ := object[member].([]any)
	list, _ := other[member].([]any)
	key := elementKey(planned, list)
	merged := slices.Clone(planned)
	for _, item := range list {
		name := keyOf(item, key)
		if name == "" || find(planned, key, name) != nil || owns(want.Owned, path, name) {
			continue
		}
		merged = append(merged, clone(item))
	}
	if len(merged) > len(planned) {
		object[member] = merged
	}
}

// owns tells whether one of the owned paths is the element with this name in the list at path, or the list itself.
func owns(owned []string, path, name string) bool {
	want := splitPath(path)
	for _, other := range owned {
		steps := splitPath(other)
		if len(steps) != len(want) && len(steps) != len(want)+1 {
			continue
		}
		same := true
		for i := range want {
			if want[i].inList {
				same = same && steps[i].inList && matches(steps[i].element, want[i].element)
			} else {
				same = same && matches(steps[i].member, want[i].member)
			}
		}
		if same && (len(steps) == len(want) || steps[len(want)].inList && matches(steps[len(want)].element, name)) {
			return true
		}
	}
	return false
}

// set writes a value at concrete steps of members, making objects on the way; it stops at lists.
func set(body map[string]any, steps []step, value any) {
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

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, item := range value {
			out[key] = clone(item)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = clone(item)
		}
		return out
	}
	return value
}

// Visible is a copy of what the plan wants without the paths that Azure never returns, which may hold secrets.
func Visible(want Want) any { return visible(want.Type.WriteOnly, want.Body, "") }

func visible(writeOnly []string, value any, shape string) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, item := range value {
			if here := join(shape, key); !slices.Contains(writeOnly, here) {
				out[key] = visible(writeOnly, item, here)
			}
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = visible(writeOnly, item, shape+"[]")
		}
		return out
	}
	return value
}
