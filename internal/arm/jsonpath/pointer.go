package jsonpath

import "strings"

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1", "[", "~2")
	unescaper = strings.NewReplacer("~2", "[", "~1", "/", "~0", "~")
)

// Pointer returns a path as a JSON pointer (RFC 6901) with elements in brackets, as in "/properties/probes[HTTPSProbe]". Annotations
// have paths in this form. The whole body is "". Besides the escapes of the RFC, "~2" stands for an opening bracket in the name of a member.
func (p Path) Pointer() string {
	var out strings.Builder
	out.Grow(p.textLength())
	for _, step := range p {
		if step.Element {
			writeDelimited(&out, '[', step.Name, ']')
		} else {
			out.WriteByte('/')
			out.WriteString(escaper.Replace(step.Name))
		}
	}
	return out.String()
}

// UnescapeMember returns the name of a member from the text between two slashes of a pointer.
func UnescapeMember(text string) string {
	if strings.IndexByte(text, '~') < 0 {
		return text
	}
	return unescaper.Replace(text)
}

// ParsePointer parses the result of Pointer. Every text has a meaning.
func ParsePointer(pointer string) Path {
	if pointer == "" {
		return nil
	}
	out := make(Path, 0, strings.Count(pointer, "/")+strings.Count(pointer, "["))
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
		out, pointer = append(out, Step{Name: UnescapeMember(pointer[:end])}), pointer[end:]
	}
	return out
}
