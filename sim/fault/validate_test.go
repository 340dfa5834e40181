package fault

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// exampleOf returns the smallest rule of a kind.
func exampleOf(kind Kind) Rule {
	rule := Rule{Kind: kind}
	if needs := effects[kind].needs; len(needs) > 0 {
		fieldsOfEffect[needs[0]](&rule)
	}
	return rule
}

// fieldsOfEffect set each field that says what happens.
var fieldsOfEffect = map[string]func(*Rule){
	"status":     func(r *Rule) { r.Status = 503 },
	"code":       func(r *Rule) { r.Code = "ServerBusy" },
	"message":    func(r *Rule) { r.Message = "Busy." },
	"target":     func(r *Rule) { r.Target = "/x" },
	"retryAfter": func(r *Rule) { r.RetryAfter = 5 },
	"factor":     func(r *Rule) { r.Factor = 2 },
	"seconds":    func(r *Rule) { r.Seconds = 2 },
	"patch":      func(r *Rule) { r.Patch = map[string]any{"tags": nil} },
}

// TestFieldsOfKinds checks each kind with each field and method: all that it does not read are refused.
func TestFieldsOfKinds(t *testing.T) {
	if len(effects) != len(Kinds) {
		t.Errorf("%d kinds have effects, and there are %d kinds", len(effects), len(Kinds))
	}
	for _, kind := range Kinds {
		effect, known := effects[kind]
		if !known {
			t.Errorf("%s has no effect", kind)
			continue
		}
		example := exampleOf(kind)
		if err := example.Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if len(effect.needs) > 0 {
			if err := (Rule{Kind: kind}).Validate(); err == nil || !strings.Contains(err.Error(), "no effect without "+effect.needs[0]) {
				t.Errorf("%s without %v: %v", kind, effect.needs, err)
			}
		}
		for field, set := range fieldsOfEffect {
			rule := Rule{Kind: kind}
			if slices.Contains(effect.fields, field) && !slices.Contains(effect.needs, field) {
				rule = example
			}
			set(&rule)
			err := rule.Validate()
			if reads := slices.Contains(effect.fields, field); reads && err != nil && len(effect.needs) < 2 {
				t.Errorf("%s with %s: %v", kind, field, err)
			} else if !reads && (err == nil || !strings.Contains(err.Error(), "does not read "+field)) {
				t.Errorf("%s with %s: %v, want an error: the field has no effect", kind, field, err)
			}
		}
		for _, method := range methods {
			rule := example
			rule.Method = strings.ToLower(method)
			if err := rule.Validate(); (err == nil) != (effect.methods == nil || slices.Contains(effect.methods, method)) {
				t.Errorf("%s with %s: %v", kind, method, err)
			}
		}
		now := example
		now.Now, now.ID = true, "/subscriptions/s"
		if err := now.Validate(); (err == nil) != effect.now {
			t.Errorf("%s with now: %v", kind, err)
		}
	}
}

// TestBounds checks values that would make a rule act otherwise than it reads, or never.
func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		rule   Rule
		want   string
	}{
		"nth":            {"requests are counted from 1", Rule{Kind: Reset, Nth: -1}, "nth is -1"},
		"always":         {"-1 has a meaning", Rule{Kind: Reset, Count: -1}, ""},
		"count":          {"-2 has none", Rule{Kind: Reset, Count: -2}, "count is -2"},
		"retry after":    {"the header has whole seconds", Rule{Kind: Throttle, RetryAfter: -5}, "retryAfter is -5"},
		"late status":    {"no answer has such a status, and net/http ends the connection", Rule{Kind: LateError, Status: 7}, "status is 7"},
		"late success":   {"it is an error", Rule{Kind: LateError, Status: 200}, "status is 200"},
		"factor":         {"operations do not become faster", Rule{Kind: Slow, Factor: 0.5}, "factor is 0.5"},
		"seconds":        {"time goes forward", Rule{Kind: Unseen, Seconds: -1}, "seconds is -1"},
		"no number":      {"a form takes it for a number", Rule{Kind: Unseen, Seconds: math.NaN()}, "seconds is NaN"},
		"endless":        {"a duration has a largest value", Rule{Kind: Unseen, Seconds: math.Inf(1)}, "seconds is +Inf"},
		"both":           {"seconds would win", Rule{Kind: Slow, Factor: 2, Seconds: 2}, "not both"},
		"pattern":        {"it matches nothing", Rule{Kind: Reset, ID: "["}, `id "[" is no pattern`},
		"CONNECT":        {"no rule acts on connections through the proxy", Rule{Kind: Reset, Method: "CONNECT"}, `method "CONNECT" is unknown`},
		"now with count": {"it acts once", Rule{Kind: Remove, Now: true, ID: "/x", Count: 2}, "so count has no effect"},
		"now with a ?":   {"one resource is changed", Rule{Kind: Remove, Now: true, ID: "/x?"}, "needs an exact id"},
	} {
		err := tc.rule.Validate()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s (%s): %v, want %q", name, tc.reason, err, tc.want)
		}
	}
}
