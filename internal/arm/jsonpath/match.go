package jsonpath

import (
	"maps"
	"slices"
	"strings"
)

// Match is a place that matches a pattern.
type Match struct {
	Path  Path
	Value any
}

// Expand returns the places that match a pattern and their values, in the order of keys and positions. Members are found in any case.
// Elements without a name, ID or service have their position as name.
func Expand(value any, pattern string) []Match {
	matches := []Match{{Value: value}}
	for pattern != "" {
		var step Step
		step, pattern = cutStep(pattern)
		var next []Match
		for _, match := range matches {
			next = step.appendChildren(next, match)
		}
		if matches = next; len(matches) == 0 {
			return nil
		}
	}
	return matches
}

func (s Step) appendChildren(out []Match, match Match) []Match {
	extend := func(name string, value any) {
		path := append(slices.Clip(match.Path), Step{Name: name, Element: s.Element})
		out = append(out, Match{Path: path, Value: value})
	}
	switch value := match.Value.(type) {
	case map[string]any:
		for _, key := range s.matchingKeys(value) {
			extend(key, value[key])
		}
		if !s.Element && !s.isPattern() {
			if key, ok := findKey(value, s.Name); ok && key != s.Name {
				extend(s.Name, value[key])
			}
		}
	case []any:
		if !s.Element {
			return out
		}
		key := ElementKey(value)
		for i, item := range value {
			if name := nameAt(value, key, i); s.matches(name) {
				extend(name, item)
			}
		}
	}
	return out
}

// matchingKeys returns the keys of an object that a step matches, sorted.
func (s Step) matchingKeys(object map[string]any) []string {
	if !s.Element && !s.isPattern() {
		if _, ok := object[s.Name]; ok {
			return []string{s.Name}
		}
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(key string) bool { return !s.matches(key) })
}

// Matches reports whether a path matches a pattern as a whole.
func (p Path) Matches(pattern Path) bool {
	return slices.EqualFunc(p, pattern, func(step, want Step) bool {
		return step.Element == want.Element && want.matches(step.Name)
	})
}

// isPattern reports whether a step of a pattern matches several names.
func (s Step) isPattern() bool { return s.Element && s.Name == "" || strings.HasSuffix(s.Name, "*") }

// matches reports whether a name matches a step of a pattern. Case does not matter.
func (s Step) matches(name string) bool {
	return s.Element && s.Name == "" || MatchesName(s.Name, name)
}

// MatchesName reports whether a name equals the pattern without regard to case. A pattern that ends in "*" matches every name that
// starts with the text in front of it.
func MatchesName(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return strings.EqualFold(pattern, name)
}
