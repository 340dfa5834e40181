package server_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// TestLimits sends requests until one is refused, another one after the suggested time, and meanwhile one that has a
// separate limit.
func TestLimits(t *testing.T) {
	const vms, scaleSet, remaining = comp + "/virtualMachines/", comp + "/virtualMachineScaleSets/set", "x-ms-ratelimit-remaining-resource"
	ample := server.Throttle{Reads: 1e6, Writes: 1e6, Deletes: 1e6, ReadsPerSec: 1, WritesPerSec: 1, DeletesPerSec: 1}
	limited := func(change func(*server.Throttle)) server.Throttle {
		out := ample
		change(&out)
		return out
	}
	tests := map[string]struct {
		reason string
		limits server.Throttle
		// method and path are asked with a different name in place of each *.
		method, path string
		// taken is the number of requests allowed, code the error code of the next one, wait the time until another
		// one is allowed.
		taken   int
		code    string
		message string
		wait    time.Duration
		// header and left are the name and value of the header in the last answer before the refused one.
		header, left string
		// other is a method and path that are not limited with it.
		other [2]string
	}{
		"principal": {
			reason: "each kind of request has a bucket", limits: limited(func(t *server.Throttle) { t.Writes, t.WritesPerSec = 3, 0.1 }),
			method: "PUT", path: net + "/routeTables/*", taken: 3, code: "SubscriptionRequestsThrottled",
			message: "Number of 'write' requests for subscription '" + sub + "' actor", wait: 10 * time.Second,
			header: "x-ms-ratelimit-remaining-subscription-writes", left: "0", other: [2]string{"DELETE", net + "/routeTables/x"},
		},
		"subscription": {
			reason: "all principals together have one",
			limits: limited(func(t *server.Throttle) { t.Deletes, t.DeletesPerSec, t.Whole = 4, 1, 0.5 }),
			method: "DELETE", path: net + "/routeTables/*", taken: 2, code: "SubscriptionRequestsThrottled",
			message: "Number of 'delete' requests for subscription '" + sub + "' exceeded", wait: 2 * time.Second,
			header: "x-ms-ratelimit-remaining-subscription-global-deletes", left: "0", other: [2]string{"GET", net + "/routeTables/x"},
		},
		"writes of the network": {
			reason: "writes and deletions count together, and come back after 5 minutes",
			limits: limited(func(t *server.Throttle) { t.Providers = 0.003 }),
			method: "DELETE", path: net + "/routeTables/*", taken: 3, code: "TooManyRequests", message: "too many requests", wait: 5 * time.Minute,
			other: [2]string{"GET", net + "/routeTables/x"},
		},
		"a VM": {
			reason: "one VM takes few requests at once", limits: limited(func(t *server.Throttle) { t.Providers = 1 }),
			method: "GET", path: vms + "one", taken: 36, code: "OperationNotAllowed/TooManyRequests", message: "too many requests",
			wait:   5 * time.Second,
			header: remaining, left: "Microsoft.Compute/GetVMSubscriptionMaximum;23964,Microsoft.Compute/GetVMResource;0",
			other: [2]string{"GET", vms + "other"},
		},
		"VMs of a subscription": {
			reason: "all VMs of a region have a bucket together", limits: limited(func(t *server.Throttle) { t.Providers = 0.002 }),
			method: "DELETE", path: vms + "*", taken: 3, code: "OperationNotAllowed/TooManyRequests", wait: time.Minute,
			header: remaining, left: "Microsoft.Compute/DeleteVMSubscriptionMaximum;0,Microsoft.Compute/DeleteVMResource;11",
			other: [2]string{"GET", vms + "one"},
		},
		"lists": {
			reason: "they have no resource", limits: limited(func(t *server.Throttle) { t.Providers = 0.01 }),
			method: "GET", path: strings.TrimSuffix(vms, "/"), taken: 9, code: "OperationNotAllowed/TooManyRequests", wait: 20 * time.Second,
			header: remaining, left: "Microsoft.Compute/ListVMSubscriptionMaximum;0", other: [2]string{"GET", scaleSet},
		},
		"changes of a scale set": {
			reason: "an action is a change", limits: limited(func(t *server.Throttle) { t.Providers = 1 }),
			method: "POST", path: scaleSet + "/deallocate", taken: 12, code: "OperationNotAllowed/TooManyRequests", wait: 15 * time.Second,
			header: remaining, left: "Microsoft.Compute/UpdateVMScaleSetSubscriptionMaximum;1488,Microsoft.Compute/UpdateVMScaleSetResource;0",
			other: [2]string{"PUT", scaleSet},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t, func(o *server.Options) { o.Throttle = &test.limits })
			asked := 0
			ask := func() response {
				asked++
				return a.sendRequest(test.method, strings.ReplaceAll(test.path, "*", strconv.Itoa(asked)), nil)
			}
			for i := range test.taken {
				r := ask()
				if r.status == 429 {
					t.Fatalf("%s: request %d of %d is refused: %v", test.reason, i+1, test.taken, r.body)
				}
				if i == test.taken-1 && test.header != "" {
					if diff := cmp.Diff(test.left, r.header.Get(test.header)); diff != "" {
						t.Errorf("%s: %s (-want +got):\n%s", test.reason, test.header, diff)
					}
				}
			}
			r := ask()
			if r.status != 429 || r.errorCode() != test.code || !strings.Contains(r.errorMessage(), test.message) ||
				r.header.Get("Retry-After") != strconv.Itoa(int(test.wait.Seconds())) {
				t.Errorf("%s: %d %v, Retry-After %s", test.reason, r.status, r.body, r.header.Get("Retry-After"))
			}
			if r := a.sendRequest(test.other[0], test.other[1], nil); r.status == 429 {
				t.Errorf("%s: %v is refused with it", test.reason, test.other)
			}
			a.sim.Advance(test.wait - 100*time.Millisecond)
			if r := ask(); r.status != 429 {
				t.Errorf("%s: %d before Azure wants to be asked", test.reason, r.status)
			}
			a.sim.Advance(100 * time.Millisecond)
			if r := ask(); r.status == 429 {
				t.Errorf("%s: refused when Azure wants to be asked", test.reason)
			}
		})
	}
}

// TestLimitsOfRegions checks that each region of a subscription has its own count, wherever the request names the
// region.
func TestLimitsOfRegions(t *testing.T) {
	a := newAzure(t, func(o *server.Options) {
		o.Throttle = &server.Throttle{Reads: 1e6, Writes: 1e6, Deletes: 1e6, ReadsPerSec: 1, WritesPerSec: 1, DeletesPerSec: 1, Providers: 0.002}
	})
	a.createGroup()
	table := func(name, location string) int {
		return a.sendRequest("PUT", net+"/routeTables/"+name, obj{"location": location}).status
	}
	got := []int{table("a", "westus3"), table("b", "westus3"), table("c", "West US 3"), table("c", "eastus")}
	a.sim.Settle()
	// The existing table is in eastus. A missing resource counts for the region of its group.
	got = append(got, a.sendRequest("DELETE", net+"/routeTables/c", nil).status, a.sendRequest("DELETE", net+"/routeTables/none", nil).status)
	if diff := cmp.Diff([]int{201, 201, 429, 201, 202, 429}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
