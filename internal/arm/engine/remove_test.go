package engine_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// deleteOnce calls Delete once.
func (w *world) deleteOnce(request engine.Request) arm.Outcome {
	w.t.Helper()
	w.takeWake()
	outcome, err := w.engine.Delete(w.t.Context(), request)
	if err != nil {
		w.t.Fatal(err)
	}
	return outcome
}

// deletions are the ways in which a resource is deleted.
var deletions = map[string]func(w *world, request engine.Request, ids ...arm.ID) arm.Outcome{
	"deletion": func(w *world, request engine.Request, _ ...arm.ID) arm.Outcome { return w.deleteOnce(request) },
	"no longer planned": func(w *world, request engine.Request, ids ...arm.ID) arm.Outcome {
		request.Graph, request.Prune = &arm.Graph{}, ids
		return w.convergeOnce(request)
	},
}

// TestDeleteConfirmsAbsence deletes a resource that Azure's list does not contain, although it exists.
func TestDeleteConfirmsAbsence(t *testing.T) {
	for how, again := range deletions {
		t.Run(how, func(t *testing.T) {
			other := pipNode()
			other.ID = arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "other")
			w, request := worldWith(t, groupNode(), pipNode(), other)
			if how == "deletion" {
				w.putResource(group, object{"location": "eastus"}) // It is kept, so its resources are deleted one by one.
			}
			w.advanceClock(time.Hour)
			w.addFault(fault.Rule{Method: "GET", Count: -1, Kind: fault.Omit, Target: "/pip"})
			for range 20 {
				outcome := again(w, request, pip, other.ID)
				w.advanceClock(max(outcome.RetryAfter, time.Minute))
			}
			if w.getResource(pip) != nil || w.getResource(other.ID) != nil {
				t.Errorf("the resource that is missing in lists still exists: %v", w.listWrites())
			}
		})
	}
}

// TestDeleteConfirmsAbsenceInParent deletes subnets in networks of users, of which Azure's list shows the state before the subnets were created.
func TestDeleteConfirmsAbsenceInParent(t *testing.T) {
	for _, how := range []string{"deletion", "no longer planned"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.putResource(group, object{"location": "eastus"})
			nodes, subnets := []arm.Node{nsgNode()}, []arm.ID(nil)
			for i, name := range []string{"net-a", "net-b"} {
				network, prefix := arm.NewID(sub, "rg", types.VirtualNetwork, name), fmt.Sprintf("10.%d.0.0/16", i)
				w.putResource(network, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{prefix}}}})
				subnet := subnetNode(network.Child("subnets", "s"), prefix)
				nodes = append(nodes, arm.Node{ID: network, Policy: arm.Observe, Group: "N"}, subnet)
				subnets = append(subnets, subnet.ID)
			}
			list := "/subscriptions/" + sub + "/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks"
			w.addFault(fault.Rule{Method: "GET", ID: strings.ToLower(list), Count: -1, Kind: fault.Stale, Seconds: 24 * 3600})
			if _, err := w.client.List(t.Context(), list, "2025-05-01", nil); err != nil {
				t.Fatal(err)
			}
			request := w.newRequest(nodes...)
			outcome := w.convergeUntilDone(request, time.Minute)
			if !outcome.IsDone() || w.getResource(subnets[0]) == nil {
				t.Fatalf("%+v", outcome.RootCauses())
			}
			request.Inventory = outcome.Inventory
			w.advanceClock(time.Hour)
			w.restartEngine()
			w.listRequests()
			remaining := w.newRequest(nodes[0], nodes[1], nodes[3])
			for range 10 {
				if how == "deletion" {
					outcome = w.deleteOnce(request)
				} else {
					remaining.Inventory, remaining.Prune, remaining.Read.Batch = request.Inventory, subnets, true
					outcome = w.convergeOnce(remaining)
				}
				request.Inventory = outcome.Inventory
				w.advanceClock(max(outcome.RetryAfter, time.Minute))
			}
			if writes := w.listWrites(); w.getResource(subnets[0]) != nil || w.getResource(subnets[1]) != nil {
				t.Errorf("subnets that the list does not show still exist: %v", writes)
			}
		})
	}
}

// TestDeleteWaitsForRunningOperation deletes a resource during its creation, which Azure would refuse.
func TestDeleteWaitsForRunningOperation(t *testing.T) {
	tests := map[string]struct {
		reason string
		node   arm.Node
		takes  float64
		// least and most bound the time of the deletion, counted from the creation.
		least, most time.Duration
	}{
		"ends": {"the deletion follows the creation", natNode(), 20, 20 * time.Second, 25 * time.Second},
		"does not end": {"an operation without an end must not block the deletion of a cluster", natNode(), 3600, time.Minute,
			time.Minute + 5*time.Second},
		"deleted while busy": {"Azure takes the deletion of a machine at any time", vmNode(), 3600, 0, 5 * time.Second},
	}
	for name, test := range tests {
		for how, again := range deletions {
			t.Run(name+", "+how, func(t *testing.T) {
				w, _ := worldWith(t, append(networkNodes(), pipNode(), nicNode())...)
				w.addFault(fault.Rule{Method: "PUT", ID: test.node.ID.Key(), Kind: fault.Slow, Seconds: test.takes})
				test.node.After = nil
				request := w.newRequest(test.node)
				start := w.clock.Now()
				if got := findResult(t, w.convergeOnce(request), test.node.ID); got.State != arm.Creating {
					t.Fatalf("%s %v", got.State, got.Err)
				}
				w.listWrites()
				for {
					outcome := again(w, request, test.node.ID)
					elapsed := w.clock.Now().Sub(start)
					if writes := w.listWrites(); len(writes) > 0 {
						if elapsed < test.least || elapsed > test.most || !strings.HasPrefix(writes[0], "DELETE ") {
							t.Errorf("%s: %v after %s", test.reason, writes, elapsed)
						}
						break
					}
					got := findResult(t, outcome, test.node.ID)
					if got.State != arm.Waiting || !strings.Contains(got.Message, "waits for a running operation") ||
						outcome.RetryAfter == 0 || outcome.RetryAfter > time.Minute {
						t.Fatalf("%+v, again in %s", got, outcome.RetryAfter)
					}
					if elapsed > 10*time.Minute {
						t.Fatalf("%s: no deletion was sent", test.reason)
					}
					w.advanceClock(outcome.RetryAfter)
				}
				if outcome := w.deleteUntilDone(request, 2*time.Hour); !outcome.IsDeleted() {
					t.Errorf("%v", listStates(outcome))
				}
			})
		}
	}
}

// TestDeleteWaitsForSerialKey deletes a subnet while another one of the same network is written, which Azure would refuse.
func TestDeleteWaitsForSerialKey(t *testing.T) {
	w, _ := worldWith(t, networkNodes()...)
	w.addFault(fault.Rule{Method: "PUT", ID: cp.Key(), Kind: fault.Slow, Seconds: 30})
	changed := subnetNode(cp, "10.0.0.0/17")
	changed.After = nil
	other := w.newRequest(changed)
	other.Object = "AzureCluster/default/other"
	start := w.clock.Now()
	if got := findResult(t, w.convergeOnce(other), cp); got.State != arm.Updating {
		t.Fatalf("%s %v", got.State, got.Err)
	}
	w.listWrites()

	leaving := arm.Node{ID: nodes, Policy: arm.Repair}
	request := w.newRequest(leaving)
	outcome := w.deleteOnce(request)
	if got := findResult(t, outcome, nodes); got.State != arm.Waiting || !strings.Contains(got.Message, "waits for subnets/cp") ||
		outcome.RetryAfter == 0 {
		t.Errorf("%+v, again in %s", got, outcome.RetryAfter)
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("wrote %v while another subnet was written", writes)
	}
	w.advanceClock(time.Hour)
	if elapsed := w.clock.Now().Sub(start); elapsed < 30*time.Second || elapsed > 40*time.Second {
		t.Errorf("woken after %s, the other write took 30 s", elapsed)
	}
	if outcome := w.deleteUntilDone(request, 5*time.Minute); !outcome.IsDeleted() {
		t.Errorf("%v", listStates(outcome))
	}
	if diff := cmp.Diff([]string{"DELETE rg virtualNetworks/vnet/subnets/nodes"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

// TestFailingDeleteBacksOff lets Azure refuse a deletion; it expects that it is sent at growing intervals, however often the object is
// reconciled, and that the reason is reported all the time.
func TestFailingDeleteBacksOff(t *testing.T) {
	tests := map[string]struct {
		reason      string
		rule        fault.Rule
		state       arm.State
		least, most int // deletions in an hour
	}{
		"refused": {"no other deletion of the object resolves it",
			fault.Rule{Kind: fault.Status, Status: http.StatusForbidden, Code: "ScopeLocked"}, arm.Failed, 5, 20},
		"in use": {"its dependants may be in deletion",
			fault.Rule{Kind: fault.Status, Status: http.StatusBadRequest, Code: "InUseNetworkSecurityGroupCannotBeDeleted"},
			arm.Waiting, 20, 150},
		"fails later": {"the operation ends as failed", fault.Rule{Kind: fault.Fail, Code: "InternalServerError"}, arm.Waiting, 10, 60},
		"broken": {"Azure fails", fault.Rule{Kind: fault.Status, Status: http.StatusInternalServerError,
			Code: "InternalServerError"}, arm.Waiting, 10, 60},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := worldWith(t, groupNode(), nsgNode())
			test.rule.Method, test.rule.ID, test.rule.Count = http.MethodDelete, nsg.Key(), 300
			w.addFault(test.rule)
			request := w.newRequest(nsgNode())
			var at []time.Duration
			start := w.clock.Now()
			for convergences := 0; w.clock.Now().Before(start.Add(time.Hour)); convergences++ {
				if convergences > 5000 {
					t.Fatalf("%d convergences in %s", convergences, w.clock.Now().Sub(start))
				}
				outcome := w.deleteOnce(request)
				got := findResult(t, outcome, nsg)
				if len(at) > 0 && got.State != arm.Deleting &&
					(got.State != test.state || codeOf(got.Err) != test.rule.Code || outcome.RetryAfter <= 0) {
					t.Fatalf("%+v, again in %s", got, outcome.RetryAfter)
				}
				for range w.listWrites() {
					at = append(at, w.clock.Now().Sub(start))
				}
				// Other events wake the object every few seconds.
				w.advanceClock(min(outcome.RetryAfter, 3*time.Second))
			}
			var gaps []time.Duration
			for i := 1; i < len(at); i++ {
				gaps = append(gaps, at[i]-at[i-1])
			}
			t.Logf("%d deletions, %s to %s apart", len(at), slices.Min(gaps), slices.Max(gaps))
			if len(at) < test.least || len(at) > test.most {
				t.Errorf("%s: %d deletions in an hour: %v", test.reason, len(at), gaps)
			}
			if gaps[len(gaps)-1] <= gaps[0] {
				t.Errorf("%s: the time between deletions does not grow: %v", test.reason, gaps)
			}
		})
	}
}
