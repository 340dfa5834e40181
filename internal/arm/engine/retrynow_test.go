package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestRetryNowRetriesFailures retries failures at once when a user requests it, and only then.
func TestRetryNowRetriesFailures(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		method string
		want   string
	}{
		"write":  {"after a correction in Azure the user need not wait", "PUT", "PUT rg networkSecurityGroups/nsg"},
		"delete": {"after the removal of the obstacle the user need not wait", "DELETE", "DELETE rg networkSecurityGroups/nsg"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			request := w.newRequest(groupNode(), nsgNode())
			convergeAgain := func() { w.convergeUntilDone(request, 0) }
			if test.method == "DELETE" {
				w.convergeUntilDone(request, time.Minute)
				request = w.newRequest(groupNode())
				request.Prune = append(request.Prune, nsg)
			}
			w.addFault(fault.Rule{Method: test.method, ID: "*/networksecuritygroups/nsg", Kind: fault.Status, Status: 403,
				Code: "AuthorizationFailed", Message: "no"})
			w.convergeUntilDone(request, 0)
			w.convergeUntilDone(request, 0)
			w.listWrites()
			convergeAgain()
			if writes := w.listWrites(); len(writes) > 0 {
				t.Errorf("without a request it is not due: %q", writes)
			}
			request.RetryNow = true
			convergeAgain()
			if diff := cmp.Diff([]string{test.want}, w.listWrites()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
