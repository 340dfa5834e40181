package aks

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// What follows turns fields into what SDK models have: nil stays nil, and so does "" where it asks for nothing.

func toInt32[T ~int | ~int32 | ~int64](value *T) *int32 {
	if value == nil {
		return nil
	}
	return new(int32(*value))
}

// toString is a string as a model wants it; nil when there is none or it is "".
func toString[T ~string](value *T) *string {
	if value == nil || *value == "" {
		return nil
	}
	return new(string(*value))
}

// toEnum is a value of an enumeration as a model wants it; nil when there is none or it is "".
func toEnum[To, From ~string](value *From) *To {
	if value == nil || *value == "" {
		return nil
	}
	return new(To(*value))
}

// normalizeID is a resource ID as Azure writes it: users write provider IDs, too, and leave the first slash out.
func normalizeID(value string) string {
	value = strings.TrimPrefix(value, "azure://")
	if value == "" || strings.HasPrefix(value, "/") {
		return value
	}
	return "/" + value
}

func deref[T any](value *T) T {
	var zero T
	if value == nil {
		return zero
	}
	return *value
}

// toPointers is a list as models want it; one that is empty asks for nothing.
func toPointers(values []string) []*string {
	if len(values) == 0 {
		return nil
	}
	return plan.Pointers(values)
}

func toPointerMap(values map[string]string) map[string]*string {
	out := make(map[string]*string, len(values))
	for key, value := range values {
		out[key] = new(value)
	}
	return out
}
