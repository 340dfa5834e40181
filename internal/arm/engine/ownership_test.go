package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
)

const ownerKey = "sigs.k8s.io_cluster-api-provider-azure_owner"

// ownedBy returns a request of an owner, for nodes with its tag.
func (w *world) ownedBy(id string, nodes ...arm.Node) engine.Request {
	for i := range nodes {
		body, _ := nodes[i].Body.(object)
		if marked, ok := body["tags"].(object); ok {
			changed := object{}
			for key, value := range marked {
				changed[key] = value
			}
			changed[ownerKey] = id
			again := object{}
			for key, value := range body {
				again[key] = value
			}
			again["tags"] = changed
			nodes[i].Body = again
		}
	}
	request := w.newRequest(nodes...)
	request.Owner.IDKey, request.Owner.ID = ownerKey, id
	return request
}

// TestOwnerTagIsAddedWithAnotherWrite reconciles a cluster from before the owner tag existed; it expects that the tag costs no write of its
// own.
func TestOwnerTagIsAddedWithAnotherWrite(t *testing.T) {
	w, _ := worldWith(t, groupNode(), nsgNode(), pipNode())
	request := w.ownedBy("a/c1/1", groupNode(), nsgNode(), pipNode())
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() || len(w.listWrites()) > 0 {
		t.Errorf("the tag alone causes no write: %v", listStates(outcome))
	}
	changed := pipNode()
	changed.Body.(object)["tags"].(object)["more"] = "x"
	request = w.ownedBy("a/c1/1", groupNode(), nsgNode(), changed)
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg publicIPAddresses/pip"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	if got, _ := w.getResource(pip)["tags"].(map[string]any); got[ownerKey] != "a/c1/1" {
		t.Errorf("another write includes it: %v", got)
	}
}

// TestOwnersWithTheSameClusterName lets two owners have clusters of one name in the same group; it expects that the second owner changes
// and deletes nothing of the first, and that the message names the first.
func TestOwnersWithTheSameClusterName(t *testing.T) {
	nodes := func() []arm.Node { return append(networkNodes(), pipNode(), natNode()) }
	for name, id := range map[string]string{"another namespace": "b/c1/2", "another ID": "a/c1/2", "no ID": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if outcome := w.convergeUntilDone(w.ownedBy("a/c1/1", nodes()...), time.Minute); !outcome.IsDone() {
				t.Fatalf("%+v", outcome.RootCauses())
			}
			w.listRequests()
			request := w.ownedBy(id, nodes()...)
			outcome := w.convergeOnce(request)
			if got := findResult(t, outcome, group); got.State != arm.Failed ||
				!strings.Contains(fmt.Sprint(got.Err), "belongs to a/c1/1") || !strings.Contains(fmt.Sprint(got.Err), id) {
				t.Errorf("both owners are named: %+v", got)
			}
			request.Inventory, request.DeleteWholeGroups = []arm.ID{cp, vnet.Child("subnets", "nodes")}, true
			if outcome = w.deleteUntilDone(request, time.Minute); !outcome.IsDeleted() {
				t.Errorf("a foreign resource does not block the deletion: %v", listStates(outcome))
			}
			if writes := w.listWrites(); len(writes) > 0 {
				t.Errorf("got %v", writes)
			}
			mine := w.ownedBy("a/c1/1", nodes()...)
			mine.DeleteWholeGroups = true
			if outcome = w.deleteUntilDone(mine, 10*time.Minute); !outcome.IsDeleted() || w.getResource(group) != nil {
				t.Errorf("the owner deletes it: %v", listStates(outcome))
			}
		})
	}
}

// TestForgedInventoryIsIgnored reconciles with a forged inventory; it expects that this gives the cluster no taggable resources, none that
// the plan lacks, and none without a reference to planned resources.
func TestForgedInventoryIsIgnored(t *testing.T) {
	foreign := arm.NewID(sub, "foreign", "Microsoft.Network/virtualNetworks", "theirs")
	address := arm.NewID(sub, "foreign", "Microsoft.Network/publicIPAddresses", "theirs")
	theirs := foreign.Child("subnets", "theirs")
	zone := arm.NewID(sub, "foreign", "Microsoft.Network/privateDnsZones", "corp.internal")
	record := arm.ID(string(zone) + "/A/payroll")
	w := newWorld(t)
	w.putResource(arm.ResourceGroupID(sub, "foreign"), object{"location": "eastus"})
	w.putResource(foreign, object{"location": "eastus",
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.putResource(theirs, object{"properties": object{"addressPrefix": "10.9.0.0/16"}})
	w.putResource(address, object{"location": "eastus", "sku": object{"name": "Standard"},
		"properties": object{"publicIPAllocationMethod": "Static"}})
	all := []arm.ID{arm.ResourceGroupID(sub, "foreign"), foreign, address, theirs, zone, record, "", "/", "/subscriptions/" + sub}
	use := arm.Node{ID: foreign, Policy: arm.Observe, Foreign: arm.UseForeign, Group: "N"}
	named := subnetNode(theirs, "10.9.0.0/16")
	named.Foreign = arm.UseForeign

	request := w.newRequest(groupNode(), nsgNode(), use)
	request.Inventory = all
	outcome := w.convergeOnce(request)
	if len(outcome.Inventory) > 0 || len(outcome.IgnoredInventory) != len(all) {
		t.Errorf("no entry counts: %v of %v", outcome.IgnoredInventory, listStates(outcome))
	}
	if outcome = w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg", "PUT rg networkSecurityGroups/nsg"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
	request = w.newRequest(groupNode(), nsgNode(), use, named)
	request.Inventory, request.DeleteWholeGroups = all, true
	if outcome = w.deleteUntilDone(request, time.Minute); !outcome.IsDeleted() {
		t.Errorf("%v", listStates(outcome))
	}
	if diff := cmp.Diff([]string{"DELETE rg"}, w.listWrites()); diff != "" {
		t.Errorf("a planned subnet without its security group: %s", diff)
	}
	for _, id := range []arm.ID{foreign, theirs, address} {
		if w.getResource(id) == nil {
			t.Errorf("%s is gone", id)
		}
	}
}
