package fault

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// effect lists the fields that a rule of one kind can set to describe its effect, and the requests that the kind can act on.
type effect struct {
	// fields are the fields that the kind reads, without the selectors. Validate refuses all others.
	fields []string
	// needs are fields of which a rule has to set at least one.
	needs []string
	// methods are the methods of the requests that the kind can act on. An empty list allows all.
	methods []string
	// now is true if a rule of the kind can act without a request.
	now bool
}

// selectors are the fields that select requests, and now.
var selectors = []string{"method", "type", "id", "nth", "count", "now"}

// methods are the methods of the requests that rules can select.
var methods = []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"}

// writeMethods begin long-running operations.
var writeMethods = []string{"DELETE", "PATCH", "POST", "PUT"}

var effects = map[Kind]effect{
	Status:    {fields: []string{"status", "code", "message", "retryAfter"}, needs: []string{"status"}},
	Throttle:  {fields: []string{"retryAfter"}},
	Lost:      {},
	LateError: {fields: []string{"status"}},
	Reset:     {},
	Stuck:     {methods: writeMethods},
	Slow:      {fields: []string{"factor", "seconds"}, needs: []string{"factor", "seconds"}, methods: writeMethods},
	Fail:      {fields: []string{"code", "message", "target"}, needs: []string{"code"}, methods: writeMethods},
	Cancel:    {fields: []string{"code", "message", "target"}, methods: writeMethods},
	Allocate:  {fields: []string{"code"}, methods: writeMethods},
	Quota:     {methods: []string{"PATCH", "PUT"}},
	Capacity:  {methods: []string{"PATCH", "PUT"}},
	EtagRace:  {now: true},
	Edit:      {fields: []string{"patch"}, needs: []string{"patch"}, now: true},
	Modify:    {fields: []string{"patch"}, needs: []string{"patch"}, methods: []string{"PATCH", "PUT"}},
	Remove:    {now: true},
	Omit:      {fields: []string{"target"}, needs: []string{"target"}},
	Evict:     {now: true},
	SlowBody:  {fields: []string{"seconds"}, needs: []string{"seconds"}},
	Truncate:  {},
	Stale:     {fields: []string{"seconds"}, methods: []string{"GET"}},
	Unseen:    {fields: []string{"seconds"}, methods: []string{"PUT"}},
	Token:     {fields: []string{"code", "message"}},
}

// maxNumber bounds seconds and factors. Durations overflow beyond.
const maxNumber = 1e9

// bounds has the smallest and the largest value of each number, for rules that have the field.
var bounds = []struct {
	field    string
	of       func(Rule) float64
	min, max float64
}{
	{"nth", func(r Rule) float64 { return float64(r.Nth) }, 1, maxNumber},
	{"count", func(r Rule) float64 { return float64(r.Count) }, -1, maxNumber},
	{"status", func(r Rule) float64 { return float64(r.Status) }, 400, 599},
	{"retryAfter", func(r Rule) float64 { return float64(r.RetryAfter) }, 1, maxNumber},
	{"factor", func(r Rule) float64 { return r.Factor }, 1, maxNumber},
	{"seconds", func(r Rule) float64 { return r.Seconds }, 0, maxNumber},
}

// listFields returns the fields that the rule has, in the order of the type.
func (r Rule) listFields() []string {
	var out []string
	for _, field := range []struct {
		name string
		has  bool
	}{
		{"method", r.Method != ""}, {"type", r.Type != ""}, {"id", r.ID != ""}, {"nth", r.Nth != 0}, {"count", r.Count != 0}, {"now", r.Now},
		{"status", r.Status != 0}, {"code", r.Code != ""}, {"message", r.Message != ""}, {"target", r.Target != ""},
		{"retryAfter", r.RetryAfter != 0}, {"factor", r.Factor != 0}, {"seconds", r.Seconds != 0}, {"patch", r.Patch != nil},
	} {
		if field.has {
			out = append(out, field.name)
		}
	}
	return out
}

// Validate returns an error for a rule that would never act, or of which a part would have no effect.
func (r Rule) Validate() error {
	effect, known := effects[r.Kind]
	if !known {
		return fmt.Errorf("kind %q is unknown, use one of %v", r.Kind, Kinds)
	}
	fields := r.listFields()
	if err := r.checkRequest(effect, fields); err != nil {
		return err
	}
	for _, field := range fields {
		if !slices.Contains(selectors, field) && !slices.Contains(effect.fields, field) {
			return fmt.Errorf("kind %s does not read %s: remove it", r.Kind, field)
		}
	}
	if len(effect.needs) > 0 && !slices.ContainsFunc(effect.needs, func(field string) bool { return slices.Contains(fields, field) }) {
		return fmt.Errorf("kind %s has no effect without %s", r.Kind, strings.Join(effect.needs, " or "))
	}
	for _, bound := range bounds {
		// The condition is negated as a whole so that it also refuses NaN.
		if value := bound.of(r); slices.Contains(fields, bound.field) && !(bound.min <= value && value <= bound.max) {
			return fmt.Errorf("%s is %v, and has to be between %v and %.0f", bound.field, value, bound.min, bound.max)
		}
	}
	if r.Factor != 0 && r.Seconds != 0 {
		return fmt.Errorf("kind %s reads factor or seconds, not both: remove one", r.Kind)
	}
	return nil
}

// checkRequest checks the selectors.
func (r Rule) checkRequest(effect effect, fields []string) error {
	method := strings.ToUpper(r.Method)
	switch {
	case method != "" && !slices.Contains(methods, method):
		return fmt.Errorf("method %q is unknown, use one of %v", r.Method, methods)
	case method != "" && effect.methods != nil && !slices.Contains(effect.methods, method):
		return fmt.Errorf("kind %s acts on no %s: use one of %v", r.Kind, method, effect.methods)
	}
	if _, err := path.Match(r.ID, ""); err != nil {
		return fmt.Errorf("id %q is no pattern: a [ needs its ], and a \\ another character", r.ID)
	}
	if !r.Now {
		return nil
	}
	if !effect.now {
		return fmt.Errorf("kind %s cannot act at once: remove now", r.Kind)
	}
	if r.ID == "" || strings.ContainsAny(r.ID, "*?[") {
		return fmt.Errorf("now needs an exact id")
	}
	for _, field := range []string{"method", "type", "nth", "count"} {
		if slices.Contains(fields, field) {
			return fmt.Errorf("a rule with now waits for no request, so %s has no effect: remove it", field)
		}
	}
	return nil
}
