package engine_test

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestLookBeforeMakingThatFails has the list of a type answered, which says that a resource is missing, and the look at that resource
// refused, which comes before it is made because a list may lag behind. The look is put off like any other request that fails.
func TestLookBeforeMakingThatFails(t *testing.T) {
	tests := map[string]struct {
		reason string
		rule   fault.Rule
		// least and most are how often Azure is asked in two minutes.
		least, most int
	}{
		"unavailable": {"Azure may be back soon", fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable"}, 10, 10},
		"forbidden":   {"a role may allow lists alone", fault.Rule{Kind: fault.Status, Status: 403, Code: "AuthorizationFailed"}, 4, 4},
		// Go's HTTP client asks again by itself on each idle connection that breaks.
		"reset": {"the connection broke", fault.Rule{Kind: fault.Reset}, 10, 45},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := made(t, groupNode())
			other := pipNode()
			other.ID = arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "other")
			// What is made with the group is known to be missing without a look.
			w.restart()
			// It comes to an end, because one that is asked without a pause is asked for as long as it fails.
			const failing = 300
			test.rule.Method, test.rule.ID, test.rule.Count = "GET", "*/publicipaddresses/pip", failing
			w.fault(test.rule)
			w.requests()
			request := w.request(groupNode(), pipNode(), other)
			outcome := w.until(request, 2*time.Minute, func(arm.Outcome) bool { return false })
			_, reads := w.requests()
			reads = slices.DeleteFunc(reads, func(read string) bool { return read != "GET rg publicIPAddresses/pip" })
			if len(reads) < test.least || len(reads) > test.most {
				t.Errorf("%s: asked %d times in two minutes, want %d to %d", test.reason, len(reads), test.least, test.most)
			}
			if got := result(t, outcome, pip); got.IsDone() || got.Err == nil {
				t.Errorf("%s: the outcome is %+v, want why it is not made", test.reason, got)
			}
			w.sim.ClearFaults()
			if outcome := w.converge(request, 20*time.Minute); !outcome.IsDone() {
				t.Errorf("not made once the look is answered: %+v", outcome.RootCauses())
			}
		})
	}
}
