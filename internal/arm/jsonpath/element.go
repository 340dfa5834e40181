package jsonpath

import (
	"strconv"
	"strings"
)

// identifyingMembers are the members that identify elements of lists, the preferred one first.
var identifyingMembers = [...]string{"name", "id", "service"}

// ElementKey returns the member that identifies the elements of all lists, "" if there is none.
func ElementKey(lists ...[]any) string {
	for _, key := range identifyingMembers {
		found, all := false, true
		for _, list := range lists {
			for _, item := range list {
				found = true
				all = all && ElementName(item, key) != ""
			}
		}
		if found && all {
			return key
		}
	}
	return ""
}

// ElementName returns the name of an element by the member of ElementKey. A slash at the end of an ID does not count.
func ElementName(item any, key string) string {
	object, _ := item.(map[string]any)
	value, _ := LookUp(object, key)
	name, _ := value.(string)
	return strings.TrimRight(name, "/")
}

// FindElement returns the element with a name by the member of ElementKey, nil if there is none. Names have no case.
func FindElement(list []any, key, name string) any {
	for _, item := range list {
		if strings.EqualFold(ElementName(item, key), name) {
			return item
		}
	}
	return nil
}

// ElementNames returns the names of the elements of a list: those by ElementKey, or texts. Elements without a name are left out.
func ElementNames(list []any) []string {
	key := ElementKey(list)
	out := make([]string, 0, len(list))
	for _, item := range list {
		name, isText := item.(string)
		if key != "" {
			name, isText = ElementName(item, key), true
		}
		if isText && name != "" {
			out = append(out, name)
		}
	}
	return out
}

// indexOf returns the position of the element that a step names, -1 if there is none.
func indexOf(list []any, name string) int {
	key := ElementKey(list)
	for i, item := range list {
		text, isText := item.(string)
		if key != "" {
			text, isText = ElementName(item, key), true
		}
		if isText && strings.EqualFold(text, name) {
			return i
		}
	}
	if i, err := strconv.Atoi(name); key == "" && err == nil && i >= 0 && i < len(list) {
		return i
	}
	return -1
}

// nameAt returns the name of the step to the element at a position. key is the ElementKey of the list.
func nameAt(list []any, key string, i int) string {
	if key != "" {
		return ElementName(list[i], key)
	}
	if text, ok := list[i].(string); ok {
		return text
	}
	return strconv.Itoa(i)
}

// LookUp returns a member of an object: the one with this key, else the first one in order with the same letters. Some keys are IDs of
// resources or names of tags, whose case Azure changes.
func LookUp(object map[string]any, key string) (any, bool) {
	key, ok := findKey(object, key)
	return object[key], ok
}

func findKey(object map[string]any, key string) (string, bool) {
	if _, ok := object[key]; ok {
		return key, true
	}
	found, first := false, ""
	for other := range object {
		if strings.EqualFold(key, other) && (!found || other < first) {
			found, first = true, other
		}
	}
	return first, found
}
