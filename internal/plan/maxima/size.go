package maxima

import "fmt"

// Bounds of an object in JSON, whatever its schema. The largest object that is of use is a list of 500 resource manifests with about
// twenty objects each.
const (
	maxObjects = 20_000
	maxValues  = 200_000
	maxDepth   = 64
)

// Size is how much there is in an object in JSON. It decides what the object takes when it is decoded: three bytes of an empty element of a
// list become a kilobyte.
type Size struct {
	// Objects counts objects and lists, Values all values, Depth is how deep they are nested.
	Objects, Values, Depth int
}

// MeasureJSON returns the size of an object in JSON. It allocates nothing and looks at each byte once. Text that is not JSON is left to the
// decoder.
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

// ExcessReason returns why an object of this size must not be decoded, "" for one that may be.
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
