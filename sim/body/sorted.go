package body

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Sorted iterates over a map in the order of its keys. Go's own order changes from one iteration to the next, so the first of several errors
// does, too, and the same request would get different answers. The map may change during the iteration, which has the keys of its beginning.
func Sorted[M ~map[K]V, K cmp.Ordered, V any](m M) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
