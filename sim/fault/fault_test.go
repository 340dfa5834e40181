package fault_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

func TestRulesAreCountedAndUsedUp(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/cp-0"
	cases := map[string]struct {
		reason string
		rule   fault.Rule
		want   []bool
	}{
		"once":      {"a rule acts once unless Count is set", fault.Rule{}, []bool{true, false, false}},
		"always":    {"-1 never ends", fault.Rule{Count: -1}, []bool{true, true, true}},
		"second":    {"nth counts from one", fault.Rule{Nth: 2}, []bool{false, true, false}},
		"from two":  {"nth and count together", fault.Rule{Nth: 2, Count: 2}, []bool{false, true, true}},
		"glob":      {"the star crosses slashes and case does not matter", fault.Rule{ID: "*/VirtualMachines/CP-*"}, []bool{true, false, false}},
		"elsewhere": {"another name", fault.Rule{ID: "*/virtualmachines/worker-*", Count: -1}, []bool{false, false, false}},
		"verb":      {"another method", fault.Rule{Method: "DELETE", Count: -1}, []bool{false, false, false}},
		"type":      {"another type", fault.Rule{Type: "Microsoft.Compute/disks", Count: -1}, []bool{false, false, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var s fault.Script
			tc.rule.Kind = fault.Reset
			if err := s.Add(tc.rule); err != nil {
				t.Fatal(err)
			}
			var got []bool
			for range 3 {
				_, hit := s.TakeMatching("PUT", "microsoft.compute/virtualmachines", id, func(fault.Kind) bool { return true })
				got = append(got, hit)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s: %s", tc.reason, d)
			}
		})
	}
}

func TestOtherKindsDoNotCount(t *testing.T) {
	var s fault.Script
	for _, rule := range []fault.Rule{{Kind: fault.Stuck, Nth: 2}, {Kind: fault.Reset}} {
		if err := s.Add(rule); err != nil {
			t.Fatal(err)
		}
	}
	if r, hit := s.TakeMatching("PUT", "t", "/i", func(k fault.Kind) bool { return !k.OfOperation() }); !hit || r.Kind != fault.Reset {
		t.Errorf("%v %v", r, hit)
	}
	if _, hit := s.TakeMatching("PUT", "t", "/i", fault.Kind.OfOperation); hit {
		t.Error("the request before must not have been counted for the operation's rule")
	}
	if _, hit := s.TakeMatching("PUT", "t", "/i", fault.Kind.OfOperation); !hit {
		t.Error("the second operation is the one")
	}
}

func TestParseRefusesBadRules(t *testing.T) {
	for name, test := range map[string]struct{ reason, text, want string }{
		"kind":       {"no such fault", `[{"kind":"explode"}]`, `rule 1: kind "explode" is unknown`},
		"status":     {"200 is no fault", `[{"kind":"status","status":200}]`, "status is 200, and has to be between 400 and 599"},
		"code":       {"an operation fails with a code", `[{"kind":"fail"}]`, "no effect without code"},
		"patch":      {"nothing to edit", `[{"kind":"edit"}]`, "no effect without patch"},
		"slow body":  {"how slow?", `[{"kind":"slowBody"}]`, "no effect without seconds"},
		"now":        {"one resource is disturbed at once", `[{"kind":"remove","now":true,"id":"*"}]`, "needs an exact id"},
		"empty":      {"a rule has a kind", `{}`, `kind "" is unknown`},
		"field":      {"a misspelt condition would have the rule hit every request", `[{"kind":"reset"},{"kind":"reset","metod":"PUT"}]`, `rule 2: unknown field "metod"`},
		"lines":      {"only the first would count", "{\"kind\":\"lost\"}\n{\"kind\":\"reset\"}", "send one value, several of them as an array"},
		"lists":      {"only the first would count", `[{"kind":"lost"}] [{"kind":"reset"}]`, "send one value"},
		"type":       {"Go's types say nothing to users", `{"kind":"lost","nth":"1"}`, "rule 1: nth has to be a whole number, not string"},
		"fraction":   {"requests are counted", `{"kind":"lost","nth":1.5}`, "rule 1: nth has to be a whole number, not number 1.5"},
		"nothing":    {"an empty file", "", "rule 1: it is empty"},
		"part":       {"half a file", `[{"kind":"lost"}`, "its end is missing"},
		"method":     {"no request has this method", `{"kind":"reset","method":"PUTT"}`, `method "PUTT" is unknown`},
		"not a rule": {"neither a rule nor an array", `"reset"`, "rule 1: the value has to be an object, not string"},
	} {
		if _, err := fault.Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s (%s): got %v, want %q", name, test.reason, err, test.want)
		}
	}
	rules, err := fault.Parse([]byte(`{"kind":"reset","method":"put"}`))
	if d := cmp.Diff([]fault.Rule{{Kind: fault.Reset, Method: "put"}}, rules); d != "" || err != nil {
		t.Errorf("one rule: %v %s", err, d)
	}
}

func TestRemove(t *testing.T) {
	var s fault.Script
	for range 3 {
		if err := s.Add(fault.Rule{Kind: fault.Reset}); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Remove(2) || s.Remove(2) || s.Remove(9) {
		t.Error("rule 2 can be removed once, rule 9 never")
	}
	var restored fault.Script
	if err := restored.Restore(s.ListUses()); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]*fault.Script{"script": &s, "restored": &restored} {
		if err := script.Add(fault.Rule{Kind: fault.Reset}); err != nil {
			t.Fatal(err)
		}
		var numbers []int
		for _, use := range script.ListUses() {
			numbers = append(numbers, use.Number)
		}
		if d := cmp.Diff([]int{1, 3, 4}, numbers); d != "" {
			t.Errorf("%s: numbers are given once: %s", name, d)
		}
	}
}
