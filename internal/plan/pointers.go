package plan

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// ToPointers are pointers to copies of the values, as SDK models want lists. The list is never nil, so that an empty one is
// rendered and a removal is visible.
func ToPointers[T any](values []T) []*T {
	out := make([]*T, 0, len(values))
	for _, value := range values {
		out = append(out, new(value))
	}
	return out
}

// ToIDPointer is the ID as SDK models want it.
func ToIDPointer(id arm.ID) *string { return new(string(id)) }
