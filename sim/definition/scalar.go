package definition

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

func (j *judge) scalar(s schema, within, path string, value any) {
	switch s.Type {
	case "integer":
		n, ok := value.(float64)
		// Bicep calls prices integers: it has no other numbers.
		if !ok || n != math.Trunc(n) && (s.Minimum != nil || s.Maximum != nil) {
			j.add(WrongType, within, path, "integer", kindOf(value))
			return
		}
		j.bounds(s, within, path, n)
	case "string":
		text, ok := value.(string)
		if !ok {
			j.add(WrongType, within, path, "string", kindOf(value))
			return
		}
		j.text(s, within, path, text)
	case "boolean":
		if kindOf(value) != s.Type {
			j.add(WrongType, within, path, s.Type, kindOf(value))
		}
	}
}

func (j *judge) bounds(s schema, within, path string, n float64) {
	low, high := math.Inf(-1), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	if want := outside(low, high, n); want != "" {
		j.add(OutOfRange, within, path, want, plain(n))
	}
}

// outside returns the expected range for a number that is not between the bounds; "" for one that is.
func outside(low, high, n float64) string {
	switch {
	case n >= low && n <= high:
		return ""
	case math.IsInf(low, -1):
		return "at most " + plain(high)
	case math.IsInf(high, 1):
		return "at least " + plain(low)
	default:
		return "between " + plain(low) + " and " + plain(high)
	}
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (j *judge) text(s schema, within, path, text string) {
	shown := text
	if s.Sensitive {
		shown = "***"
	}
	// Azure folds the case of enumerations.
	if len(s.Enum) > 0 && !s.Open && !slices.ContainsFunc(s.Enum, func(known string) bool { return strings.EqualFold(known, text) }) {
		j.add(NotOneOf, within, path, strings.Join(s.Enum, ", "), shown)
		return
	}
	j.length(s.MinLength, s.MaxLength, utf8.RuneCountInString(text), "characters", within, path)
	if expression := compiled(s.Pattern); expression != nil && !expression.MatchString(text) {
		j.add(NotLike, within, path, s.Pattern, shown)
	}
}

var patterns sync.Map // pattern to *regexp.Regexp

// compiled is a pattern; nil for none, and for one that Go's expressions do not have, as those that look ahead.
func compiled(pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp)
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		expression = nil
	}
	patterns.Store(pattern, expression)
	return expression
}
