package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

var createWrites = []string{"PUT rg", "PUT rg networkSecurityGroups/nsg", "PUT rg virtualNetworks/vnet",
	"PUT rg virtualNetworks/vnet/subnets/cp", "PUT rg virtualNetworks/vnet/subnets/nodes"}

func TestFaultsWhileCreating(t *testing.T) {
	const nsgGlob = "*/networksecuritygroups/nsg"
	again := append([]string{"PUT rg", "PUT rg networkSecurityGroups/nsg"}, createWrites[1:]...)
	tests := map[string]struct {
		reason string
		fault  fault.Rule
		writes []string
		within time.Duration
	}{
		"busy": {
			reason: "another operation on the document is awaited",
			fault:  fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Status, Status: 409, Code: "AnotherOperationInProgress"},
			writes: again, within: 15 * time.Second,
		},
		"throttled": {
			reason: "Retry-After is honoured",
			fault:  fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Throttle, RetryAfter: 17},
			writes: again, within: 30 * time.Second,
		},
		"server error": {reason: "transient",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Status, Status: 503, Code: "ServiceUnavailable"}, writes: again,
			within: 15 * time.Second},
		"error when read": {reason: "transient",
			fault:  fault.Rule{Method: "GET", ID: nsgGlob, Kind: fault.Status, Status: 500, Code: "InternalServerError"},
			writes: createWrites, within: 15 * time.Second},
		"not accepted": {reason: "the connection broke before Azure saw the request",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Reset}, writes: again, within: 15 * time.Second},
		"lost response": {reason: "Azure accepted it: the resource is read, and not created twice",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Lost}, writes: createWrites, within: 15 * time.Second},
		"late error": {reason: "after a gateway timeout the result in Azure is unknown",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.LateError}, writes: createWrites, within: 15 * time.Second},
		"lost group": {reason: "the first write of all",
			fault: fault.Rule{Method: "PUT", Type: "Microsoft.Resources/resourceGroups", Kind: fault.Lost}, writes: createWrites,
			within: 15 * time.Second},
		"slow": {reason: "an operation takes as long as it takes",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Slow, Factor: 50}, writes: createWrites, within: 5 * time.Minute},
		"operation fails": {reason: "a failed network operation is sent once more",
			fault: fault.Rule{Method: "PUT", ID: nsgGlob, Kind: fault.Fail, Code: "InternalServerError"}, writes: again,
			within: 20 * time.Second},
		"poll fails": {reason: "polls are transient, too",
			fault:  fault.Rule{Method: "GET", ID: "*/operations/*", Kind: fault.Status, Status: 500, Code: "X", Count: -1},
			writes: createWrites, within: 15 * time.Second},
		"network not found": {reason: "the front door lags",
			fault:  fault.Rule{Method: "PUT", ID: "*/subnets/cp", Kind: fault.Status, Status: 404, Code: "ParentResourceNotFound"},
			writes: append([]string{"PUT rg virtualNetworks/vnet/subnets/cp"}, createWrites...), within: 20 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addFault(test.fault)
			if outcome := w.convergeUntilDone(w.newRequest(networkNodes()...), test.within); !outcome.IsDone() {
				t.Fatalf("%s: not done after %s: %+v", test.reason, w.clock.Now().Sub(epoch), outcome.RootCauses())
			}
			// The log has a request with a broken connection like any other.
			if diff := cmp.Diff(sortLines(append([]string{}, test.writes...)), sortLines(w.listWrites())); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

func TestEtagRace(t *testing.T) {
	w, _ := worldWith(t, groupNode(), nsgNode())
	changed := nsgNode()
	changed.Body.(object)["tags"].(object)["new"] = "1"
	w.addFault(fault.Rule{Method: "PUT", ID: "*/networksecuritygroups/nsg", Kind: fault.EtagRace})
	start := w.clock.Now()
	if outcome := w.convergeUntilDone(w.newRequest(groupNode(), changed), time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg networkSecurityGroups/nsg", "PUT rg networkSecurityGroups/nsg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	if took := w.clock.Now().Sub(start); took > 10*time.Second {
		t.Errorf("a lost race took %s", took)
	}
}

func TestFailureBlocksOnlyDependants(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "PUT", ID: "*/networksecuritygroups/nsg", Count: -1, Kind: fault.Status, Status: 400,
		Code: "InvalidParameter", Message: "The value is wrong."})
	request := w.newRequest(append(networkNodes(), pipNode(), natNode())...)
	outcome := w.convergeUntilDone(request, 30*time.Second)
	want := map[string]arm.State{"resourceGroups/rg": arm.Ready, "virtualNetworks/vnet": arm.Ready,
		"networkSecurityGroups/nsg": arm.Failed, "subnets/cp": arm.Blocked, "subnets/nodes": arm.Blocked,
		"publicIPAddresses/pip": arm.Ready, "natGateways/nat": arm.Ready}
	if diff := cmp.Diff(want, listStates(outcome)); diff != "" {
		t.Error(diff)
	}
	got := findResult(t, outcome, nsg)
	if codeOf(got.Err) != "InvalidParameter" || !strings.Contains(got.Err.Error(), "The value is wrong.") ||
		arm.RequestID(got.Err) == "" || strings.Contains(got.Err.Error(), arm.RequestID(got.Err)) {
		t.Errorf("%v", got.Err)
	}
	w.listWrites()
	w.convergeUntilDone(request, 5*time.Minute)
	if writes := w.listWrites(); len(writes) < 2 || len(writes) > 6 {
		t.Errorf("a refusal is retried slowly: %d times in 5 minutes", len(writes))
	}

	w.sim.ClearFaults()
	fixed := networkNodes()
	fixed[2].Body.(object)["tags"].(object)["fixed"] = "1"
	if outcome := w.convergeUntilDone(w.newRequest(fixed...), 10*time.Second); !outcome.IsDone() {
		t.Errorf("another desired state is sent at once: %+v", outcome.RootCauses())
	}
}

func TestFailedOperationKeepsItsError(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "PUT", ID: "*/natgateways/nat", Count: -1, Kind: fault.Fail, Code: "QuotaExceeded", Message: "No more."})
	request := w.newRequest(groupNode(), pipNode(), natNode())
	failed := func(outcome arm.Outcome) bool { return listStates(outcome)["natGateways/nat"] == arm.Failed }
	outcome := w.convergeUntil(request, 20*time.Second, failed)
	got := findResult(t, outcome, nat)
	if got.State != arm.Failed || codeOf(got.Err) != "QuotaExceeded" {
		t.Fatalf("%+v", got)
	}
	w.restartEngine()
	outcome = w.convergeUntil(request, 20*time.Second, failed)
	if got := findResult(t, outcome, nat); got.State != arm.Failed || codeOf(got.Err) != "QuotaExceeded" {
		t.Errorf("one more PUT after a restart recovers the error: %+v", got)
	}
	w.sim.ClearFaults()
	if outcome := w.convergeUntilDone(request, 10*time.Minute); !outcome.IsDone() {
		t.Errorf("a raised quota is noticed without a change of the object: %+v", outcome.RootCauses())
	}
}

// TestRetryReportsPreviousError: a resource reports its previous error during a retry, until its desired state changes.
func TestRetryReportsPreviousError(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "PUT", ID: "*/natgateways/nat", Count: -1, Kind: fault.Fail, Code: "QuotaExceeded", Message: "No more."})
	request := w.newRequest(groupNode(), pipNode(), natNode())
	in := func(wanted ...arm.State) func(arm.Outcome) bool {
		return func(outcome arm.Outcome) bool { return slices.Contains(wanted, listStates(outcome)["natGateways/nat"]) }
	}
	under := in(arm.Creating, arm.Updating)
	if got := findResult(t, w.convergeUntil(request, time.Minute, under), nat); got.Message != "" {
		t.Errorf("the message of the first try is %q", got.Message)
	}
	w.convergeUntil(request, time.Minute, in(arm.Failed))
	if got := findResult(t, w.convergeUntil(request, 10*time.Minute, under), nat); !strings.Contains(got.Message,
		"new try after the error: PUT natGateways/nat: QuotaExceeded: No more.") || got.Err != nil {
		t.Errorf("the message of the second try is %q: %v", got.Message, got.Err)
	}
	w.convergeUntil(request, time.Minute, in(arm.Failed))
	other := natNode()
	other.Body.(object)["tags"].(object)["fixed"] = "1"
	if got := findResult(t, w.convergeUntil(w.newRequest(groupNode(), pipNode(), other), time.Minute, under), nat); got.Message != "" {
		t.Errorf("the message of the first try of another state is %q", got.Message)
	}
	w.sim.ClearFaults()
	w.convergeUntilDone(request, 10*time.Minute)
	w.addFault(fault.Rule{Method: "DELETE", ID: "*/natgateways/nat", Count: -1, Kind: fault.Cancel, Code: "OperationPreempted",
		Message: "Another one."})
	var messages []string
	for deadline := w.clock.Now().Add(5 * time.Minute); w.clock.Now().Before(deadline); {
		outcome, err := w.engine.Delete(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		request.Inventory = outcome.Inventory
		if got := findResult(t, outcome, nat); got.State == arm.Deleting && !slices.Contains(messages, got.Message) {
			messages = append(messages, got.Message)
		}
		w.advanceClock(outcome.RetryAfter)
	}
	if len(messages) != 2 || messages[0] != "" ||
		!strings.Contains(messages[1], "new try after the error: DELETE natGateways/nat: OperationPreempted: Another one.") {
		t.Errorf("the messages of deletions are %q", messages)
	}
}

func TestRestart(t *testing.T) {
	for stop := range 12 {
		w := newWorld(t)
		request := w.newRequest(append(networkNodes(), pipNode(), natNode(), nicNode())...)
		for range stop {
			outcome := w.convergeOnce(request)
			if outcome.IsDone() {
				break
			}
			w.advanceClock(outcome.RetryAfter)
		}
		w.restartEngine()
		if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
			t.Fatalf("killed after %d convergences: %+v", stop, outcome.RootCauses())
		}
		want := append([]string{"PUT rg natGateways/nat", "PUT rg networkInterfaces/nic", "PUT rg publicIPAddresses/pip"}, createWrites...)
		if diff := cmp.Diff(sortLines(want), sortLines(w.listWrites())); diff != "" {
			t.Errorf("killed after %d convergences: %s", stop, diff)
		}
	}
}

func TestStuckOperation(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "PUT", ID: "*/natgateways/nat", Kind: fault.Stuck})
	request := w.newRequest(groupNode(), pipNode(), natNode())
	if got := findResult(t, w.convergeUntilDone(request, time.Hour), nat); got.State != arm.Creating {
		t.Errorf("%+v", got)
	}
	_, reads := w.listRequests()
	if len(reads) > 600 {
		t.Errorf("%d reads in an hour for one operation", len(reads))
	}
}
