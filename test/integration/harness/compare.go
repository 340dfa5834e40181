package harness

import (
	"reflect"

	"github.com/google/go-cmp/cmp"
)

// DiffContent returns the differences of two JSON documents (-before +after), "" if they are equal. Most comparisons of a test are of
// equal documents, and cmp takes several times as long as reflect to find that out.
func DiffContent[T any](before, after T) string {
	if reflect.DeepEqual(before, after) {
		return ""
	}
	return cmp.Diff(before, after)
}
