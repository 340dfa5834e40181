package engine_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

var (
	hub     = arm.NewID(sub, "hub", "Microsoft.Network/virtualNetworks", "hub")
	farSide = hub.Child("virtualNetworkPeerings", "hub-to-vnet")
	near    = vnet.Child("virtualNetworkPeerings", "vnet-to-hub")
)

func peeringNode(id, to arm.ID) arm.Node {
	node := arm.Node{ID: id, Policy: arm.Repair, Group: "P", After: []arm.ID{vnet},
		Body: object{"properties": object{"remoteVirtualNetwork": newReference(to), "allowVirtualNetworkAccess": true}}}
	if id == farSide {
		node.After = append(node.After, near)
	}
	return node
}

// worldWithPeering has a cluster's own network in its own group, and a peering in a hub of another group.
func worldWithPeering(t *testing.T) (*world, engine.Request) {
	t.Helper()
	w := newWorld(t)
	w.putResource(arm.ResourceGroupID(sub, "hub"), object{"location": "eastus"})
	w.putResource(hub, object{"location": "eastus",
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"192.168.0.0/16"}}}})
	all := append(networkNodes(), pipNode(), natNode(), nicNode(), peeringNode(near, hub), peeringNode(farSide, vnet))
	request := w.newRequest(all...)
	outcome := w.convergeUntilDone(request, time.Minute)
	if !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	request.Inventory = outcome.Inventory
	w.listRequests()
	return w, request
}

func TestDeleteWholeGroup(t *testing.T) {
	w, request := worldWithPeering(t)
	request.DeleteWholeGroups = true
	outcome := w.deleteUntilDone(request, 10*time.Minute)
	if !outcome.IsDeleted() || len(outcome.Inventory) != 0 {
		t.Fatalf("%v %v", listStates(outcome), outcome.Inventory)
	}
	if diff := cmp.Diff([]string{"DELETE hub virtualNetworks/hub/virtualNetworkPeerings/hub-to-vnet", "DELETE rg"},
		w.listWrites()); diff != "" {
		t.Error(diff)
	}
	if w.getResource(group) != nil || w.getResource(hub) == nil {
		t.Error("the group must be deleted and the hub kept")
	}
	outcome = w.deleteUntilDone(request, 0)
	if writes := w.listWrites(); !outcome.IsDeleted() || len(writes) > 0 {
		t.Errorf("an absent resource counts as deleted: %v, %v", listStates(outcome), writes)
	}
}

func TestDeleteNodeByNode(t *testing.T) {
	w, request := worldWithPeering(t)
	another := arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "another")
	left := arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "left")
	w.putResource(another, object{"location": "eastus", "tags": object{"sigs.k8s.io_cluster-api-provider-azure_cluster_c2": "owned"}})
	w.putResource(left, object{"location": "eastus", "tags": ownerTags()})
	request.DeleteWholeGroups = true
	outcome := w.deleteUntilDone(request, 10*time.Minute)
	if got := findResult(t, outcome, group); !outcome.IsDeleted() || got.State != arm.Foreign || got.Message == "" {
		t.Errorf("the owned group has another cluster's address: it is kept, and the deletion is complete: %+v", got)
	}
	writes := w.listWrites()
	position := map[string]int{}
	for i, line := range writes {
		position[line] = i + 1
	}
	if diff := cmp.Diff([]string{"DELETE hub virtualNetworks/hub/virtualNetworkPeerings/hub-to-vnet", "DELETE rg natGateways/nat",
		"DELETE rg networkInterfaces/nic",
		"DELETE rg networkSecurityGroups/nsg", "DELETE rg publicIPAddresses/left", "DELETE rg publicIPAddresses/pip",
		"DELETE rg virtualNetworks/vnet"}, sortLines(writes)); diff != "" {
		t.Error(diff)
	}
	for _, order := range [][2]string{{"DELETE rg networkInterfaces/nic", "DELETE rg virtualNetworks/vnet"},
		{"DELETE rg virtualNetworks/vnet", "DELETE rg networkSecurityGroups/nsg"},
		{"DELETE rg natGateways/nat", "DELETE rg publicIPAddresses/pip"},
		{"DELETE hub virtualNetworks/hub/virtualNetworkPeerings/hub-to-vnet", "DELETE rg virtualNetworks/vnet"}} {
		if position[order[0]] > position[order[1]] {
			t.Errorf("%q must come before %q: %v", order[0], order[1], writes)
		}
	}
	if w.getResource(another) == nil {
		t.Error("another cluster's address is gone")
	}
}

func TestDeleteKeepsForeignResources(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.putResource(nodes, object{"properties": object{"addressPrefix": "10.1.0.0/16"}})
	request := w.newRequest(groupNode(), vnetNode(), nsgNode(), subnetNode(cp, "10.0.0.0/16"),
		arm.Node{ID: nodes, Policy: arm.Observe}, nicNode())
	outcome := w.convergeUntilDone(request, time.Minute)
	if !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listWrites()
	request.Inventory = outcome.Inventory
	request.DeleteWholeGroups = true
	if outcome = w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() || len(outcome.Inventory) > 0 {
		t.Fatalf("%v %v", listStates(outcome), outcome.Inventory)
	}
	if diff := cmp.Diff([]string{"DELETE rg networkInterfaces/nic", "DELETE rg virtualNetworks/vnet/subnets/cp",
		"DELETE rg networkSecurityGroups/nsg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	want := map[string]arm.State{"resourceGroups/rg": arm.Foreign, "virtualNetworks/vnet": arm.Foreign, "subnets/nodes": arm.Foreign,
		"subnets/cp": arm.Gone, "networkSecurityGroups/nsg": arm.Gone, "networkInterfaces/nic": arm.Gone}
	if diff := cmp.Diff(want, listStates(outcome)); diff != "" {
		t.Error(diff)
	}
}

func TestDeleteOfAbsentResources(t *testing.T) {
	tests := map[string]struct {
		reason string
		gone   arm.ID
		writes []string
	}{
		"group":   {"404 of the group is success for all its resources", group, nil},
		"network": {"404 of the parent is success for the subnets", vnet, []string{"DELETE rg networkSecurityGroups/nsg"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, networkNodes()...)
			if _, err := w.client.Delete(t.Context(), test.gone,
				map[bool]string{true: "2021-04-01", false: "2025-05-01"}[test.gone == group], nil); err != nil {
				t.Fatal(err)
			}
			w.sim.Settle()
			w.listRequests()
			if outcome := w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() {
				t.Fatalf("%s: %v", test.reason, listStates(outcome))
			}
			if diff := cmp.Diff(test.writes, sortLines(w.listWrites())); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

func TestDeleteFaults(t *testing.T) {
	tests := map[string]struct {
		reason  string
		fault   fault.Rule
		deletes int
		// forgotten means that the URLs of operations answer 404.
		forgotten bool
	}{
		"in use": {"its dependant is being deleted",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Status, Status: 400,
				Code: "InUseNetworkSecurityGroupCannotBeDeleted"}, 2, false},
		"throttled": {"Retry-After is honoured",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Throttle, RetryAfter: 9}, 2, false},
		"lost response": {"the deletion is running: it is followed and not repeated",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Lost}, 1, false},
		"reset": {"the deletion never arrived", fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Reset}, 2, false},
		"fails": {"the operation ended as failed",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Fail, Code: "InternalServerError"}, 2, false},
		"fails, and is forgotten": {"the resource shows that the deletion did not take place",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Fail, Code: "InternalServerError"}, 2, true},
		"canceled, and is forgotten": {"as above",
			fault.Rule{Method: "DELETE", ID: "*/networksecuritygroups/nsg", Kind: fault.Cancel, Code: "OperationPreempted"}, 2, true},
		"forgotten": {"the resource shows the end",
			fault.Rule{Method: "GET", ID: "*/operations/*", Count: -1, Kind: fault.Status, Status: 404, Code: "NotFound"}, 1, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, networkNodes()...)
			w.addFault(test.fault)
			if test.forgotten {
				for _, glob := range []string{"*/operations/*", "*/operationresults/*"} {
					w.addFault(fault.Rule{Method: "GET", ID: glob, Count: -1, Kind: fault.Status, Status: 404, Code: "NotFound"})
				}
			}
			if outcome := w.deleteUntilDone(request, 5*time.Minute); !outcome.IsDeleted() {
				t.Fatalf("%s: %v", test.reason, listStates(outcome))
			}
			count := 0
			for _, line := range w.listWrites() {
				if line == "DELETE rg networkSecurityGroups/nsg" {
					count++
				}
			}
			if count != test.deletes {
				t.Errorf("%s: %d deletions", test.reason, count)
			}
		})
	}
}

func TestDeleteAfterRestart(t *testing.T) {
	for stop := range 8 {
		w, request := worldWithPeering(t)
		request.DeleteWholeGroups = true
		for range stop {
			outcome, err := w.engine.Delete(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			request.Inventory = outcome.Inventory
			w.takeWake()
			w.advanceClock(outcome.RetryAfter)
		}
		w.restartEngine()
		if outcome := w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() {
			t.Fatalf("killed after %d convergences: %v", stop, listStates(outcome))
		}
		if diff := cmp.Diff([]string{"DELETE hub virtualNetworks/hub/virtualNetworkPeerings/hub-to-vnet", "DELETE rg"},
			w.listWrites()); diff != "" {
			t.Errorf("killed after %d convergences: %s", stop, diff)
		}
	}
}

func TestDeleteWhileCreating(t *testing.T) {
	w := newWorld(t)
	request := w.newRequest(groupNode(), pipNode(), natNode(), vnetNode())
	w.convergeUntil(request, time.Minute, func(outcome arm.Outcome) bool { return listStates(outcome)["natGateways/nat"] == arm.Creating })
	request.DeleteWholeGroups = true
	if outcome := w.deleteUntilDone(request, 5*time.Minute); !outcome.IsDeleted() {
		t.Fatalf("%v", listStates(outcome))
	}
	if w.getResource(group) != nil {
		t.Error("the group still exists")
	}
}

func TestFailedListBlocksGroupDeletion(t *testing.T) {
	w, request := worldWith(t, networkNodes()...)
	request.DeleteWholeGroups = true
	// The first request reads the group, the second lists its resources.
	w.addFault(fault.Rule{Method: "GET", Nth: 2, Kind: fault.Status, Status: 500, Code: "InternalServerError"})
	outcome, err := w.engine.Delete(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got := findResult(t, outcome, group); got.State != arm.Waiting || codeOf(got.Err) != "InternalServerError" || outcome.RetryAfter == 0 {
		t.Errorf("%+v", got)
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("deleted %v before the decision about the group", writes)
	}
	if outcome := w.deleteUntilDone(request, 5*time.Minute); !outcome.IsDeleted() {
		t.Fatalf("%v", listStates(outcome))
	}
	if diff := cmp.Diff([]string{"DELETE rg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

func TestDeletesGroupWhole(t *testing.T) {
	tests := map[string]struct {
		reason string
		before func(w *world)
		want   bool
		fails  bool
	}{
		"own": {"it has no other resources", func(*world) {}, true, false},
		"another cluster": {"resources of another cluster must be kept", func(w *world) {
			w.putResource(pip, object{"location": "eastus", "tags": object{"sigs.k8s.io_cluster-api-provider-azure_cluster_c2": "owned"}})
		}, false, false},
		"not tagged": {"the group was brought", func(w *world) { w.putResource(group, object{"location": "eastus"}) }, false, false},
		"list fails": {"the group may have resources of others", func(w *world) {
			w.addFault(fault.Rule{Method: "GET", Nth: 2, Kind: fault.Status, Status: 500, Code: "InternalServerError"})
		}, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, groupNode(), nsgNode())
			test.before(w)
			got, err := w.engine.DeletesGroupWhole(t.Context(), request, group)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("%s: got %t, %v", test.reason, got, err)
			}
		})
	}
	w := newWorld(t)
	if gone, err := w.engine.DeletesGroupWhole(t.Context(), w.newRequest(), group); !gone || err != nil {
		t.Errorf("gone already: %t, %v", gone, err)
	}
}

// TestGroupOfAnotherObject deletes an object whose resource group another object of the cluster has in its plan, too. The group stays, and the
// resources of the deleted object in it go one by one.
func TestGroupOfAnotherObject(t *testing.T) {
	w, request := worldWith(t, groupNode(), nsgNode(), pipNode())
	request.DeleteWholeGroups = true
	request.IsOthers = func(id arm.ID) bool { return id.Equal(group) || id.Equal(pip) }
	w.listWrites()
	outcome := w.deleteUntilDone(request, 10*time.Minute)
	if !outcome.IsDeleted() || len(outcome.Inventory) != 0 {
		t.Errorf("%v %v", listStates(outcome), outcome.Inventory)
	}
	if diff := cmp.Diff([]string{"DELETE rg networkSecurityGroups/nsg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

// otherAnswer answers one request with another body than Azure's.
type otherAnswer struct {
	policy.Transporter
	path, body string
}

func (a otherAnswer) Do(request *http.Request) (*http.Response, error) {
	response, err := a.Transporter.Do(request)
	if err == nil && strings.HasSuffix(request.URL.Path, a.path) {
		_ = response.Body.Close()
		response.Body, response.ContentLength = io.NopCloser(strings.NewReader(a.body)), int64(len(a.body))
		response.Header.Del("Content-Length")
	}
	return response, err
}

// TestGroupWithUnreadableList lets Azure answer the list of a group's resources, which shows those of other clusters, in another form; it
// expects that the group is not deleted.
func TestGroupWithUnreadableList(t *testing.T) {
	for name, body := range map[string]string{
		"a tag that is no text": `{"value":[{"id":"/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses/pip","tags":{"n":1}}]}`,
		"an empty element":      `{"value":[null]}`,
		"no list":               `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, groupNode(), nsgNode())
			w.putResource(pip, object{"location": "eastus", "tags": object{"sigs.k8s.io_cluster-api-provider-azure_cluster_c2": "owned"}})
			w.options.Transport = otherAnswer{w.options.Transport, "/resources", body}
			request.Client = w.newClientWith(credential.Token(w.sim.Token("")), "other")
			request.DeleteWholeGroups = true
			for range 5 {
				outcome := w.deleteOnce(request)
				if got := findResult(t, outcome, group); got.State == arm.Deleting || codeOf(got.Err) != client.CodeInvalidAnswer {
					t.Fatalf("%+v", got)
				}
				w.advanceClock(max(outcome.RetryAfter, time.Minute))
			}
			if w.getResource(pip) == nil {
				t.Error("the resource of another cluster is gone")
			}
		})
	}
}

func newRoleAssignment(principal string) object {
	const contributor = "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
	return object{"properties": object{"principalId": principal, "principalType": "ServicePrincipal",
		"roleDefinitionId": "/subscriptions/" + sub + contributor}}
}

// TestDeleteRoleOfAbsentHolder deletes a VM that no longer exists with the role assignment of its identity. Nothing but the inventory,
// which users can write, shows whose the role assignment is, so it is kept and reported.
func TestDeleteRoleOfAbsentHolder(t *testing.T) {
	role := arm.SubscriptionID(sub).Extension("Microsoft.Authorization/roleAssignments", "00000000-0000-0000-0000-00000000000a")
	vm := arm.NewID(sub, "rg", "Microsoft.Compute/virtualMachines", "m1")
	for name, test := range map[string]struct {
		reason    string
		inventory []arm.ID
		possibly  bool
	}{
		"in the inventory": {"it was made for this object, as far as is known", []arm.ID{role}, true},
		"not in it":        {"the spec names it, and nothing more", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putResource(group, object{"location": "eastus", "tags": ownerTags()})
			w.putResource(role, newRoleAssignment("00000000-0000-0000-0000-0000000000bb"))
			request := w.newRequest(arm.Node{ID: vm, Policy: arm.CreateOnly, Group: "VM"},
				arm.Node{ID: role, Policy: arm.CreateOnly, Group: "R", After: []arm.ID{vm}})
			request.Inventory = test.inventory
			outcome := w.deleteUntilDone(request, time.Minute)
			result, _ := outcome.Result(role)
			if !outcome.IsDeleted() || w.getResource(role) == nil {
				t.Fatalf("%s: deleted %t, the role assignment exists: %t", test.reason, outcome.IsDeleted(), w.getResource(role) != nil)
			}
			if result.PossiblyOwned != test.possibly {
				t.Errorf("%s: reported as possibly owned: %t", test.reason, result.PossiblyOwned)
			}
		})
	}
}

// TestPruneRole removes a role assignment that is no longer planned. It is deleted if it is of the identity of an owned resource of the
// plan.
func TestPruneRole(t *testing.T) {
	role := arm.SubscriptionID(sub).Extension("Microsoft.Authorization/roleAssignments", "00000000-0000-0000-0000-00000000000a")
	holder := arm.NewID(sub, "rg", "Microsoft.Compute/virtualMachineScaleSets", "p")
	for name, test := range map[string]struct {
		reason    string
		principal string // "" is that of the holder
		tags      object
		goes      bool
	}{
		"own":              {"the identity is that of an owned scale set", "", ownerTags(), true},
		"another identity": {"every writer of the object can write its inventory", "00000000-0000-0000-0000-0000000000cc", ownerTags(), false},
		"foreign holder":   {"the scale set is not the object's", "", object{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putResource(group, object{"location": "eastus", "tags": ownerTags()})
			w.putResource(holder, object{"location": "eastus", "tags": test.tags, "identity": object{"type": "SystemAssigned"},
				"properties": object{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}})
			principal := test.principal
			if principal == "" {
				principal = w.getResource(holder)["identity"].(object)["principalId"].(string)
			}
			w.putResource(role, newRoleAssignment(principal))
			request := w.newRequest(arm.Node{ID: holder, Policy: arm.Observe, Foreign: arm.UseForeign, Group: "VMs"})
			request.Inventory = []arm.ID{role}
			outcome := w.convergeUntilDone(request, time.Minute)
			if gone := w.getResource(role) == nil; gone != test.goes {
				t.Errorf("%s: the role assignment is gone: %t: %+v", test.reason, gone, outcome)
			}
		})
	}
}
