package server

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// resourceFilter is the $filter of a list of resources or groups: alternatives, each with conditions that have to be met.
// https://learn.microsoft.com/rest/api/resources/resources/list
type resourceFilter [][]fieldCondition

// fieldCondition compares a field of a resource with a value.
type fieldCondition struct{ field, operator, value string }

const startsWith, contains = "startswith", "substringof"

var (
	comparison = regexp.MustCompile(`(?i)^'?([a-z/]+)'?\s+(eq|ne)\s+'((?:[^']|'')*)'`)
	function   = regexp.MustCompile(`(?i)^(startswith|substringof)\s*\(\s*('(?:[^']|'')*'|[a-z]+)\s*,\s*('(?:[^']|'')*'|[a-z]+)\s*\)(?:\s+eq\s+true)?`)
	connector  = regexp.MustCompile(`(?i)^\s+(and|or)\s+`)
)

// Fields that Azure filters lists by, in lower case, and the operators for each.
var (
	groupFilters    = map[string][]string{"tagname": {"eq", startsWith}, "tagvalue": {"eq"}}
	resourceFilters = map[string][]string{"tagname": {"eq", startsWith}, "tagvalue": {"eq"},
		"resourcetype": {"eq", "ne"}, "location": {"eq", "ne"}, "name": {"eq", "ne", contains}, "resourcegroup": {"eq", "ne", contains},
		"identity/principalid": {"eq", "ne"}, "plan/name": {"eq", "ne"}, "plan/publisher": {"eq", "ne"}, "plan/product": {"eq", "ne"},
		"plan/version": {"eq", "ne"}, "plan/promotioncode": {"eq", "ne"}}
)

// parseFilter reads a $filter. It returns an error for an expression that it does not support, because an unfiltered list would look like the
// result of the filter. "and" binds closer than "or"; parentheses are not supported.
func parseFilter(text string, known map[string][]string) (resourceFilter, error) {
	rest := strings.TrimSpace(text)
	if rest == "" {
		return nil, nil
	}
	filter := resourceFilter{nil}
	for {
		next, length := readCondition(rest)
		if !slices.Contains(known[next.field], next.operator) {
			return nil, invalidFilter(text)
		}
		last := len(filter) - 1
		filter[last] = append(filter[last], next)
		if rest = rest[length:]; rest == "" {
			return filter, nil
		}
		word := connector.FindStringSubmatch(rest)
		if word == nil {
			return nil, invalidFilter(text)
		}
		if strings.EqualFold(word[1], "or") {
			filter = append(filter, nil)
		}
		rest = rest[len(word[0]):]
	}
}

func invalidFilter(text string) error {
	return provider.GatewayErrorf(400, "InvalidFilterInQueryString", "Invalid $filter '%s' specified in the query string.", text)
}

// readCondition reads the condition at the beginning of a text, and its length. An empty condition is none that Azure has.
func readCondition(text string) (fieldCondition, int) {
	if m := comparison.FindStringSubmatch(text); m != nil {
		return fieldCondition{strings.ToLower(m[1]), strings.ToLower(m[2]), strings.ReplaceAll(m[3], "''", "'")}, len(m[0])
	}
	m := function.FindStringSubmatch(text)
	if m == nil {
		return fieldCondition{}, 0
	}
	operator, field, value := strings.ToLower(m[1]), m[2], m[3]
	if operator == contains {
		field, value = value, field
	}
	if strings.HasPrefix(field, "'") || !strings.HasPrefix(value, "'") {
		return fieldCondition{}, 0
	}
	return fieldCondition{strings.ToLower(field), operator, strings.ReplaceAll(value[1:len(value)-1], "''", "'")}, len(m[0])
}

// matches reports whether a resource meets all conditions of an alternative.
func (f resourceFilter) matches(r *store.Resource) bool {
	return len(f) == 0 || slices.ContainsFunc(f, func(all []fieldCondition) bool {
		for _, c := range all {
			if !strings.HasPrefix(c.field, "tag") && !c.meets(r) {
				return false
			}
		}
		return hasTag(r, all)
	})
}

// only returns the value that a field must have, or "".
func (f resourceFilter) only(field string) string {
	if len(f) != 1 {
		return ""
	}
	for _, c := range f[0] {
		if c.field == field && c.operator == "eq" {
			return c.value
		}
	}
	return ""
}

// hasTag reports whether one tag meets all conditions about tags.
func hasTag(r *store.Resource, all []fieldCondition) bool {
	meets := func(name string, value any) bool {
		for _, c := range all {
			text, _ := value.(string)
			switch {
			case c.field == "tagname" && c.operator == "eq" && !strings.EqualFold(c.value, name),
				c.field == "tagname" && c.operator == startsWith && !strings.HasPrefix(strings.ToLower(name), strings.ToLower(c.value)),
				c.field == "tagvalue" && c.value != text:
				return false
			}
		}
		return true
	}
	if !slices.ContainsFunc(all, func(c fieldCondition) bool { return strings.HasPrefix(c.field, "tag") }) {
		return true
	}
	for name, value := range body.Child(r.Body, "tags") {
		if meets(name, value) {
			return true
		}
	}
	return false
}

func (c fieldCondition) meets(r *store.Resource) bool {
	id, _ := store.ParseID(r.ID)
	have, want := body.String(r.Body, strings.ReplaceAll(c.field, "/", ".")), c.value
	switch c.field {
	case "resourcetype":
		have = r.Type
	case "location":
		have, want = r.Location, provider.NormalizeLocation(want)
	case "name":
		have = r.Name()
	case "resourcegroup":
		have = id.ResourceGroup
	case "identity/principalid":
		have = body.String(r.Body, "identity.principalId")
	case "plan/promotioncode":
		have = body.String(r.Body, "plan.promotionCode")
	}
	switch c.operator {
	case "eq":
		return strings.EqualFold(have, want)
	case "ne":
		return !strings.EqualFold(have, want)
	}
	return strings.Contains(strings.ToLower(have), strings.ToLower(want))
}
