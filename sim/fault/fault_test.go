package fault_test

import (
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
		"once":      {"a rule acts once unless told otherwise", fault.Rule{}, []bool{true, false, false}},
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
	if err := s.Load([]byte(`[{"kind":"stuck","nth":2},{"kind":"reset"}]`)); err != nil {
		t.Fatal(err)
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

func TestBadRulesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"kind": `[{"kind":"explode"}]`, "status": `[{"kind":"status","status":200}]`, "code": `[{"kind":"fail"}]`, "patch": `[{"kind":"edit"}]`,
		"slow body": `[{"kind":"slowBody"}]`, "now": `[{"kind":"remove","now":true,"id":"*"}]`, "json": `{}`,
	} {
		var s fault.Script
		if err := s.Load([]byte(text)); err == nil {
			t.Errorf("%s: %s was taken", name, text)
		}
	}
}
