package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestInternalFrontends(t *testing.T) {
	const path = balancerPath + "-internal"
	const there = `{"properties":{"frontendIPConfigurations":[{"name":"a","properties":{"privateIPAddress":"10.0.0.100"}},{"name":"b","properties":{"privateIPAddress":"fd00:0::7"}}]}}`
	for name, test := range map[string]struct {
		reason string
		change func(*infrav1.AzureCluster)
		off    bool
		answer string
		want   map[string]string
		asked  int
	}{
		"there":    {reason: "by address, in one spelling", answer: there, want: map[string]string{"10.0.0.100": "a", "fd00::7": "b"}, asked: 1},
		"not yet":  {reason: "the absence of a load balancer is not cached", asked: 1},
		"gate off": {reason: "the frontends are not needed", off: true, answer: there},
		"internal": {reason: "there is none beside it",
			change: func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.APIServerLB.Type = infrav1.Internal }, answer: there},
		"external": {reason: "the cluster has no load balancer", change: func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.APIServerLB = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFakeAzure(regionBodies)
			if test.answer != "" {
				a.setBody(path, test.answer)
			}
			in := clusterInput(test.change)
			in.Features.APIServerILB = !test.off
			got, err := waitForClusterFacts(New(Options{}), newCaller(t, a, "p"), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.InternalFrontends); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			// Until the catalog has arrived, facts are queried twice.
			if got := a.countRequests(path); got > 2*test.asked {
				t.Errorf("%s: the load balancer was asked for %d times", test.reason, got)
			}
		})
	}
}
