package aso

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// convertScalar checks a value and returns it in Azure's format. The message contains the problem, but not the value.
func convertScalar(kind Kind, version string, p armschema.Property, value any) (out any, message string) {
	switch p.Type {
	case armschema.String:
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Sprintf("must be a string, not %s%s", describeType(value), quoteHint(value))
		}
		return checkString(kind, version, p, text)
	case armschema.Integer:
		number, ok := value.(json.Number)
		if _, err := number.Int64(); !ok || err != nil {
			return nil, "must be an integer, not " + describeType(value)
		}
	case armschema.Number:
		if _, ok := value.(json.Number); !ok {
			return nil, "must be a number, not " + describeType(value)
		}
	case armschema.Boolean:
		if _, ok := value.(bool); !ok {
			return nil, "must be true or false, not " + describeType(value)
		}
	}
	return value, constraintMessage(p, value)
}

// constraintMessage returns the bounds, length or pattern that a value violates.
func constraintMessage(p armschema.Property, value any) string {
	problem := p.ConstraintProblem(value)
	if problem == "" {
		return ""
	}
	return "must be " + strings.Replace(problem, "pattern ", "like the pattern ", 1)
}

func checkString(kind Kind, version string, p armschema.Property, text string) (any, string) {
	switch p.Format {
	case "byte":
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			return nil, "must be base64"
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, "must be a date, such as 2026-01-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return nil, "must be a time in the format of RFC 3339, such as 2026-01-31T12:00:00Z"
		}
	}
	values := p.Values
	if len(values) == 0 {
		return text, constraintMessage(p, text)
	}
	is := func(known string) bool { return strings.EqualFold(known, text) }
	if at := slices.IndexFunc(values, is); at >= 0 {
		return values[at], ""
	}
	message := "must be one of " + strings.Join(values, ", ")
	if having := armschema.VersionsWith(kind, p.Path, text); len(having) > 0 {
		return nil, fmt.Sprintf("has a value that API version %s does not have. API versions with the value: %s. To use it, %s; otherwise it %s",
			version, strings.Join(having, ", "), describeVersionChoice(having), message)
	}
	if near := nearest.FindNames(text, values); len(values) > 1 && len(near) > 0 {
		message += "; the most similar value is " + near[0]
	}
	return nil, message
}

// describeType returns the type of a decoded JSON value, never the value.
func describeType(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		if _, err := value.Int64(); err != nil {
			return "a number with a fraction"
		}
		return "a number"
	default:
		return "something else"
	}
}

// quoteHint returns the hint to quote a number or boolean.
func quoteHint(value any) string {
	switch value.(type) {
	case json.Number, bool:
		return ": put it in quotes"
	default:
		return ""
	}
}
