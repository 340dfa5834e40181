package lent

import (
	"maps"
	"slices"
)

// Types returns the types whose effects are known.
func Types() []string { return slices.Sorted(maps.Keys(effects)) }

// Reason is why a type has its effect.
func Reason(name string) string { return effects[name].reason }
