package lent

import (
	"maps"
	"slices"
)

// ListTypes returns the types whose effects are known.
func ListTypes() []string { return slices.Sorted(maps.Keys(effects)) }

// EffectReason is why a type has its effect.
func EffectReason(name string) string { return effects[name].reason }
