package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

const group = "/subscriptions/s/resourceGroups/g"

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestTypeOf(t *testing.T) {
	for path, want := range map[string]string{
		"/subscriptions":                    "Microsoft.Resources/subscriptions list",
		group:                               "Microsoft.Resources/resourceGroups",
		"/subscriptions/s/resourcegroups/g": "Microsoft.Resources/resourceGroups",
		"/subscriptions/s/resourceGroups":   "Microsoft.Resources/resourceGroups list",
		"/subscriptions/s/locations":        "Microsoft.Resources/locations list",
		group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/a":                                  "Microsoft.Network/virtualNetworks/subnets",
		group + "/providers/Microsoft.Network/virtualNetworks/v/subnets":                                    "Microsoft.Network/virtualNetworks/subnets list",
		"/subscriptions/s/providers/Microsoft.Compute/skus":                                                 "Microsoft.Compute/skus list",
		"/subscriptions/s/providers/Microsoft.Network/locations/l/operations/1":                             "operations",
		group + "/providers/Microsoft.ContainerService/managedClusters/c/listClusterAdminCredential":        "Microsoft.ContainerService/managedClusters/listClusterAdminCredential",
		group + "/providers/Microsoft.Compute/virtualMachines/v/providers/Microsoft.Resources/tags/default": "Microsoft.Resources/tags",
	} {
		if got := typeOf(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

func TestCountRequests(t *testing.T) {
	const network = group + "/providers/Microsoft.Network/virtualNetworks/v"
	log := []schedule.Request{
		{Time: noon.Add(-time.Second), Method: "GET", URL: network, Status: 200},
		{Time: noon, Method: "GET", URL: network + "?api-version=1", Status: 404},
		{Time: noon, Method: "PUT", URL: network, Status: 201},
		{Time: noon, Method: "PUT", URL: network, Status: 429},
		{Time: noon, Method: "PUT", URL: network, Status: 409},
		{Time: noon, Method: "DELETE", URL: network, Status: 202},
		{Time: noon, Method: "GET", URL: "/subscriptions/s/providers/Microsoft.Network/locations/l/operations/1", Status: 200},
		{Time: noon, Method: "POST", URL: group + "/providers/Microsoft.ContainerService/managedClusters/c/listClusterAdminCredential",
			Status: 200},
		{Time: noon, Method: "POST", URL: "/tenant/oauth2/v2.0/token", Status: 200},
		{Time: noon, Method: "PUT", URL: group, Status: 201, UserAgent: simulator.UserAgent},
		{Time: noon.Add(time.Minute), Method: "GET", URL: network, Status: 200},
	}
	want := Azure{
		Classes: Classes{Reads: 3, Writes: 3, Deletes: 1}, Polls: 1, Throttled: 1, Refused: 1,
		Types: map[string]Classes{
			"Microsoft.Network/virtualNetworks": {Reads: 1, Writes: 3, Deletes: 1}, "operations": {Reads: 1},
			"Microsoft.ContainerService/managedClusters/listClusterAdminCredential": {Reads: 1},
		},
	}
	if diff := cmp.Diff(want, countRequests(log, span{noon, noon.Add(time.Minute)})); diff != "" {
		t.Errorf("requests of a minute (-want +got):\n%s", diff)
	}
}

// TestFindQuiet simulates a restart with many requests at first. A provider that continues to send requests is not quiet, and one that has
// sent none has not begun.
func TestFindQuiet(t *testing.T) {
	at := func(seconds int) schedule.Request {
		return schedule.Request{Time: noon.Add(time.Duration(seconds) * time.Second), Method: "GET", URL: group, Status: 200}
	}
	var burst []schedule.Request
	for i := range 40 {
		burst = append(burst, at(i/10+1))
	}
	for name, tc := range map[string]struct {
		reason string
		log    []schedule.Request
		after  int
		over   bool
		end    int
	}{
		"nothing yet": {reason: "the provider is about to start", after: 60},
		"at it":       {reason: "it asked a moment ago", log: burst, after: 10},
		"over":        {reason: "nothing was asked for a while", log: burst, after: 20, over: true, end: 4},
		"a look in time": {reason: "objects are looked at again at moments of their own", log: append(burst[:40:40], at(30)), after: 35,
			over: true, end: 4},
		"goes on":          {reason: "it is not quiet", log: append(burst[:40:40], at(30), at(31), at(32)), after: 35, end: 4},
		"before the begin": {reason: "an earlier phase is none of it", log: []schedule.Request{at(-5)}, after: 60},
	} {
		t.Run(name, func(t *testing.T) {
			end, over := findQuiet(tc.log, noon, noon.Add(time.Duration(tc.after)*time.Second))
			if over != tc.over || over && !end.Equal(noon.Add(time.Duration(tc.end)*time.Second)) {
				t.Errorf("%s: over %v at %s, want %v at %d s", tc.reason, over, end.Sub(noon), tc.over, tc.end)
			}
		})
	}
}
