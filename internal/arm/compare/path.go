package compare

import "strings"

// step is one step of a path: a member, or an element of a list by name.
type step struct {
	member  string
	element string
	inList  bool
}

// splitPath splits "properties.probes[HTTPSProbe].name". "[]" and "[*]" match every element, "[a*]" every one whose name
// starts with a. Names of elements may contain dots.
func splitPath(path string) []step {
	var out []step
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				end = len(path) - 1
			}
			name := path[1:end]
			if name == "" {
				name = "*"
			}
			out = append(out, step{element: name, inList: true})
			path = path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			out = append(out, step{member: path[:end]})
			path = path[end:]
		}
	}
	return out
}

type match struct {
	path  string
	steps []step
	value any
}

// expandPath returns the values that match a path with patterns.
func expandPath(steps []step, value any, path string) []match {
	type cursor = match
	cursors := []cursor{{path: path, value: value}}
	for _, s := range steps {
		var next []cursor
		for _, c := range cursors {
			next = append(next, s.matchChildren(c)...)
		}
		cursors = next
	}
	return cursors
}

func (s step) matchChildren(c match) []match {
	extend := func(path string, s step, value any) match {
		return match{path: path, steps: append(append([]step{}, c.steps...), s), value: value}
	}
	if !s.inList {
		object, _ := c.value.(map[string]any)
		if value, ok := lookupKey(object, s.member); ok {
			return []match{extend(joinPath(c.path, s.member), s, value)}
		}
		return nil
	}
	var out []match
	if object, ok := c.value.(map[string]any); ok {
		for _, key := range sortedKeys(object) {
			if matchesPattern(s.element, key) {
				out = append(out, extend(c.path+"["+key+"]", step{member: key}, object[key]))
			}
		}
		return out
	}
	list, _ := c.value.([]any)
	key := elementKey(list)
	for _, item := range list {
		if name := elementName(item, key); name != "" && matchesPattern(s.element, name) {
			out = append(out, extend(c.path+"["+name+"]", step{element: name, inList: true}, item))
		}
	}
	return out
}

// valueAt returns the value at concrete steps, or nil.
func valueAt(value any, steps []step) any {
	for _, s := range steps {
		if s.inList {
			list, _ := value.([]any)
			value = findElement(list, elementKey(list), s.element)
			continue
		}
		object, _ := value.(map[string]any)
		value, _ = lookupKey(object, s.member)
	}
	return value
}

func matchesPattern(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(pattern, name)
}
