package jsonpath

import (
	"slices"
	"strings"
)

// Step is one step of a path.
type Step struct {
	// Name is the name of a member or of an element. A name that is empty or ends in "*" is a pattern in functions that accept them.
	Name string
	// Element is set for a step in brackets.
	Element bool
}

// Path is a place in a body. The empty path is the whole body.
type Path []Step

// Parse parses the text of a path. It accepts every text: a bracket or quote that is not closed ends with the text.
func Parse(text string) Path {
	if text == "" {
		return nil
	}
	out := make(Path, 0, 1+strings.Count(text, ".")+strings.Count(text, "["))
	for text != "" {
		var step Step
		step, text = cutStep(text)
		out = append(out, step)
	}
	return out
}

// String returns the text of a path, which Parse reads.
func (p Path) String() string {
	var out strings.Builder
	out.Grow(p.textLength())
	for i, step := range p {
		switch {
		case step.Element:
			writeDelimited(&out, '[', step.Name, ']')
			continue
		case i > 0:
			out.WriteByte('.')
		}
		if isPlainMember(step.Name) {
			out.WriteString(step.Name)
		} else {
			writeDelimited(&out, '"', step.Name, '"')
		}
	}
	return out.String()
}

// textLength returns the length of most texts of a path.
func (p Path) textLength() int {
	length := 0
	for _, step := range p {
		length += len(step.Name) + 2
	}
	return length
}

// writeDelimited writes a name between delimiters. The second one is doubled in the name.
func writeDelimited(out *strings.Builder, start byte, name string, end byte) {
	out.WriteByte(start)
	for i := range len(name) {
		if name[i] == end {
			out.WriteByte(end)
		}
		out.WriteByte(name[i])
	}
	out.WriteByte(end)
}

// Member returns the path of a member of the object at a path.
func (p Path) Member(name string) Path { return append(slices.Clip(p), Step{Name: name}) }

// Element returns the path of an element of the list at a path.
func (p Path) Element(name string) Path {
	return append(slices.Clip(p), Step{Name: name, Element: true})
}

// HasPrefix reports whether a path is another one or below it.
func (p Path) HasPrefix(other Path) bool {
	return len(p) >= len(other) && slices.Equal(p[:len(other)], other)
}

// Shape returns the pattern of a path that matches every element in the place of its elements.
func (p Path) Shape() Path {
	out := slices.Clone(p)
	for i := range out {
		if out[i].Element {
			out[i].Name = ""
		}
	}
	return out
}

func isPlainMember(name string) bool {
	return name != "" && name[0] != '"' && !strings.ContainsAny(name, ".[")
}

// JoinMember returns the text of a path of a member for messages. Keys that are IDs are in brackets; no key is in quotes, so Parse may
// read the text differently.
func JoinMember(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.HasPrefix(key, "/"):
		return path + "[" + key + "]"
	}
	return path + "." + key
}

// cutStep returns the first step of a text that is not empty, and the rest of the text.
func cutStep(text string) (Step, string) {
	if text[0] == '[' {
		name, rest := cutDelimited(text[1:], ']')
		return Step{Name: name, Element: true}, rest
	}
	text = strings.TrimPrefix(text, ".")
	if strings.HasPrefix(text, `"`) {
		name, rest := cutDelimited(text[1:], '"')
		return Step{Name: name}, rest
	}
	if end := strings.IndexAny(text, ".["); end >= 0 {
		return Step{Name: text[:end]}, text[end:]
	}
	return Step{Name: text}, ""
}

// cutDelimited returns the name in front of a delimiter, which stands twice for itself in the name, and the text behind it.
func cutDelimited(text string, delimiter byte) (name, rest string) {
	for end := 0; end < len(text); end++ {
		if text[end] != delimiter {
			continue
		}
		if end+1 == len(text) || text[end+1] != delimiter {
			return undouble(text[:end], delimiter), text[end+1:]
		}
		end++
	}
	return undouble(text, delimiter), ""
}

func undouble(text string, delimiter byte) string {
	if strings.IndexByte(text, delimiter) < 0 {
		return text
	}
	one := string([]byte{delimiter})
	return strings.ReplaceAll(text, one+one, one)
}
