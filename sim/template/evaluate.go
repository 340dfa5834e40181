package template

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Environment has the facts about the target of a deployment that a template can read.
type Environment struct {
	ResourceGroup map[string]any // as a GET shows it
	Subscription  map[string]any
	// Versions are the api-versions of a resource type, newest first; none when it does not exist.
	Versions func(typ string) []string
	// Reference returns the resource with that ID as an api-version shows it. It is called for bodies and outputs
	// only.
	Reference func(id, apiVersion string) (map[string]any, error)
}

// unknown is the value of a resource's properties as long as they are not needed.
type unknown struct{}

// scope has the names that an expression can use.
type scope struct {
	t         *Template
	loop      string // the name of the copy loop around it
	index     int    // -1: none
	noRefs    bool   // a place where no resource can be asked for
	reference func(id, apiVersion string) (any, error)
	of        *Resource // the resource of the expression; nil: outputs
	referred  []*Resource
	variables []string // that are being evaluated
}

// evaluateValue evaluates everything in v that is an expression.
func (s *scope) evaluateValue(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return s.evaluateText(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = s.evaluateValue(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if strings.EqualFold(k, "copy") {
				return nil, newRefusal("The element 'copy' of properties, variables and outputs is not served by the simulator.")
			}
			key, err := s.evaluateText(k)
			if err != nil {
				return nil, err
			}
			name, is := key.(string)
			if !is {
				return nil, newRefusal("The name '%s' of a property is no string.", k)
			}
			if out[name], err = s.evaluateValue(v[k]); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

func (s *scope) evaluateText(v string) (any, error) {
	if strings.HasPrefix(v, "[[") {
		return v[1:], nil
	}
	if !isExpression(v) {
		return v, nil
	}
	e, err := parseExpression(v)
	if err != nil {
		return nil, err
	}
	return s.evaluateExpression(e)
}

func (s *scope) evaluateExpression(e *expression) (any, error) {
	switch {
	case e.call != "":
		return s.callFunction(e)
	case e.of == nil:
		return e.literal, nil
	}
	of, err := s.evaluateExpression(e.of)
	if err != nil {
		return nil, err
	}
	step := any(e.name)
	if e.index != nil {
		if step, err = s.evaluateExpression(e.index); err != nil {
			return nil, err
		}
	}
	if _, is := of.(unknown); is {
		return of, nil
	}
	return stepInto(of, step)
}

// stepInto returns the property or element of a value. Names of properties are compared without case.
func stepInto(of, step any) (any, error) {
	switch of := of.(type) {
	case map[string]any:
		name, is := step.(string)
		if !is {
			break
		}
		if v, has := of[name]; has {
			return v, nil
		}
		for _, k := range slices.Sorted(maps.Keys(of)) {
			if strings.EqualFold(k, name) {
				return of[k], nil
			}
		}
		return nil, newRefusal("The language expression property '%s' doesn't exist, available properties are '%s'. Please see https://aka.ms/arm-template-expressions for usage details.", name, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	case []any:
		n, is := step.(float64)
		if !is || n != math.Trunc(n) {
			break
		}
		if n < 0 || int(n) >= len(of) {
			return nil, newRefusal("The language expression property array index '%d' is out of bounds. Please see https://aka.ms/arm-template-expressions for usage details.", int(n))
		}
		return of[int(n)], nil
	}
	return nil, newRefusal("The language expression property '%v' can't be evaluated. Please see https://aka.ms/arm-template-expressions for usage details.", step)
}

func (s *scope) callFunction(e *expression) (any, error) {
	f, known := functions[strings.ToLower(e.call)]
	if !known {
		return nil, newRefusal("The template function '%s' is not valid. Please see https://aka.ms/arm-template-expressions for usage details.",
			e.call)
	}
	if s.noRefs && f.asks {
		return nil, newRefusal("The template function '%s' is not expected at this location. Please see https://aka.ms/arm-template-expressions for usage details.", e.call)
	}
	if n := len(e.args); n < f.least || f.most >= 0 && n > f.most {
		return nil, newRefusal("Unable to evaluate template language function '%s': function requires %d argument(s) while %d were provided. Please see https://aka.ms/arm-function-%s for usage details.", e.call, f.least, n, strings.ToLower(e.call))
	}
	args := make([]any, len(e.args))
	open := false
	for i, arg := range e.args {
		var err error
		if args[i], err = s.evaluateExpression(arg); err != nil {
			return nil, err
		}
		_, is := args[i].(unknown)
		open = open || is
	}
	if open {
		return unknown{}, nil
	}
	return f.call(s, args)
}
