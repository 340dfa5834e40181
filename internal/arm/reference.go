package arm

import (
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Reference is a place of a body with the ID of an Azure resource.
type Reference struct {
	// Path is the path of the value, with "[]" for an element of a list and "*" for a key that is an ID, as in
	// "identity.userAssignedIdentities.*".
	Path string
	// ID is the ID without a slash at its end.
	ID ID
	// Plain means that Azure reads the ID as it is written. Other IDs may name a different resource than they seem to.
	Plain bool
}

// FindReferences returns the IDs in a decoded body, in the order of their paths. Values of tags are text for people and do not count.
func FindReferences(body any) []Reference {
	var out []Reference
	add := func(path jsonpath.Path, text string) {
		if id, ok := parseReference(text); ok {
			out = append(out, Reference{Path: referencePath(path), ID: id, Plain: MisreadReason(string(id)) == ""})
		}
	}
	jsonpath.Walk(body, func(path jsonpath.Path, value any) bool {
		if len(path) > 0 && !path[len(path)-1].Element {
			key := path[len(path)-1].Name
			add(path, key)
			if _, isMap := value.(map[string]any); isMap && key == "tags" {
				return false
			}
		}
		if text, ok := value.(string); ok {
			add(path, text)
		}
		return true
	})
	return out
}

// referencePath returns a path as Reference has it.
func referencePath(path jsonpath.Path) string {
	path = path.Shape()
	for i := range path {
		if _, isID := parseReference(path[i].Name); isID {
			path[i].Name = "*"
		}
	}
	return path.String()
}

// parseReference returns the ID in a text; ok is false if there is none. Azure accepts the ID also without its first slash and as a
// URL.
func parseReference(text string) (ID, bool) {
	text = TrimScheme(strings.TrimSpace(text))
	if scheme, rest, isURL := strings.Cut(text, "://"); isURL && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
		_, path, _ := strings.Cut(rest, "/")
		text = "/" + path
	}
	text = "/" + strings.Trim(text, "/")
	for _, start := range []string{inSubscription, "/providers/"} {
		if len(text) > len(start) && strings.EqualFold(text[:len(start)], start) {
			return ID(text), true
		}
	}
	return "", false
}

// ParsePlainID returns the ID in a text, if Azure reads it as it is written: no segment is relative, empty or escaped.
func ParsePlainID(text string) (ID, bool) {
	id, err := ParseID(text)
	if err != nil || MisreadReason(string(id)) != "" {
		return "", false
	}
	return id, true
}

// MisreadReason returns the reason why Azure or a proxy would read a path otherwise than it is written, "" if they would not. RFC 3986
// section 5.2.4 has clients and servers remove segments "." and "..", with the segment before the latter.
func MisreadReason(path string) string {
	if at := strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`\?#%`, r) }); at >= 0 {
		return fmt.Sprintf("it contains the character %q", path[at:at+1])
	}
	if at := findAmbiguousLetter(path); at >= 0 {
		return fmt.Sprintf("its letter %+q has the case of another letter", []rune(path[at:])[0])
	}
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch segment {
		case "":
			return "it has an empty segment"
		case ".", "..":
			return fmt.Sprintf("its segment %q leads to another path", segment)
		}
	}
	return ""
}
