package engine_test

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestFailedReadBeforeCreationBacksOff simulates a list that lacks a resource, and a refused read of that resource, which comes before its
// creation because a list may lag; it expects that the read is retried with back-off like any other request.
func TestFailedReadBeforeCreationBacksOff(t *testing.T) {
	tests := map[string]struct {
		reason string
		rule   fault.Rule
		// least and most bound the requests in two minutes.
		least, most int
	}{
		"unavailable": {"a failure of Azure may end soon",
			fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable"}, 10, 10},
		"forbidden": {"a role may allow only lists", fault.Rule{Kind: fault.Status, Status: 403, Code: "AuthorizationFailed"}, 4, 4},
		// Go's HTTP client repeats a request by itself on each idle connection that breaks.
		"reset": {"the connection broke", fault.Rule{Kind: fault.Reset}, 10, 45},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := worldWith(t, groupNode())
			other := pipNode()
			other.ID = arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "other")
			// Resources in a group that is created now are absent without a read.
			w.restartEngine()
			// The count is finite, because a loop without a pause would last as long as the failure.
			const failing = 300
			test.rule.Method, test.rule.ID, test.rule.Count = "GET", "*/publicipaddresses/pip", failing
			w.addFault(test.rule)
			w.listRequests()
			request := w.newRequest(groupNode(), pipNode(), other)
			outcome := w.convergeUntil(request, 2*time.Minute, func(arm.Outcome) bool { return false })
			_, reads := w.listRequests()
			reads = slices.DeleteFunc(reads, func(read string) bool { return read != "GET rg publicIPAddresses/pip" })
			if len(reads) < test.least || len(reads) > test.most {
				t.Errorf("%s: %d requests in two minutes, want %d to %d", test.reason, len(reads), test.least, test.most)
			}
			if got := findResult(t, outcome, pip); got.IsDone() || got.Err == nil {
				t.Errorf("%s: the outcome is %+v, want the reason of the delay", test.reason, got)
			}
			w.sim.ClearFaults()
			if outcome := w.convergeUntilDone(request, 20*time.Minute); !outcome.IsDone() {
				t.Errorf("not created once the read succeeds: %+v", outcome.RootCauses())
			}
		})
	}
}
