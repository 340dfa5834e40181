package maxima

import "fmt"

// Bounds of an object in JSON, whatever its schema. The largest useful object is a list of 500 resource manifests with
// about twenty objects each.
const (
	maxObjects = 20_000
	maxValues  = 200_000
	maxDepth   = 64
)

// Size is the number of values in a JSON object. It determines the memory that the decoded object takes: three bytes of an
// empty list element become a kilobyte.
type Size struct {
	// Objects counts objects and lists, Values counts all values, and Depth is the depth of nesting.
	Objects, Values, Depth int
}

// MeasureJSON returns the size of a JSON object. It allocates nothing and reads each byte once. It does not report invalid
// JSON, which the decoder refuses.
func MeasureJSON(object []byte) (size Size) {
	depth, inString, escaped := 0, false, false
	for _, c := range object {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
			size.Objects++
			size.Values++
			size.Depth = max(size.Depth, depth)
		case c == '}' || c == ']':
			depth--
		case c == ',':
			size.Values++
		}
	}
	return size
}

// ExcessReason returns why an object of this size must not be decoded; "" if it may be.
func (s Size) ExcessReason() string {
	switch {
	case s.Depth > maxDepth:
		return fmt.Sprintf("the object is nested more than %d levels deep; flatten it", maxDepth)
	case s.Objects > maxObjects:
		return fmt.Sprintf("the object contains more than %d objects and lists; remove elements or split it into several objects", maxObjects)
	case s.Values > maxValues:
		return fmt.Sprintf("the object contains more than %d values; remove values or split it into several objects", maxValues)
	}
	return ""
}
