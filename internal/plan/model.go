package plan

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// Pointers are pointers to copies of the values, as SDK models want lists. The list is never nil, so that an empty one is
// rendered and a removal is visible.
func Pointers[T any](values []T) []*T {
	out := make([]*T, 0, len(values))
	for _, value := range values {
		out = append(out, new(value))
	}
	return out
}

// IDPointer is the ID as SDK models want it.
func IDPointer(id arm.ID) *string { return new(string(id)) }
