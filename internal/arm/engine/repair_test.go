package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

func codeOf(err error) string {
	var e *arm.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func findResult(t *testing.T, outcome arm.Outcome, id arm.ID) arm.Result {
	t.Helper()
	found, ok := outcome.Result(id)
	if !ok {
		t.Fatalf("no result for %s", id)
	}
	return found
}

func listRules(body object) []string {
	var out []string
	for _, item := range body["properties"].(object)["securityRules"].([]any) {
		out = append(out, item.(object)["name"].(string))
	}
	slices.Sort(out)
	return out
}

func TestDriftIsRepaired(t *testing.T) {
	w, request := worldWith(t, networkNodes()...)
	k8s := object{"name": "k8s-svc", "properties": object{"priority": 500, "direction": "Inbound", "access": "Allow", "protocol": "Tcp",
		"sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "80"}}
	w.putResource(nsg, object{"location": "eastus", "tags": object{owner.TagKey: "owned", "theirs": "1"},
		"properties": object{"securityRules": []object{k8s}}})

	outcome := w.convergeOnce(request)
	if got := findResult(t, outcome, nsg); got.State != arm.Updating || !slices.Contains(got.Drift, "properties.securityRules[ssh]") ||
		got.SentMethod != "PUT" {
		t.Errorf("%+v", got)
	}
	request.BypassCache = false
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg networkSecurityGroups/nsg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	now := w.getResource(nsg)
	if diff := cmp.Diff([]string{"k8s-svc", "ssh"}, listRules(now)); diff != "" {
		t.Errorf("the rule of cloud-provider-azure must stay: %s", diff)
	}
	if now["tags"].(object)["theirs"] != "1" {
		t.Errorf("foreign tags must stay: %v", now["tags"])
	}
}

func TestSpecChange(t *testing.T) {
	w, _ := worldWith(t, networkNodes()...)
	changed := networkNodes()
	changed[3].Body = object{"properties": object{"addressPrefixes": []string{"10.0.0.0/17"}, "networkSecurityGroup": newReference(nsg)}}
	changed[1].Body = object{"location": "East US", "tags": ownerTags(),
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8", "172.16.0.0/12"}}}}
	request := w.newRequest(changed...)
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg virtualNetworks/vnet", "PUT rg virtualNetworks/vnet/subnets/cp"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	if w.getResource(nodes) == nil {
		t.Error("the PUT of the network must not remove subnets")
	}
}

// TestNormalisationIsNotRepairedAgain lets Azure store another value than the one sent. If the answer to the PUT shows that, it expects no
// further write. If only later reads show it, the value is sent once more, because it may be a change from outside. After a restart the
// engine finds out the same again.
func TestNormalisationIsNotRepairedAgain(t *testing.T) {
	patch := map[string]any{"properties": map[string]any{"flushConnection": false}}
	const put = "PUT rg networkSecurityGroups/nsg"
	tests := map[string]struct {
		rule fault.Rule
		puts []string
	}{
		"the answer shows it": {fault.Rule{Method: "PUT", Kind: fault.Modify}, []string{put}},
		"reads show":          {fault.Rule{Method: "GET", Nth: 2, Kind: fault.Edit}, []string{put, put}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			changed := nsgNode()
			changed.Body.(object)["properties"].(object)["flushConnection"] = true
			w := newWorld(t)
			test.rule.ID, test.rule.Count, test.rule.Patch = "*/networksecuritygroups/nsg", -1, patch
			w.addFault(test.rule)
			request := w.newRequest(groupNode(), changed)
			if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
				t.Fatalf("%+v", outcome.RootCauses())
			}
			request.BypassCache = true
			for range 4 {
				w.advanceClock(time.Hour)
				if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
					t.Fatalf("%+v", outcome.RootCauses())
				}
			}
			if diff := cmp.Diff(append([]string{"PUT rg"}, test.puts...), w.listWrites()); diff != "" {
				t.Error(diff)
			}
			w.restartEngine()
			for range 4 {
				w.convergeUntilDone(request, time.Minute)
				w.advanceClock(time.Hour)
			}
			if diff := cmp.Diff(test.puts, w.listWrites()); diff != "" {
				t.Errorf("after a restart: %s", diff)
			}
		})
	}
}

// TestChangeRightAfterThePutIsRepaired changes a resource from outside before its first read: a difference that the answer to the PUT
// did not show is no normalisation.
func TestChangeRightAfterThePutIsRepaired(t *testing.T) {
	w := newWorld(t)
	request := w.newRequest(groupNode(), nsgNode())
	w.convergeUntil(request, time.Minute, func(outcome arm.Outcome) bool { return w.getResource(nsg) != nil })
	w.addFault(fault.Rule{Now: true, ID: string(nsg), Kind: fault.Edit, Patch: object{"properties": object{"securityRules": []any{}}}})
	for range 3 {
		request.BypassCache = true
		if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
			t.Fatalf("%+v", outcome.RootCauses())
		}
		w.advanceClock(5 * time.Second)
	}
	if diff := cmp.Diff([]string{"ssh"}, listRules(w.getResource(nsg))); diff != "" {
		t.Errorf("the change stays: %s", diff)
	}
}

func TestForeign(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(nsg, object{"location": "eastus", "properties": object{}})
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})

	request := w.newRequest(networkNodes()...)
	outcome := w.convergeUntilDone(request, 0)
	want := map[string]arm.State{"resourceGroups/rg": arm.Foreign, "virtualNetworks/vnet": arm.Foreign,
		"networkSecurityGroups/nsg": arm.Failed, "subnets/cp": arm.Blocked, "subnets/nodes": arm.Blocked}
	if diff := cmp.Diff(want, listStates(outcome)); diff != "" {
		t.Error(diff)
	}
	refused := findResult(t, outcome, nsg)
	if codeOf(refused.Err) != engine.CodeNotOwned || !strings.Contains(refused.Err.Error(), owner.TagKey+"=owned") || refused.Owned {
		t.Errorf("%+v", refused)
	}
	if got := findResult(t, outcome, cp); got.BlockedBy != nsg {
		t.Errorf("blocked by %s", got.BlockedBy)
	}
	if causes := outcome.RootCauses(); len(causes) != 1 || causes[0].ID != nsg {
		t.Errorf("only the root cause is one: %+v", causes)
	}
	if outcome.RetryAfter < time.Minute {
		t.Errorf("the user has to act: a retry in %s is too soon", outcome.RetryAfter)
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
}

func TestObserve(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	observed := arm.Node{ID: vnet, Policy: arm.Observe, Group: "N"}
	request := w.newRequest(arm.Node{ID: group, Policy: arm.Observe}, observed, nsgNode(), subnetNode(cp, "10.0.0.0/16"))
	outcome := w.convergeOnce(request)
	missing := findResult(t, outcome, vnet)
	if missing.State != arm.Failed || codeOf(missing.Err) != engine.CodeMissing ||
		!strings.Contains(missing.Err.Error(), "does not exist") {
		t.Errorf("%+v", missing)
	}
	if got := findResult(t, outcome, cp); got.State != arm.Blocked || got.BlockedBy != vnet {
		t.Errorf("%+v", got)
	}
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	if outcome := w.convergeUntilDone(request, 10*time.Minute); !outcome.IsDone() {
		t.Errorf("its creation lets the same object succeed: %+v", outcome.RootCauses())
	} else if diff := cmp.Diff([]arm.ID{cp}, outcome.Inventory); diff != "" {
		t.Errorf("an owned subnet in a foreign network has to be in the inventory: %s", diff)
	}
}

func TestInventoryIsStoredBeforeCreation(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	subnet := subnetNode(cp, "10.0.0.0/16")
	subnet.After, subnet.Body = nil, object{"properties": object{"addressPrefixes": []string{"10.0.0.0/16"}}}
	request := w.newRequest(groupNode(), vnetNode(), subnet)

	for range 2 {
		outcome := w.convergeOnce(request)
		if diff := cmp.Diff([]arm.ID{cp}, outcome.Inventory); diff != "" {
			t.Fatal(diff)
		}
		if got := findResult(t, outcome, cp); got.State != arm.Waiting || got.Message == "" || outcome.RetryAfter > time.Second {
			t.Fatalf("%+v, again in %s", got, outcome.RetryAfter)
		}
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Fatalf("wrote %v before the inventory was stored", writes)
	}
	outcome := w.convergeUntilDone(request, time.Minute)
	if !outcome.IsDone() || !findResult(t, outcome, cp).Owned {
		t.Fatalf("%+v", outcome.Results)
	}
	w.listWrites()

	// A plan without the subnet: nothing shows that it was created for the cluster.
	listed := outcome.Inventory
	request = w.newRequest(groupNode(), vnetNode())
	request.Inventory = listed
	outcome = w.convergeUntilDone(request, time.Minute)
	if diff := cmp.Diff([]arm.ID{cp}, outcome.IgnoredInventory); diff != "" || !outcome.IsDone() || len(outcome.Inventory) != 0 {
		t.Fatalf("%+v %s", outcome, diff)
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("its owner is unknown: %v", writes)
	}

	// The subnet references a security group of the cluster.
	request = w.newRequest(groupNode(), vnetNode(), nsgNode(), subnetNode(cp, "10.0.0.0/16"))
	request.Inventory = listed
	if outcome = w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome)
	}
	w.listWrites()
	request = w.newRequest(groupNode(), vnetNode(), nsgNode())
	request.Inventory = listed
	if outcome = w.convergeUntilDone(request, time.Minute); !outcome.IsDone() || len(outcome.Inventory)+len(outcome.IgnoredInventory) != 0 {
		t.Fatalf("%+v", outcome)
	}
	if diff := cmp.Diff([]string{"DELETE rg virtualNetworks/vnet/subnets/cp"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

func TestPruneDeletesOwnedOnly(t *testing.T) {
	w, _ := worldWith(t, groupNode(), nsgNode(), pipNode())
	theirs := arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "theirs")
	w.putResource(theirs, object{"location": "eastus"})
	request := w.newRequest(groupNode(), nsgNode())
	request.Prune = []arm.ID{pip, theirs}
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"DELETE rg publicIPAddresses/pip"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

func TestCreateOnly(t *testing.T) {
	w, request := worldWith(t, append(networkNodes(), nicNode())...)
	drifted := nicNode()
	drifted.Body.(object)["tags"].(object)["new"] = "1"
	drifted.Body.(object)["properties"].(object)["enableIPForwarding"] = true
	drifted.DropTags = []string{"old"}
	w.addFault(fault.Rule{Now: true, ID: string(nic), Kind: fault.Edit,
		Patch: map[string]any{"tags": map[string]any{"old": "1", "theirs": "1"}}})
	request.Graph = w.newRequest(append(networkNodes(), drifted)...).Graph
	outcome := w.convergeUntilDone(request, time.Minute)
	if diff := cmp.Diff([]string{"PATCH rg networkInterfaces/nic/providers/Microsoft.Resources/tags/default",
		"PATCH rg networkInterfaces/nic/providers/Microsoft.Resources/tags/default"}, w.listWrites()); diff != "" {
		t.Errorf("only the tags may be written: %s", diff)
	}
	if got := findResult(t, outcome, nic); got.State != arm.Ready ||
		!cmp.Equal(got.UnrepairedDrift, []string{"properties.enableIPForwarding"}) {
		t.Errorf("drift is reported, and is no failure: %+v", got)
	}
	if diff := cmp.Diff(object{owner.TagKey: "owned", "new": "1", "theirs": "1"}, w.getResource(nic)["tags"]); diff != "" {
		t.Error(diff)
	}
}

func TestBlockedAndRefusedNodes(t *testing.T) {
	w := newWorld(t)
	blocked, refused := pipNode(), nsgNode()
	blocked.Blocked = "waits for the zone list"
	refused.Refused = "spec.networkSpec.x: 7 is not a port"
	outcome := w.convergeUntilDone(w.newRequest(groupNode(), blocked, natNode(), refused), 0)
	if got := findResult(t, outcome, pip); got.State != arm.Waiting || got.Message != blocked.Blocked {
		t.Errorf("%+v", got)
	}
	if got := findResult(t, outcome, nsg); got.State != arm.Failed || got.Err.Error() != refused.Refused {
		t.Errorf("%+v", got)
	}
	if got := findResult(t, outcome, nat); got.State != arm.Blocked || got.BlockedBy != pip {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"PUT rg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidRequests(t *testing.T) {
	w := newWorld(t)
	tests := map[string]struct {
		reason string
		change func(*engine.Request)
		want   string
	}{
		"cycle": {"a plan with a bug must not write anything",
			func(r *engine.Request) { r.Graph.Add(arm.Node{ID: vnet, After: []arm.ID{cp}}, arm.Node{ID: cp}) }, "cycle"},
		"no client": {"there is no client", func(r *engine.Request) { r.Client = nil }, "no client"},
		"no owner":  {"no resource could be owned", func(r *engine.Request) { r.Owner = engine.Owner{} }, "no ownership tag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := w.newRequest(groupNode())
			test.change(&request)
			if _, err := w.engine.Converge(context.Background(), request); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v", test.reason, err)
			}
		})
	}
	untagged := pipNode()
	delete(untagged.Body.(object), "tags")
	if got := findResult(t, w.convergeOnce(w.newRequest(groupNode(), untagged)), pip); got.State != arm.Failed ||
		!strings.Contains(got.Err.Error(), "lacks the ownership tag") {
		t.Errorf("a resource without an owner must not be created: %+v", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.engine.Converge(ctx, w.newRequest(groupNode())); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFirstChangeOutsideIsRepaired changes a resource from outside that was not read since its creation: the difference is no
// normalisation. A difference that the repair leaves is, and is not sent again.
func TestFirstChangeOutsideIsRepaired(t *testing.T) {
	w := newWorld(t)
	tagged := groupNode()
	tagged.Body.(object)["tags"] = object{owner.TagKey: owner.TagValue, "env": "test"}
	request := w.newRequest(tagged)
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listWrites()
	w.advanceClock(10 * time.Minute)
	w.addFault(fault.Rule{Now: true, ID: string(tagged.ID), Kind: fault.Edit, Patch: map[string]any{"tags": map[string]any{"env": "theirs"}}})
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg"}, w.listWrites()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// From here on Azure stores another value than the one sent.
	w.addFault(fault.Rule{Method: "GET", ID: tagged.ID.Key(), Count: -1, Kind: fault.Edit,
		Patch: map[string]any{"tags": map[string]any{"env": "kept otherwise"}}})
	for range 3 {
		w.advanceClock(10 * time.Minute)
		if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
			t.Fatalf("%+v", outcome.RootCauses())
		}
	}
	if diff := cmp.Diff([]string{"PUT rg"}, w.listWrites()); diff != "" {
		t.Errorf("the normalisation is known after one PUT (-want +got):\n%s", diff)
	}
}

// TestEarlierDesiredStateIsSentAgain lets a plan return to an earlier desired state, after another plan matched a change from outside, as
// with the size of a scale set whose VMs were deleted; it expects that the difference is repaired, and is no normalisation of the earlier
// PUT.
func TestEarlierDesiredStateIsSentAgain(t *testing.T) {
	w := newWorld(t)
	tagged := groupNode()
	tagged.Body.(object)["tags"] = object{owner.TagKey: owner.TagValue, "size": "3"}
	if outcome := w.convergeUntilDone(w.newRequest(tagged), time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listWrites()
	w.addFault(fault.Rule{Now: true, ID: string(tagged.ID), Kind: fault.Edit, Patch: map[string]any{"tags": map[string]any{"size": "2"}}})
	for _, node := range []arm.Node{groupNode(), tagged} {
		request := w.newRequest(node)
		request.BypassCache = true
		if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
			t.Fatalf("%+v", outcome.RootCauses())
		}
	}
	if diff := cmp.Diff([]string{"PUT rg"}, w.listWrites()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
