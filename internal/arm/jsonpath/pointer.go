package jsonpath

import "strings"

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Pointer returns a path as a JSON pointer (RFC 6901) with elements in brackets, as in "/properties/probes[HTTPSProbe]". Annotations
// have paths in this form. The whole body is "".
func (p Path) Pointer() string {
	var out strings.Builder
	for _, step := range p {
		if step.Element {
			out.WriteString("[" + strings.ReplaceAll(step.Name, "]", "]]") + "]")
		} else {
			out.WriteString("/" + escaper.Replace(step.Name))
		}
	}
	return out.String()
}

// ParsePointer parses the result of Pointer. A bracket in the name of a member counts as the start of an element, because the form has no
// escape for it.
func ParsePointer(pointer string) Path {
	var out Path
	for pointer != "" {
		if pointer[0] == '[' {
			name, rest := cutDelimited(pointer[1:], ']')
			out, pointer = append(out, Step{Name: name, Element: true}), rest
			continue
		}
		pointer = strings.TrimPrefix(pointer, "/")
		end := strings.IndexAny(pointer, "/[")
		if end < 0 {
			end = len(pointer)
		}
		out, pointer = append(out, Step{Name: unescaper.Replace(pointer[:end])}), pointer[end:]
	}
	return out
}
