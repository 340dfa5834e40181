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

func (j *judge) checkScalar(s schema, within, path string, value any) {
	switch s.Type {
	case "integer":
		n, ok := value.(float64)
		// Bicep calls prices integers: it has no other numbers.
		if !ok || n != math.Trunc(n) && (s.Minimum != nil || s.Maximum != nil) {
			j.addMismatch(WrongType, within, path, "integer", kindOf(value))
			return
		}
		j.checkBounds(s, within, path, n)
	case "string":
		text, ok := value.(string)
		if !ok {
			j.addMismatch(WrongType, within, path, "string", kindOf(value))
			return
		}
		j.checkText(s, within, path, text)
	case "boolean":
		if kindOf(value) != s.Type {
			j.addMismatch(WrongType, within, path, s.Type, kindOf(value))
		}
	}
}

func (j *judge) checkBounds(s schema, within, path string, n float64) {
	low, high := math.Inf(-1), math.Inf(1)
	if s.Minimum != nil {
		low = *s.Minimum
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	if want := violatedRange(low, high, n); want != "" {
		j.addMismatch(OutOfRange, within, path, want, formatNumber(n))
	}
}

// violatedRange returns the expected range for a number that is not between the bounds; "" for one that is.
func violatedRange(low, high, n float64) string {
	switch {
	case n >= low && n <= high:
		return ""
	case math.IsInf(low, -1):
		return "at most " + formatNumber(high)
	case math.IsInf(high, 1):
		return "at least " + formatNumber(low)
	default:
		return "between " + formatNumber(low) + " and " + formatNumber(high)
	}
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (j *judge) checkText(s schema, within, path, text string) {
	shown := text
	if s.Sensitive {
		shown = "***"
	}
	// Azure folds the case of enumerations.
	if len(s.Enum) > 0 && !s.Open && !slices.ContainsFunc(s.Enum, func(known string) bool { return strings.EqualFold(known, text) }) {
		j.addMismatch(NotOneOf, within, path, strings.Join(s.Enum, ", "), shown)
		return
	}
	j.checkLength(s.MinLength, s.MaxLength, utf8.RuneCountInString(text), "characters", within, path)
	if expression := compilePattern(s.Pattern); expression != nil && !expression.MatchString(text) {
		j.addMismatch(NotLike, within, path, s.Pattern, shown)
	}
}

var patterns sync.Map // pattern to *regexp.Regexp

// compilePattern returns a pattern; nil for none, and for one that Go's expressions do not have, as those that look ahead.
func compilePattern(pattern string) *regexp.Regexp {
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
