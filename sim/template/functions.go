package template

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// function is one of the language. most is -1 when there may be any number of arguments.
type function struct {
	least, most int
	asks        bool // reads the properties of a resource
	call        func(s *scope, args []any) (any, error)
}

// functions are those that are served, by their names in lower case. It is filled below, because some of them evaluate.
var functions map[string]function

func init() {
	functions = map[string]function{
		"concat":        {least: 1, most: -1, call: concat},
		"copyindex":     {most: 2, call: copyIndex},
		"format":        {least: 1, most: -1, call: format},
		"parameters":    {least: 1, most: 1, call: parameters},
		"providers":     {least: 2, most: 2, call: providers},
		"reference":     {least: 1, most: 3, asks: true, call: reference},
		"resourcegroup": {call: func(s *scope, _ []any) (any, error) { return s.t.env.ResourceGroup, nil }},
		"resourceid":    {least: 2, most: -1, call: resourceID},
		"subscription":  {call: func(s *scope, _ []any) (any, error) { return s.t.env.Subscription, nil }},
		"tolower":       {least: 1, most: 1, call: toLower},
		"uniquestring":  {least: 1, most: -1, call: uniqueString},
		"variables":     {least: 1, most: 1, call: variables},
	}
}

// unfitArguments returns the error for a function with arguments that it does not accept.
func unfitArguments(name, want string, args []any) error {
	raw, _ := json.Marshal(args)
	return newRefusal("The template language function '%s' expects %s. The provided value is '%s'. Please see https://aka.ms/arm-function-%s for usage details.", name, want, raw, strings.ToLower(name))
}

// stringArguments are arguments that have to be strings.
func stringArguments(name string, args []any) ([]string, error) {
	out := make([]string, len(args))
	for i, arg := range args {
		t, is := arg.(string)
		if !is {
			return nil, unfitArguments(name, "its parameters to be strings", args)
		}
		out[i] = t
	}
	return out, nil
}

// writeValue returns a value as concat and format write it.
func writeValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

func concat(_ *scope, args []any) (any, error) {
	if _, lists := args[0].([]any); lists {
		out := []any{}
		for _, arg := range args {
			list, is := arg.([]any)
			if !is {
				return nil, unfitArguments("concat", "its parameters to be either all arrays or none", args)
			}
			out = append(out, list...)
		}
		return out, nil
	}
	var b strings.Builder
	for _, arg := range args {
		switch arg.(type) {
		case string, bool, float64:
			b.WriteString(writeValue(arg))
		default:
			return nil, unfitArguments("concat", "its parameters to be string, integer or boolean, or all arrays", args)
		}
	}
	return b.String(), nil
}

// format fills {0}, {1} and so on. How numbers are to be written ({0:N2}) is not served.
func format(_ *scope, args []any) (any, error) {
	form, is := args[0].(string)
	if !is {
		return nil, unfitArguments("format", "its first parameter to be a string", args)
	}
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		c := form[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(form) && form[i+1] == c:
			b.WriteByte(c)
			i++
		case c == '{':
			end := strings.IndexByte(form[i:], '}')
			if end < 0 {
				return nil, unfitArguments("format", "a format string in which braces are closed", args)
			}
			n, err := strconv.Atoi(form[i+1 : i+end])
			if err != nil || n < 0 || n+1 >= len(args) {
				return nil, unfitArguments("format", "a format string with the numbers of its arguments", args)
			}
			b.WriteString(writeValue(args[n+1]))
			i += end
		case c == '}':
			return nil, unfitArguments("format", "a format string in which braces are opened", args)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

func toLower(_ *scope, args []any) (any, error) {
	t, err := stringArguments("toLower", args)
	if err != nil {
		return nil, err
	}
	return strings.ToLower(t[0]), nil
}

// uniqueString is 13 letters and digits that depend on the arguments only. Azure does not publish which; these are others.
func uniqueString(_ *scope, args []any) (any, error) {
	t, err := stringArguments("uniqueString", args)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.Join(t, "\x00")))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:13], nil
}

func parameters(s *scope, args []any) (any, error) {
	t, err := stringArguments("parameters", args)
	if err != nil {
		return nil, err
	}
	p := s.t.findParameter(t[0])
	if p == nil {
		return nil, newRefusal("The template parameter '%s' is not found. Please see https://aka.ms/arm-syntax-parameters for usage details.",
			t[0])
	}
	if !p.known {
		return nil, newRefusal("The template parameter '%s' depends on itself. Please see https://aka.ms/arm-syntax-parameters for usage details.", p.Name)
	}
	return p.value, nil
}

func variables(s *scope, args []any) (any, error) {
	t, err := stringArguments("variables", args)
	if err != nil {
		return nil, err
	}
	for name, v := range body.Sorted(s.t.variables) {
		if !strings.EqualFold(name, t[0]) {
			continue
		}
		if slices.Contains(s.variables, name) {
			return nil, newRefusal("The template variable '%s' is not valid: it refers to itself. Please see https://aka.ms/arm-syntax-variables for usage details.", name)
		}
		inner := &scope{t: s.t, index: -1, noRefs: true, variables: append(slices.Clone(s.variables), name)}
		return inner.evaluateValue(v)
	}
	return nil, newRefusal("The template variable '%s' is not found. Please see https://aka.ms/arm-syntax-variables for usage details.", t[0])
}

// copyIndex is copyIndex(), copyIndex(offset) or copyIndex('loop', offset).
func copyIndex(s *scope, args []any) (any, error) {
	offset := 0.0
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			if i > 0 || !strings.EqualFold(arg, s.loop) {
				return nil, newRefusal("The template function 'copyIndex' has an invalid argument. The provided copy name '%s' doesn't exist in the resource. Please see https://aka.ms/arm-copy for usage details.", arg)
			}
		case float64:
			offset = arg
		default:
			return nil, unfitArguments("copyIndex", "the name of a loop and an offset", args)
		}
	}
	if s.index < 0 {
		return nil, newRefusal("The template function 'copyIndex' is not expected at this location. The function can only be used in a resource with copy specified. Please see https://aka.ms/arm-copy for usage details.")
	}
	return float64(s.index) + offset, nil
}

// resourceID is resourceId([subscription], [group], type, name...).
func resourceID(s *scope, args []any) (any, error) {
	t, err := stringArguments("resourceId", args)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(t, func(a string) bool { return strings.Contains(a, "/") })
	subscription, group := fmt.Sprint(s.t.env.Subscription["subscriptionId"]), fmt.Sprint(s.t.env.ResourceGroup["name"])
	switch at {
	case 0:
	case 1:
		group = t[0]
	case 2:
		subscription, group = t[0], t[1]
	default:
		return nil, newRefusal("Unable to evaluate template language function 'resourceId': function requires exactly one multi-segmented argument which must be resource id including resource provider namespace and resource type. Current function arguments '%s'. Please see https://aka.ms/arm-function-resourceid for usage details.", strings.Join(t, ","))
	}
	parts := strings.Split(t[at], "/")
	names := t[at+1:]
	if len(parts)-1 != len(names) {
		return nil, newRefusal("Unable to evaluate template language function 'resourceId': the type '%s' requires '%d' resource name argument(s). Current function arguments '%s'. Please see https://aka.ms/arm-function-resourceid for usage details.", t[at], len(parts)-1, strings.Join(t, ","))
	}
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/" + interleaveNames(parts, names), nil
}

// interleaveNames is "Microsoft.Network/virtualNetworks/v/subnets/s".
func interleaveNames(parts, names []string) string {
	out := parts[0]
	for i, name := range names {
		out += "/" + parts[i+1] + "/" + name
	}
	return out
}

// providers is providers(namespace, type), of which the api-versions are served.
func providers(s *scope, args []any) (any, error) {
	t, err := stringArguments("providers", args)
	if err != nil {
		return nil, err
	}
	versions := []any{}
	for _, v := range s.t.env.Versions(t[0] + "/" + t[1]) {
		versions = append(versions, v)
	}
	if len(versions) == 0 {
		return nil, newRefusal("Unable to evaluate template language function 'providers': the resource type '%s/%s' was not found. Please see https://aka.ms/arm-function-providers for usage details.", t[0], t[1])
	}
	return map[string]any{"resourceType": t[1], "apiVersions": versions}, nil
}

// reference is reference(name or ID, [api-version], ['Full']).
func reference(s *scope, args []any) (any, error) {
	t, err := stringArguments("reference", args)
	if err != nil {
		return nil, err
	}
	full := len(t) == 3
	if full && !strings.EqualFold(t[2], "Full") {
		return nil, unfitArguments("reference", "its third parameter to be 'Full'", args)
	}
	id, version := t[0], ""
	if len(t) > 1 {
		version = t[1]
	}
	found := s.t.findResources(t[0])
	switch {
	case len(found) == 1:
		id = found[0].ID
		if version == "" {
			version = found[0].APIVersion
		}
		s.referred = append(s.referred, found[0])
	case len(found) > 1 || !strings.HasPrefix(id, "/"):
		return nil, newRefusal("The template reference '%s' is not valid: could not find template resource or resource copy with this name. Please see https://aka.ms/arm-function-reference for usage details.", t[0])
	case version == "":
		of := "outputs"
		if s.of != nil {
			of = s.of.Name
		}
		return nil, newRefusal("The template resource '%s' reference to '%s' requires an API version. Please see https://aka.ms/arm-function-reference for usage details.", of, t[0])
	}
	if s.reference == nil {
		return unknown{}, nil
	}
	shown, err := s.reference(id, version)
	if err != nil {
		return nil, err
	}
	if full {
		return shown, nil
	}
	return stepInto(shown, "properties")
}
