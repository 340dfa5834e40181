package jsonpath

// Get returns the value at a path, nil if there is none. Members have to have the case of the path.
func Get(value any, path string) any {
	for path != "" && value != nil {
		var step Step
		step, path = cutStep(path)
		value = step.child(value, false)
	}
	return value
}

// GetText returns the text at a path, "" if there is none.
func GetText(value any, path string) string {
	text, _ := Get(value, path).(string)
	return text
}

// GetFold is Get for members in any case.
func GetFold(value any, path string) any { return Parse(path).GetFold(value) }

// Get returns the value at a path, nil if there is none. Members have to have the case of the path.
func (p Path) Get(value any) any {
	for _, step := range p {
		value = step.child(value, false)
	}
	return value
}

// GetFold is Get for members in any case.
func (p Path) GetFold(value any) any {
	for _, step := range p {
		value = step.child(value, true)
	}
	return value
}

func (s Step) child(value any, fold bool) any {
	switch value := value.(type) {
	case map[string]any:
		if !s.Element && !fold {
			return value[s.Name]
		}
		found, _ := LookUp(value, s.Name)
		return found
	case []any:
		if !s.Element {
			return nil
		}
		if i := indexOf(value, s.Name); i >= 0 {
			return value[i]
		}
	}
	return nil
}

// Has reports whether there is a value at a path, which may be null.
func (p Path) Has(body any) bool {
	if len(p) == 0 {
		return true
	}
	parent, last := p[:len(p)-1].Get(body), p[len(p)-1]
	switch parent := parent.(type) {
	case map[string]any:
		_, ok := parent[last.Name]
		if !ok && last.Element {
			_, ok = findKey(parent, last.Name)
		}
		return ok
	case []any:
		return last.Element && indexOf(parent, last.Name) >= 0
	}
	return false
}

// Set sets the value at a path and creates missing objects. It does not create elements of lists.
func Set(body map[string]any, path string, value any) { Parse(path).Set(body, value) }

// Set sets the value at a path and creates missing objects. It does not create elements of lists.
func (p Path) Set(body map[string]any, value any) {
	var at any = body
	for i, step := range p {
		last := i == len(p)-1
		switch here := at.(type) {
		case map[string]any:
			key := step.Name
			if known, ok := findKey(here, key); ok && step.Element {
				key = known
			}
			if last {
				here[key] = value
				return
			}
			next := here[key]
			if !isContainer(next) {
				if p[i+1].Element {
					return
				}
				next = map[string]any{}
				here[key] = next
			}
			at = next
		case []any:
			found := -1
			if step.Element {
				found = indexOf(here, step.Name)
			}
			if found < 0 {
				return
			}
			if last {
				here[found] = value
				return
			}
			at = here[found]
		default:
			return
		}
	}
}

func isContainer(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// Clone returns a deep copy of a decoded JSON value.
func Clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return CloneObject(value)
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = Clone(item)
		}
		return out
	}
	return value
}

// CloneObject returns a deep copy of a decoded JSON object, an empty one for nil.
func CloneObject(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, item := range object {
		out[key] = Clone(item)
	}
	return out
}
