package plan

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// ToPointers returns pointers to copies of the values, the form of lists in SDK models. The result is never nil, so that
// an empty list is part of the body and a removal is sent.
func ToPointers[T any](values []T) []*T {
	out := make([]*T, 0, len(values))
	for _, value := range values {
		out = append(out, new(value))
	}
	return out
}

// Dereference returns the value of a pointer, the zero value for nil.
func Dereference[T any](value *T) (out T) {
	if value != nil {
		out = *value
	}
	return out
}

// ToIDPointer returns the ID in the form of SDK models.
func ToIDPointer(id arm.ID) *string { return new(string(id)) }
