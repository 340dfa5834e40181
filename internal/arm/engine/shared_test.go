package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

func lbNode() arm.Node {
	frontend := lb.Child("frontendIPConfigurations", "fe")
	return arm.Node{ID: lb, Policy: arm.Repair, Group: "L", After: []arm.ID{pip},
		Body: object{"location": "eastus", "tags": ownerTags(), "sku": object{"name": "Standard", "tier": "Regional"}, "properties": object{
			"frontendIPConfigurations": []object{{"name": "fe", "properties": object{"publicIPAddress": newReference(pip)}}},
			"backendAddressPools":      []object{{"name": "pool"}},
			"probes": []object{{"name": "probe",
				"properties": object{"protocol": "Tcp", "port": 6443, "intervalInSeconds": 15, "numberOfProbes": 4}}},
			"loadBalancingRules": []object{{"name": "rule",
				"properties": object{"protocol": "Tcp", "frontendPort": 6443, "backendPort": 6443,
					"frontendIPConfiguration": newReference(frontend), "backendAddressPool": newReference(lb.Child("backendAddressPools", "pool")),
					"probe": newReference(lb.Child("probes", "probe"))}}},
		}}}
}

func natRuleNode(name string, port int) arm.Node {
	return arm.Node{ID: lb.Child("inboundNatRules", name), Policy: arm.Repair, Group: "M", Body: object{"properties": object{
		"protocol": "Tcp", "frontendPort": port, "backendPort": 22,
		"frontendIPConfiguration": newReference(lb.Child("frontendIPConfigurations", "fe"))}}}
}

func TestWritesToOneManifestGoOneByOne(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus", "tags": ownerTags()})
	w.putResource(vnet, object{"location": "eastus", "tags": ownerTags(),
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	var all []arm.Node
	for i := range 4 {
		node := subnetNode(vnet.Child("subnets", fmt.Sprintf("s%d", i)), fmt.Sprintf("10.%d.0.0/16", i))
		node.After, node.Body = nil, object{"properties": object{"addressPrefixes": []string{fmt.Sprintf("10.%d.0.0/16", i)}}}
		all = append(all, node)
	}
	outcome := w.convergeOnce(w.newRequest(all...))
	creating, waiting := 0, 0
	for _, result := range outcome.Results {
		switch {
		case result.State == arm.Creating:
			creating++
		case result.State == arm.Waiting && strings.Contains(result.Message, "go one by one"):
			waiting++
		}
	}
	if creating != 1 || waiting != 3 {
		t.Errorf("%d creating, %d waiting", creating, waiting)
	}
	if outcome := w.convergeUntilDone(w.newRequest(all...), time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	for _, record := range w.sim.Requests() {
		if record.Status == http.StatusConflict || record.Status == http.StatusTooManyRequests {
			t.Errorf("%s %s: %d", record.Method, record.URL, record.Status)
		}
	}
}

func TestMachinesShareALoadBalancer(t *testing.T) {
	w, cluster := worldWith(t, groupNode(), pipNode(), lbNode())
	var wait sync.WaitGroup
	outcomes := make([]arm.Outcome, 5)
	for i := range outcomes {
		wait.Go(func() {
			request := w.newRequest(natRuleNode(fmt.Sprintf("m%d", i), 2200+i))
			request.Object = fmt.Sprintf("AzureMachine/default/m%d", i)
			woken := make(chan struct{}, 1)
			request.Wake = func() {
				select {
				case woken <- struct{}{}:
				default:
				}
			}
			for {
				outcome, err := w.engine.Converge(context.Background(), request)
				outcomes[i] = outcome
				if err != nil || outcome.IsDone() {
					return
				}
				<-woken
			}
		})
	}
	wait.Wait()
	for i, outcome := range outcomes {
		if !outcome.IsDone() {
			t.Errorf("machine %d: %+v", i, outcome.RootCauses())
		} else if !outcome.Results[0].Owned || len(outcome.Inventory) != 0 {
			t.Errorf("machine %d: a rule below the cluster's load balancer is the cluster's: %+v", i, outcome)
		}
	}
	if writes := w.listWrites(); len(writes) != 5 {
		t.Errorf("wrote %v", writes)
	}
	if outcome := w.convergeUntilDone(cluster, time.Minute); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	if writes := w.listWrites(); len(writes) != 0 {
		t.Errorf("the cluster must keep the machines' rules: %v", writes)
	}
	changed := lbNode()
	changed.Body.(object)["tags"].(object)["new"] = "1"
	if outcome := w.convergeUntilDone(w.newRequest(groupNode(), pipNode(), changed), time.Minute); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	if got := w.getResource(lb)["properties"].(object)["inboundNatRules"].([]any); len(got) != 5 {
		t.Errorf("the PUT of the load balancer left %d of 5 rules", len(got))
	}
}

func TestTwoObjectsShareANode(t *testing.T) {
	w := newWorld(t)
	woken := map[string]int{}
	request := func(name string) engine.Request {
		request := w.newRequest(groupNode(), pipNode(), natNode())
		request.Object = name
		request.Wake = func() { woken[name]++; w.wakeObject() }
		return request
	}
	for range 20 {
		a, b := w.convergeOnce(request("a")), w.convergeOnce(request("b"))
		if a.IsDone() && b.IsDone() {
			break
		}
		w.advanceClock(min(a.RetryAfter, b.RetryAfter))
	}
	if diff := cmp.Diff([]string{"PUT rg", "PUT rg publicIPAddresses/pip", "PUT rg natGateways/nat"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	if woken["a"] == 0 || woken["b"] == 0 {
		t.Errorf("both wait for the same operations: %v", woken)
	}
}

func TestObserveSharesLists(t *testing.T) {
	w, _ := worldWith(t, groupNode(), pipNode(), vnetNode())
	address := func(name string) arm.ID {
		return arm.NewID(sub, "RG", "Microsoft.Network/publicIPAddresses", name)
	}
	w.advanceClock(time.Minute)
	observe := func(fresh bool, ids ...arm.ID) map[string]engine.Observed {
		t.Helper()
		found, err := w.engine.Observe(context.Background(), w.client, ids, fresh, engine.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	steps := []struct {
		reason string
		fresh  bool
		ids    []arm.ID
		reads  int
	}{
		{"one address is a GET", false, []arm.ID{address("pip")}, 1},
		{"a second one within the window is a LIST", false, []arm.ID{address("b")}, 1},
		{"a resource that the LIST lacks does not exist", false, []arm.ID{address("c"), address("pip"), address("b")}, 0},
		{"fresh sends a request again", true, []arm.ID{address("pip"), address("b")}, 1},
	}
	for _, step := range steps {
		found := observe(step.fresh, step.ids...)
		if _, reads := w.listRequests(); len(reads) != step.reads {
			t.Errorf("%s: %v", step.reason, reads)
		}
		for _, id := range step.ids {
			if got := found[id.Key()]; got.Err != nil || got.Exists != (id.Name() == "pip") || got.ID == "" {
				t.Errorf("%s: %s: %+v", step.reason, id, got)
			}
		}
	}
	nowhere := arm.ResourceGroupID(sub, "nowhere")
	found := observe(false, nowhere, arm.NewID(sub, "nowhere", "Microsoft.Network/publicIPAddresses", "a"),
		arm.NewID(sub, "nowhere", "Microsoft.Network/natGateways", "n"))
	if _, reads := w.listRequests(); len(reads) != 1 || len(found) != 3 {
		t.Errorf("resources in an absent group need no request: %v, %d found", reads, len(found))
	}
}

func TestRefusedCredentialsAreReportedOnce(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "GET", Count: -1, Kind: fault.Status, Status: 404, Code: "SubscriptionNotFound",
		Message: "The subscription could not be found."})
	outcome := w.convergeOnce(w.newRequest(networkNodes()...))
	if causes := outcome.RootCauses(); len(causes) != 1 || causes[0].ID != group || causes[0].State != arm.Failed ||
		codeOf(causes[0].Err) != "SubscriptionNotFound" {
		t.Errorf("%+v", causes)
	}
	if writes, reads := w.listRequests(); len(writes) != 0 || len(reads) != 1 {
		t.Errorf("%d reads, wrote %v", len(reads), writes)
	}
	if outcome.RetryAfter < 20*time.Second {
		t.Errorf("again in %s", outcome.RetryAfter)
	}
	w.sim.ClearFaults()
	if outcome := w.convergeUntilDone(w.newRequest(networkNodes()...), time.Minute); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
}

func TestRunAction(t *testing.T) {
	w, _ := worldWith(t, networkNodes()...)
	ask := engine.Action{Method: http.MethodDelete, ID: nodes}
	do := func() arm.Result { return w.engine.RunAction(context.Background(), w.client, ask, w.wakeObject) }
	var seen []arm.State
	for range 10 {
		result := do()
		seen = append(seen, result.State)
		if result.State != arm.Deleting {
			break
		}
		w.advanceClock(time.Minute)
	}
	if last := seen[len(seen)-1]; last != arm.Gone || len(seen) < 2 {
		t.Errorf("states %v", seen)
	}
	if diff := cmp.Diff([]string{"DELETE rg virtualNetworks/vnet/subnets/nodes"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	w.addFault(fault.Rule{Method: "DELETE", Kind: fault.Status, Status: 409, Code: "OperationNotAllowed", Message: "Not now."})
	ask.ID = cp
	if result := do(); result.State != arm.Failed || codeOf(result.Err) != "OperationNotAllowed" {
		t.Errorf("%+v", result)
	}
}

// TestRunActionForTwoObjects lets two objects request the same action; it expects that it is sent once, and that each object is woken at
// the end and gets the result.
func TestRunActionForTwoObjects(t *testing.T) {
	tests := map[string]struct {
		reason string
		fault  *fault.Rule
		want   arm.State
		code   string
	}{
		"done": {"it succeeded for both", nil, arm.Gone, ""},
		"failed": {"it failed for both", &fault.Rule{Method: "DELETE", Kind: fault.Fail, Code: "InternalServerError"}, arm.Waiting,
			"InternalServerError"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := worldWith(t, networkNodes()...)
			if test.fault != nil {
				w.addFault(*test.fault)
			}
			woken := map[string]int{}
			do := func(object string) arm.Result {
				action := engine.Action{Object: object, Method: http.MethodDelete, ID: nodes}
				return w.engine.RunAction(t.Context(), w.client, action, func() { woken[object]++ })
			}
			for _, object := range []string{"a", "b"} {
				if got := do(object); got.State != arm.Deleting {
					t.Fatalf("%s: %s %v", object, got.State, got.Err)
				}
			}
			w.sleepThrough(time.Minute)
			if diff := cmp.Diff(map[string]int{"a": 1, "b": 1}, woken); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
			for _, object := range []string{"a", "b"} {
				if got := do(object); got.State != test.want || codeOf(got.Err) != test.code {
					t.Errorf("%s: %s: %s %v", test.reason, object, got.State, got.Err)
				}
			}
			if diff := cmp.Diff([]string{"DELETE rg virtualNetworks/vnet/subnets/nodes"}, w.listWrites()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWritesWaitForBudget(t *testing.T) {
	w := newWorld(t)
	budgets := client.NewBudgets(w.clock.Now, 1)
	w.limitRequests(budgets)
	w.addFault(fault.Rule{Method: "PUT", Type: "Microsoft.Network/publicIPAddresses", Kind: fault.Throttle, RetryAfter: 20})
	outcome := w.convergeUntilDone(w.newRequest(groupNode(), pipNode(), nsgNode()), time.Minute)
	if !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	throttled := 0
	for _, record := range w.sim.Requests() {
		if record.Status == http.StatusTooManyRequests {
			throttled++
		}
	}
	if throttled != 1 {
		t.Errorf("%d requests were throttled; after the first, others are not sent", throttled)
	}
	if took := w.clock.Now().Sub(epoch); took < 20*time.Second || took > 30*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestOverhead compares the time for a network with the durations of Azure's own operations in sequence.
func TestOverhead(t *testing.T) {
	w := newWorld(t)
	start := w.clock.Now()
	request := w.newRequest(append(networkNodes(), pipNode(), natNode(), nicNode())...)
	if outcome := w.convergeUntilDone(request, 5*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	took := w.clock.Now().Sub(start)
	length := map[string]time.Duration{}
	for _, operation := range w.sim.Operations() {
		length[arm.ID(operation.ResourceID).ShortName()] += operation.Ended.Sub(operation.Started)
	}
	subnets := max(length["virtualNetworks/vnet"], length["networkSecurityGroups/nsg"]) + length["subnets/cp"] + length["subnets/nodes"]
	outbound := length["publicIPAddresses/pip"] + length["natGateways/nat"]
	critical := max(subnets, outbound)
	ratio := took.Seconds() / critical.Seconds()
	t.Logf("took %s, critical path %s, ratio %.3f", took, critical, ratio)
	if ratio > 1.1 {
		t.Errorf("took %s, Azure alone takes %s: %.3f", took, critical, ratio)
	}
}
