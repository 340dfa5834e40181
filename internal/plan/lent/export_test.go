package lent

import (
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// ListTypes returns the types whose effects are known.
func ListTypes() []string { return slices.Sorted(maps.Keys(effects)) }

// EffectReason is why a type has its effect.
func EffectReason(name string) string { return effects[name].reason }

// IsFileProperty reports whether the values of a property are refused, because they do not show the owner.
func IsFileProperty(path string) bool { return isFileProperty(jsonpath.Parse(path)) }
