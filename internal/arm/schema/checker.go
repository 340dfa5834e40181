package schema

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Problem is the kind of a finding.
type Problem string

// Kinds of findings.
const (
	// UnknownProperty is a property that the type does not have in this version.
	UnknownProperty Problem = "Unknown"
	// WrongSpelling is a property in another case than the definition's; Azure accepts it.
	WrongSpelling Problem = "Spelling"
	// WrongType is a value of another type, as a string instead of an integer.
	WrongType Problem = "WrongType"
	// NotAllowed is a value outside of an enumeration, bound, length or pattern.
	NotAllowed Problem = "NotAllowed"
	// ReadOnlySet is a property that only Azure sets.
	ReadOnlySet Problem = "ReadOnly"
	// MissingProperty is a required property that is absent.
	MissingProperty Problem = "Missing"
)

// Finding is one problem of a body. It never contains a value of the body, which may be secret.
type Finding struct {
	// Path is dotted, with the index of items and the keys of maps, as in "properties.subnets[0].name".
	Path string
	// Problem is the kind of problem, and Want the expectation of the definition.
	Problem Problem
	Want    string
}

// String returns the finding as text.
func (f Finding) String() string {
	if f.Want == "" {
		return fmt.Sprintf("%s: %s", f.Path, f.Problem)
	}
	return fmt.Sprintf("%s: %s (%s)", f.Path, f.Problem, f.Want)
}

// urlProperties are the properties of a resource that a request has in its URL.
var urlProperties = []string{"id", "name", "type", "apiVersion"}

// CheckRequest checks the body of a PUT against the definition: unknown properties, wrong types, values that are not allowed, read-only
// properties, and missing ones. body is JSON as encoding/json decodes it. The findings are sorted by path. null removes a value, so
// every type accepts it.
func (d Definition) CheckRequest(body any) []Finding {
	c := checker{file: d.file}
	c.checkShape("", d.body, body, true)
	slices.SortFunc(c.findings, func(a, b Finding) int {
		return strings.Compare(a.Path+"\x00"+string(a.Problem), b.Path+"\x00"+string(b.Problem))
	})
	return c.findings
}

type checker struct {
	file     *file
	findings []Finding
}

func (c *checker) addFinding(path string, problem Problem, want string) {
	c.findings = append(c.findings, Finding{Path: path, Problem: problem, Want: want})
}

// checkShape checks one value. top is set for the resource itself.
func (c *checker) checkShape(path string, s Shape, value any, top bool) {
	switch {
	case value == nil && !top:
	case s.Object != "":
		c.checkObject(path, c.file.Objects[s.Object], value, top)
	case len(s.AnyOf) > 0:
		c.checkAnyOf(path, s, value)
	default:
		c.checkValue(path, s, value)
	}
}

// checkAnyOf adds the findings of the shape that fits best.
func (c *checker) checkAnyOf(path string, s Shape, value any) {
	var best []Finding
	for i, option := range s.AnyOf {
		tried := checker{file: c.file}
		tried.checkShape(path, option, value, false)
		if i == 0 || len(tried.findings) < len(best) {
			best = tried.findings
		}
	}
	c.findings = append(c.findings, best...)
}

func (c *checker) checkValue(path string, s Shape, value any) {
	switch s.Type {
	case "array":
		items, ok := value.([]any)
		if !ok {
			c.addFinding(path, WrongType, "array")
			return
		}
		c.checkLength(path, len(items), s.MinItems, s.MaxItems, "items")
		for i, item := range items {
			c.checkShape(fmt.Sprintf("%s[%d]", path, i), orAny(s.Items), item, false)
		}
	case "map":
		entries, ok := value.(map[string]any)
		if !ok {
			c.addFinding(path, WrongType, "object")
			return
		}
		for key, entry := range entries {
			c.checkShape(jsonpath.JoinMember(path, key), orAny(s.Values), entry, false)
		}
	case "string":
		c.checkText(path, s, value)
	case "integer":
		c.checkInteger(path, s, value)
	case "boolean":
		if _, ok := value.(bool); !ok {
			c.addFinding(path, WrongType, "boolean")
		}
	}
}

func orAny(s *Shape) Shape {
	if s == nil {
		return Shape{}
	}
	return *s
}

// checkObject checks the properties of an object, and that the required ones are there.
func (c *checker) checkObject(path string, o object, value any, top bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		c.addFinding(path, WrongType, "object")
		return
	}
	if o.Discriminator != "" {
		if o, ok = c.selectVariant(path, o, fields); !ok {
			return
		}
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := jsonpath.JoinMember(path, name)
		if top && slices.Contains(urlProperties, name) {
			continue
		}
		known, shape, ok := o.findProperty(name)
		switch {
		case !ok && o.Values != nil:
			c.checkShape(at, *o.Values, fields[name], false)
			continue
		case !ok:
			c.addFinding(at, UnknownProperty, "")
			continue
		case known != name:
			c.addFinding(at, WrongSpelling, known)
		}
		seen[known] = true
		if shape.HasFlag(ReadOnly) {
			c.addFinding(at, ReadOnlySet, "")
			continue
		}
		c.checkShape(at, shape, fields[name], false)
	}
	// A reference by ID needs no other property.
	if _, reference := fields["id"].(string); reference && !top {
		return
	}
	for name, shape := range o.Properties {
		if shape.HasFlag(Required) && !seen[name] && !(top && slices.Contains(urlProperties, name)) {
			c.addFinding(jsonpath.JoinMember(path, name), MissingProperty, "")
		}
	}
}

// selectVariant returns a discriminated object with the properties of its variant. ok is false if the value names none.
func (c *checker) selectVariant(path string, o object, fields map[string]any) (object, bool) {
	at := jsonpath.JoinMember(path, o.Discriminator)
	value, _ := fields[o.Discriminator].(string)
	if value == "" {
		c.addFinding(at, MissingProperty, "one of "+strings.Join(slices.Sorted(maps.Keys(o.Variants)), ", "))
		return object{}, false
	}
	for name, variant := range o.Variants {
		if strings.EqualFold(name, value) {
			chosen := c.file.Objects[variant.Object]
			merged := object{Properties: maps.Clone(o.Properties), Values: chosen.Values}
			maps.Copy(merged.Properties, chosen.Properties)
			return merged, true
		}
	}
	c.addFinding(at, NotAllowed, "one of "+strings.Join(slices.Sorted(maps.Keys(o.Variants)), ", "))
	return object{}, false
}

// findProperty finds a property by its name, exactly or ignoring case.
func (o object) findProperty(name string) (string, Shape, bool) {
	if shape, ok := o.Properties[name]; ok {
		return name, shape, true
	}
	for known, shape := range o.Properties {
		if strings.EqualFold(known, name) {
			return known, shape, true
		}
	}
	return "", Shape{}, false
}

func (c *checker) checkText(path string, s Shape, value any) {
	text, ok := value.(string)
	if !ok {
		c.addFinding(path, WrongType, "string")
		return
	}
	if len(s.Enum) > 0 && !s.Open && !slices.ContainsFunc(s.Enum, func(known string) bool { return strings.EqualFold(known, text) }) {
		c.addFinding(path, NotAllowed, "one of "+strings.Join(s.Enum, ", "))
	}
	c.checkLength(path, utf8.RuneCountInString(text), s.MinLength, s.MaxLength, "characters")
	if s.Pattern != "" {
		if pattern := compilePattern(s.Pattern); pattern != nil && !pattern.MatchString(text) {
			c.addFinding(path, NotAllowed, "pattern "+s.Pattern)
		}
	}
}

var patterns sync.Map // pattern to *regexp.Regexp

// compilePattern compiles a pattern of the definitions; nil for one that Go's regular expressions do not support, as look-ahead.
func compilePattern(pattern string) *regexp.Regexp {
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

func (c *checker) checkInteger(path string, s Shape, value any) {
	number, ok := value.(float64)
	if !ok || number != math.Trunc(number) && !mayBeFractional(s) {
		c.addFinding(path, WrongType, "integer")
		return
	}
	if s.Minimum != nil && number < float64(*s.Minimum) {
		c.addFinding(path, NotAllowed, fmt.Sprintf("at least %d", *s.Minimum))
	}
	if s.Maximum != nil && number > float64(*s.Maximum) {
		c.addFinding(path, NotAllowed, fmt.Sprintf("at most %d", *s.Maximum))
	}
}

// mayBeFractional reports whether an integer of the definitions may be any number: Bicep has no type for numbers with a fraction, and
// its definitions declare prices as integers without bounds.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/bicep/data-types
func mayBeFractional(s Shape) bool { return s.Minimum == nil && s.Maximum == nil }

func (c *checker) checkLength(path string, got int, least, most *int, unit string) {
	if least != nil && got < *least {
		c.addFinding(path, NotAllowed, fmt.Sprintf("at least %d %s", *least, unit))
	}
	if most != nil && got > *most {
		c.addFinding(path, NotAllowed, fmt.Sprintf("at most %d %s", *most, unit))
	}
}
