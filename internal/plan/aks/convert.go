package aks

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// The functions of this file convert fields of specs to fields of SDK models. They return nil for nil, and for an empty value that means unset.

func toInt32[T ~int | ~int32 | ~int64](value *T) *int32 {
	if value == nil {
		return nil
	}
	return new(int32(*value))
}

// toString returns a string for an SDK model, nil for nil and "".
func toString[T ~string](value *T) *string {
	if value == nil || *value == "" {
		return nil
	}
	return new(string(*value))
}

// toEnum returns an enumeration value for an SDK model, nil for nil and "".
func toEnum[To, From ~string](value *From) *To {
	if value == nil || *value == "" {
		return nil
	}
	return new(To(*value))
}

// normalizeID returns a resource ID in the format of Azure. Users also write provider IDs and IDs without the first slash.
func normalizeID(value string) string {
	value = arm.TrimScheme(value)
	if value == "" || strings.HasPrefix(value, "/") {
		return value
	}
	return "/" + value
}

// toPointers returns a list for an SDK model, nil for an empty list.
func toPointers(values []string) []*string {
	if len(values) == 0 {
		return nil
	}
	return plan.ToPointers(values)
}

func toPointerMap(values map[string]string) map[string]*string {
	out := make(map[string]*string, len(values))
	for key, value := range values {
		out[key] = new(value)
	}
	return out
}
