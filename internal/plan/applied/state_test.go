package applied_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

const (
	group   = "/subscriptions/s/resourceGroups/g"
	network = group + "/providers/Microsoft.Network/"
	vnet    = network + "virtualNetworks/v"
	nodes   = vnet + "/subnets/nodes"
	lb      = network + "loadBalancers/lb"
	nsg     = network + "networkSecurityGroups/nsg"
	gateway = network + "natGateways/nat"
	address = network + "publicIPAddresses/ip"
	vm      = group + "/providers/Microsoft.Compute/virtualMachines/m"
	disk    = group + "/providers/Microsoft.Compute/disks/m"
)

var scope = applied.Scope{
	SubscriptionID: "s",
	Types: applied.Types{
		types.ResourceGroup: "", types.VirtualNetwork: "", types.Subnet: "S", types.LoadBalancer: "L", types.NetworkSecurityGroup: "G",
		types.NATGateway: "N", types.PublicIPAddress: "P", types.VirtualMachineExtension: "E", types.PrivateDNSZone: "D", types.ARecord: "A",
	},
	SecurityGroup: func(name string) arm.ID { return network + "networkSecurityGroups/" + arm.ID(name) },
}

// newTags returns a body with tags and the ownership mark.
func newTags(keys ...string) map[string]any {
	tags := map[string]any{infrav1.ClusterTagKey("c"): "owned", infrav1.NameTag: "n", infrav1.RoleTag: "common"}
	for _, key := range keys {
		tags[key] = "v"
	}
	return map[string]any{"tags": tags}
}

func newGraph(nodes ...arm.Node) *arm.Graph {
	g := &arm.Graph{}
	for _, node := range nodes {
		if node.Policy == "" {
			node.Policy = arm.Repair
		}
		g.Add(node)
	}
	return g
}

// storedAnnotations returns the annotations of an object whose lastApplied has this JSON.
func storedAnnotations(paths string) map[string]string {
	if paths == "" {
		return nil
	}
	return map[string]string{infrav1.AppliedAnnotation: `{"applied":` + paths + `}`}
}

// annotationsWith returns the annotations of an object whose lastApplied has these paths.
func annotationsWith(paths applied.Paths) map[string]string {
	obj := &metav1.ObjectMeta{}
	applied.Content{Applied: paths}.Store(obj)
	return obj.Annotations
}

// TestForgedRecordIsHarmless reads a forged record, as users with the right to annotate an object can write it; it expects no resources but
// those of the object itself.
func TestForgedRecordIsHarmless(t *testing.T) {
	g := newGraph(
		arm.Node{ID: group, Body: newTags()}, arm.Node{ID: vnet, Policy: arm.Observe},
		arm.Node{ID: lb, Body: newTags()}, arm.Node{ID: nsg, Body: newTags()}, arm.Node{ID: vm, Policy: arm.CreateOnly, Body: newTags()},
	)
	for name, test := range map[string]struct {
		reason string
		stored string
		prune  []arm.ID
		owned  []string // of the load balancer
		tags   []string
	}{
		"control": {"a resource goes if the engine finds the ownership tag on it",
			`{"g/providers/Microsoft.Network/publicIPAddresses/ip":[]}`, []arm.ID{address}, nil, nil},
		"other group": {"the engine checks its tag, too", `{"other/providers/Microsoft.Network/publicIPAddresses/ip":[]}`,
			[]arm.ID{"/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/publicIPAddresses/ip"}, nil, nil},
		"other subscription": {"IDs have none",
			`{"/subscriptions/x/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip":[]}`, nil, nil, nil},
		"way out": {"a path cannot leave the subscription",
			`{"../../x/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip":[],"g/providers/Microsoft.Network/publicIPAddresses/..":[],"g/providers/Microsoft.Network/publicIPAddresses/ip?a=b":[],"g/providers/Microsoft.Network/publicIPAddresses/%2e%2e":[]}`, nil, nil, nil},
		"group":   {"too much hangs on it", `{"other":[]}`, nil, nil, nil},
		"network": {"too much hangs on it", `{"g/providers/Microsoft.Network/virtualNetworks/other":[]}`, nil, nil, nil},
		"type of no plan": {"plans have none",
			`{"g/providers/Microsoft.Compute/disks/d":[],"g/providers/Microsoft.Storage/storageAccounts/a":[]}`, nil, nil, nil},
		"extension of another's VM": {"the plan has no such VM, whosever its tag is",
			`{"g/providers/Microsoft.Compute/virtualMachines/other/extensions/e":[]}`, nil, nil, nil},
		"extension of the VM": {"its parent is in the plan", `{"g/providers/Microsoft.Compute/virtualMachines/m/extensions/e":[]}`,
			[]arm.ID{vm + "/extensions/e"}, nil, nil},
		"subnet of another network": {"the plan has no such network", `{"g/providers/Microsoft.Network/virtualNetworks/other/subnets/s":[]}`,
			nil, nil, nil},
		"record of a zone that goes": {"a child of a resource that goes with it",
			`{"g/providers/Microsoft.Network/privateDnsZones/z":[],"g/providers/Microsoft.Network/privateDnsZones/z/A/a":[]}`,
			[]arm.ID{network + "privateDnsZones/z", network + "privateDnsZones/z/A/a"}, nil, nil},
		"record of a zone that stays": {"the plan has no such zone", `{"g/providers/Microsoft.Network/privateDnsZones/z/A/a":[]}`, nil, nil, nil},
		"rule of a load balancer": {"it is the object's own",
			`{"g/providers/Microsoft.Network/loadBalancers/lb":["/properties/loadBalancingRules[r]"]}`, nil,
			[]string{"properties.loadBalancingRules[r]"}, nil},
		"rules of machines": {"no plan of a load balancer has any",
			`{"g/providers/Microsoft.Network/loadBalancers/lb":["/properties/inboundNatRules[r]","/properties/inboundNatRules","/properties","/properties/sku"]}`, nil, nil, nil},
		"setting": {"load balancers have none that Azure keeps", `{"g/providers/Microsoft.Network/loadBalancers/lb":["/properties/virtualMachineProfile/priority"]}`,
			nil, nil, nil},
		"ownership tag": {"no plan takes it away",
			`{"*":["/tags/` + infrav1.ClusterTagKey("c") + `","/tags/Name"],"g/providers/Microsoft.Network/loadBalancers/lb":["/tags/` + infrav1.RoleTag + `","/tags/` + infrav1.ClusterTagKey("other") + `"]}`, nil, nil, nil},
		"tag":          {"tags of its own resources belong to the object", `{"*":["/tags/team"]}`, nil, nil, []string{"team"}},
		"no JSON":      {"it names nothing", `[`, nil, nil, nil},
		"another JSON": {"it names nothing", `["g"]`, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := applied.ReadState(storedAnnotations(test.stored), scope)
			if diff := cmp.Diff(test.prune, m.ListPruned(g)); diff != "" {
				t.Errorf("%s: to prune (-want +got):\n%s", test.reason, diff)
			}
			fresh := newGraph(arm.Node{ID: lb, Body: newTags()})
			m.AddRemovals(fresh)
			if diff := cmp.Diff(test.owned, fresh.Node(lb).OwnedPaths); diff != "" {
				t.Errorf("%s: owned paths (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(test.tags, fresh.Node(lb).DropTags); diff != "" {
				t.Errorf("%s: tags (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestRemovablePathsAreRecorded plans a body for each kind of removal; it expects that paths are stored if a later write without them would
// leave their values in Azure.
func TestRemovablePathsAreRecorded(t *testing.T) {
	balancer := newTags("team", "a/b")
	balancer["properties"] = map[string]any{
		"loadBalancingRules":  []any{map[string]any{"name": "r"}},
		"backendAddressPools": []any{map[string]any{"name": "p"}},
		"inboundNatRules":     []any{map[string]any{"name": "n"}},
	}
	rules := newTags("team", "own")
	rules["properties"] = map[string]any{"securityRules": []any{map[string]any{"name": "r"}}}
	g := newGraph(
		arm.Node{ID: group, Body: newTags("team")},
		arm.Node{ID: vnet, Policy: arm.Observe},
		arm.Node{ID: nodes, Body: map[string]any{"properties": map[string]any{
			"addressPrefix": "10.0.0.0/16", "natGateway": map[string]any{"id": gateway},
			"serviceEndpoints": []any{map[string]any{"service": "Microsoft.Sql"}}}}},
		arm.Node{ID: lb, Body: balancer},
		arm.Node{ID: nsg, Body: rules},
		arm.Node{ID: address, Policy: arm.CreateOnly, Body: newTags("team")},
		arm.Node{ID: vm, Policy: arm.CreateOnly, Body: newTags("team")},
	)
	want := applied.Paths{
		"*": {"?/tags/team"},
		"g": {},
		"g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes": {"?/properties/natGateway",
			"?/properties/serviceEndpoints[Microsoft.Sql]"},
		"g/providers/Microsoft.Network/loadBalancers/lb":          {"?/properties/loadBalancingRules[r]", "?/tags/a~1b"},
		"g/providers/Microsoft.Network/networkSecurityGroups/nsg": {"?/properties/securityRules[r]", "?/tags/own"},
		"g/providers/Microsoft.Network/publicIPAddresses/ip":      {},
	}
	if diff := cmp.Diff(want, applied.ReadState(nil, scope).PathsBefore(g)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTagsAloneNeedNoWrite makes sure that an object with nothing to remember but tags is not written before its first reconciliation.
func TestTagsAloneNeedNoWrite(t *testing.T) {
	g := newGraph(arm.Node{ID: vm, Policy: arm.CreateOnly, Body: newTags("team")})
	unlike := newGraph(arm.Node{ID: vm, Policy: arm.CreateOnly, Body: newTags("team", "own")},
		arm.Node{ID: disk, Policy: arm.TagOnly, Body: newTags("team")})
	for _, g := range []*arm.Graph{g, unlike} {
		if got := applied.ReadState(nil, scope).PathsBefore(g); got != nil {
			t.Errorf("got %v", got)
		}
	}
	after := applied.ReadState(nil, scope).PathsAfter(g, arm.Outcome{})
	if diff := cmp.Diff(applied.Paths{"*": {"/tags/team"}}, after); diff != "" {
		t.Errorf("after the first reconciliation it is stored (-want +got):\n%s", diff)
	}
	changed := newGraph(arm.Node{ID: vm, Policy: arm.CreateOnly, Body: newTags("env")})
	if diff := cmp.Diff(applied.Paths{"*": {"/tags/team", "?/tags/env"}},
		applied.ReadState(annotationsWith(after), scope).PathsBefore(changed)); diff != "" {
		t.Errorf("a tag that is to go is not forgotten (-want +got):\n%s", diff)
	}
}

func TestCreatedResourcesAreRecorded(t *testing.T) {
	there := func(id arm.ID, state arm.State) arm.Result {
		return arm.Result{ID: id, State: state, Owned: true, Observed: json.RawMessage(`{}`)}
	}
	const subnet = "/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
	both := `{"g":[""],"g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes":[""]}`
	for name, test := range map[string]struct {
		reason  string
		before  string
		planned []arm.ID
		results []arm.Result
		want    []arm.ID
	}{
		"refused": {"a resource that never existed can be corrected", "", []arm.ID{group, nodes},
			[]arm.Result{{ID: group, State: arm.Failed}, {ID: nodes, State: arm.Blocked}}, nil},
		"first": {"existing resources are bound, and the others can be corrected", "", []arm.ID{group, nodes},
			[]arm.Result{there(group, arm.Ready), {ID: nodes, State: arm.Failed}}, []arm.ID{"/resourceGroups/g"}},
		"brought": {"resources that users brought belong to them", "", []arm.ID{group},
			[]arm.Result{{ID: group, State: arm.Foreign, Observed: json.RawMessage(`{}`)}}, nil},
		"not read": {"no answer proves nothing", `{"g":[""]}`, []arm.ID{group}, []arm.Result{{ID: group, State: arm.Waiting}},
			[]arm.ID{"/resourceGroups/g"}},
		"going": {"a subnet that the spec no longer wants exists until it is deleted", both, []arm.ID{group},
			[]arm.Result{there(group, arm.Ready), {ID: nodes, State: arm.Deleting}}, []arm.ID{"/resourceGroups/g", subnet}},
		"gone": {"one of its name may be made with another range", both, []arm.ID{group}, []arm.Result{there(group, arm.Ready)},
			[]arm.ID{"/resourceGroups/g"}},
		"unreadable": {"it is written anew", "text", []arm.ID{group}, []arm.Result{there(group, arm.Ready)}, []arm.ID{"/resourceGroups/g"}},
	} {
		t.Run(name, func(t *testing.T) {
			var planned []arm.Node
			for _, id := range test.planned {
				planned = append(planned, arm.Node{ID: id})
			}
			annotations := annotationsWith(applied.ReadState(storedAnnotations(test.before), scope).PathsAfter(newGraph(planned...),
				arm.Outcome{Results: test.results}))
			if diff := cmp.Diff(test.want, applied.RecordedResources(annotations)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestUnremovableValueStaysRecorded: a value that Azure cannot remove stays recorded until the spec sets it again.
func TestUnremovableValueStaysRecorded(t *testing.T) {
	g := newGraph(arm.Node{ID: nodes, UnremovablePaths: []string{"/properties/natGateway"}})
	annotations := annotationsWith(applied.ReadState(storedAnnotations(`{"g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes":["/properties/natGateway","/properties/routeTable"]}`), scope).PathsAfter(g, arm.Outcome{
		Results: []arm.Result{{ID: nodes, State: arm.Ready, UnremovablePaths: []string{"/properties/natGateway"}}},
	}))
	if diff := cmp.Diff([]string{"/properties/natGateway"}, applied.ReadState(annotations, scope).AppliedPaths(nodes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefusedValueIsForgotten: the record drops a value that Azure refused, once the spec no longer sets it.
func TestRefusedValueIsForgotten(t *testing.T) {
	g := newGraph(arm.Node{ID: nodes, UnremovablePaths: []string{"/properties/natGateway"}})
	annotations := annotationsWith(applied.ReadState(storedAnnotations(
		`{"g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes":["/properties/natGateway"]}`), scope).PathsAfter(g, arm.Outcome{
		Results: []arm.Result{{ID: nodes, State: arm.Ready}},
	}))
	if sent := applied.ReadState(annotations, scope).AppliedPaths(nodes); len(sent) > 0 {
		t.Errorf("%v was never in the subnet", sent)
	}
}

// TestResourcesOfTheSpecAreNotPruned makes sure that nothing goes that the spec names and only the state of Azure keeps out of the plan.
func TestResourcesOfTheSpecAreNotPruned(t *testing.T) {
	named := scope
	named.PlanOfSpec = func() (*arm.Graph, error) { return newGraph(arm.Node{ID: address, Body: newTags()}), nil }
	before := storedAnnotations(`{"g/providers/Microsoft.Network/publicIPAddresses/ip":[],"g/providers/Microsoft.Network/natGateways/nat":[]}`)
	if diff := cmp.Diff([]arm.ID{gateway}, applied.ReadState(before, named).ListPruned(newGraph())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCompleteRecordIsNotWrittenAgain checks that a complete record is not written again, neither before a convergence nor after one.
func TestCompleteRecordIsNotWrittenAgain(t *testing.T) {
	g := newGraph(arm.Node{ID: group, Body: newTags("team")}, arm.Node{ID: lb, Body: newTags("team", "own")})
	annotations := annotationsWith(applied.ReadState(nil, scope).PathsAfter(g,
		arm.Outcome{Results: []arm.Result{{ID: group, State: arm.Ready, Owned: true, Observed: json.RawMessage(`{}`)},
			{ID: lb, State: arm.Ready}}}))
	m := applied.ReadState(annotations, scope)
	if got := m.PathsBefore(g); got != nil {
		t.Errorf("got %v", got)
	}
	again := m.PathsAfter(g, arm.Outcome{Results: []arm.Result{{ID: group, State: arm.Waiting}, {ID: lb, State: arm.Ready}}})
	if diff := cmp.Diff(annotations, annotationsWith(again)); diff != "" {
		t.Error(diff)
	}
}

// TestResourcesStayRecordedUntilReleased checks that a resource that is deleted with its object stays recorded when no plan has it any
// more, unless it was released.
func TestResourcesStayRecordedUntilReleased(t *testing.T) {
	const before = `{"*":["/tags/team"],"g":["","/tags/own"]}`
	for name, test := range map[string]struct {
		reason  string
		before  string
		lasting bool
		planned *arm.Graph
		want    string
		left    []arm.ID
	}{
		"in no plan": {"it goes with the object, and its tags when a plan has it again", before, true, newGraph(),
			`{"g":["","/tags/own","/tags/team"]}`, []arm.ID{group}},
		"planned": {"the plan decides about it", before, true, newGraph(arm.Node{ID: group, Body: newTags("own")}),
			`{"*":["/tags/own"],"g":[""]}`, nil},
		"only read":    {"it is the object's no more", before, true, newGraph(arm.Node{ID: group, Policy: arm.Observe}), "", nil},
		"is to stay":   {"it is never deleted", `{"g":["","-"]}`, true, newGraph(), `{"g":["","-"]}`, nil},
		"other object": {"its plans have its own resources", before, false, newGraph(), "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := scope
			in.KeepsLasting, in.AllLeaves = test.lasting, true
			annotations := annotationsWith(applied.ReadState(storedAnnotations(test.before), in).PathsAfter(test.planned, arm.Outcome{}))
			if diff := cmp.Diff(storedAnnotations(test.want), annotations); diff != "" {
				t.Errorf("%s: stored (-want +got):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(test.left, applied.ReadState(annotations, in).ListAbandoned(test.planned)); diff != "" {
				t.Errorf("%s: left (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestReleasedResources plans with resources that a plan only reads, or no longer has; it expects that they are neither pruned nor known
// from the inventory.
func TestReleasedResources(t *testing.T) {
	const before = `{"g/providers/Microsoft.Network/networkSecurityGroups/nsg":["","/tags/own"]}`
	failed := arm.Outcome{Results: []arm.Result{{ID: address, State: arm.Failed}}}
	skipped := newGraph(arm.Node{ID: nsg, Policy: arm.Observe, Detached: true}, arm.Node{ID: address, Body: newTags()})
	in := scope
	in.AllLeaves = true
	state := applied.ReadState(storedAnnotations(before), in)
	for name, paths := range map[string]applied.Paths{"before": state.PathsBefore(skipped), "after": state.PathsAfter(skipped, failed)} {
		later := applied.ReadState(annotationsWith(paths), in)
		if pruned := later.ListPruned(newGraph(arm.Node{ID: address, Body: newTags()})); len(pruned) > 0 {
			t.Errorf("%s the convergence, in which another resource fails: the skipped resource is pruned: %v", name, pruned)
		}
	}
	detached := applied.ReadState(storedAnnotations(`{"g/providers/Microsoft.Network/networkSecurityGroups/nsg":["-"]}`), in)
	inventory := []arm.ID{nsg, lb}
	for name, test := range map[string]struct {
		state applied.State
		graph *arm.Graph
		want  []arm.ID
	}{
		"planned":                     {state, newGraph(arm.Node{ID: nsg, Body: newTags()}), inventory},
		"planned as detached":         {detached, newGraph(arm.Node{ID: nsg, Body: newTags(), Detached: true}), inventory},
		"skipped":                     {state, skipped, []arm.ID{lb}},
		"read for another reason":     {state, newGraph(arm.Node{ID: nsg, Policy: arm.Observe}), inventory},
		"no longer planned":           {state, newGraph(), inventory},
		"detached, no longer planned": {detached, newGraph(), []arm.ID{lb}},
	} {
		if diff := cmp.Diff(test.want, test.state.WithoutReleased(test.graph, inventory)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
