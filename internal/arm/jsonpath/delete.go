package jsonpath

// Delete deletes the values at all places that match a pattern. Objects and lists that become empty stay.
func Delete(body map[string]any, pattern string) { Parse(pattern).delete(body) }

// delete returns value without the element at the path below it.
func (p Path) delete(value any) any {
	if len(p) == 0 {
		return value
	}
	step, last := p[0], len(p) == 1
	switch value := value.(type) {
	case map[string]any:
		for _, key := range step.matchingKeys(value) {
			if last {
				delete(value, key)
			} else {
				value[key] = p[1:].delete(value[key])
			}
		}
	case []any:
		if !step.Element {
			return value
		}
		key, out := ElementKey(value), value[:0]
		for i, item := range value {
			if !step.matches(nameAt(value, key, i)) {
				out = append(out, item)
			} else if !last {
				out = append(out, p[1:].delete(item))
			}
		}
		clear(value[len(out):])
		return out
	}
	return value
}

// Prune deletes the value at a path of members, and the objects that become empty.
func Prune(body map[string]any, path string) { Parse(path).prune(body) }

func (p Path) prune(body map[string]any) {
	if len(p) == 0 {
		return
	}
	if len(p) > 1 {
		object, ok := body[p[0].Name].(map[string]any)
		if !ok {
			return
		}
		if p[1:].prune(object); len(object) > 0 {
			return
		}
	}
	delete(body, p[0].Name)
}
