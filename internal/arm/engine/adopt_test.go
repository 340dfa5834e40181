package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestAdopt hands over an existing resource: that costs no write, it is repaired from then on without an ownership tag, and is released
// in the end unless the request asks for its deletion.
func TestAdopt(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.listRequests()
	adopted := func(prefix string) arm.Node {
		return arm.Node{ID: vnet, Policy: arm.Repair, Group: "N", Foreign: arm.AdoptForeign, Body: object{"location": "eastus",
			"properties": object{"addressSpace": object{"addressPrefixes": []string{prefix}}}}}
	}

	outcome := w.convergeUntilDone(w.newRequest(adopted("10.0.0.0/8")), time.Minute)
	if writes := w.listWrites(); !outcome.IsDone() || len(writes) > 0 {
		t.Errorf("a resource that matches the plan is adopted without a write, got %v %v", listStates(outcome), writes)
	}
	if diff := cmp.Diff([]arm.ID{vnet}, outcome.Adopted); diff != "" || len(outcome.Inventory) > 0 || len(outcome.Changes) != 1 {
		t.Errorf("the adoption is recorded and reported: %+v %v %s", outcome.Changes, outcome.Inventory, diff)
	}

	request := w.newRequest(adopted("10.0.0.0/9"))
	request.Adopted = outcome.Adopted
	outcome = w.convergeUntilDone(request, time.Minute)
	if len(outcome.Changes) != 1 || outcome.Changes[0].Kind == arm.Adopted {
		t.Errorf("an adoption is reported once: %+v", outcome.Changes)
	}
	if diff := cmp.Diff([]string{"PUT rg virtualNetworks/vnet"}, w.listWrites()); diff != "" || !outcome.IsDone() {
		t.Errorf("drift of an adopted resource is repaired: %v %s", listStates(outcome), diff)
	}

	request = w.newRequest(arm.Node{ID: vnet, Policy: arm.Repair, Group: "N", Foreign: arm.AdoptForeign})
	request.Adopted, request.Inventory = outcome.Adopted, outcome.Adopted
	if outcome = w.deleteUntilDone(request, time.Minute); !outcome.IsDeleted() || len(w.listWrites()) > 0 {
		t.Errorf("an adopted resource is released: %v", listStates(outcome))
	}
	request.DeleteAdopted = true
	if outcome = w.deleteUntilDone(request, time.Minute); !outcome.IsDeleted() {
		t.Errorf("%v", listStates(outcome))
	}
	if diff := cmp.Diff([]string{"DELETE rg virtualNetworks/vnet"}, w.listWrites()); diff != "" {
		t.Errorf("an adopted resource is deleted on request: %s", diff)
	}
}

// TestTagRemovedDuringCreation removes the tag of a resource that this process has just created, before the caller knows of the
// creation: the tag counts as removed, and the resource is not adopted, since it would be kept when the cluster is deleted. A resource
// that is deleted and created by others is adopted.
func TestTagRemovedDuringCreation(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	node := vnetNode()
	node.Foreign = arm.AdoptForeign
	request := w.newRequest(node)
	w.convergeUntil(request, time.Minute, func(arm.Outcome) bool { return w.getResource(vnet) != nil })
	w.addFault(fault.Rule{Now: true, ID: string(vnet), Kind: fault.Edit, Patch: object{"tags": nil}})
	// Plans give no tags to foreign resources.
	delete(node.Body.(object), "tags")
	request = w.newRequest(node)
	request.BypassCache = true
	outcome := w.convergeUntilDone(request, time.Minute)
	if got := findResult(t, outcome, vnet); got.OwnershipTagRemoved == "" || len(outcome.Adopted) > 0 {
		t.Errorf("message about the removed tag %q, adopted %v", got.OwnershipTagRemoved, outcome.Adopted)
	}

	w.addFault(fault.Rule{Now: true, ID: string(vnet), Kind: fault.Remove})
	w.advanceClock(time.Hour)
	missing := arm.Node{ID: vnet, Policy: arm.Observe}
	w.convergeOnce(w.newRequest(missing))
	w.putResource(vnet, object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.advanceClock(time.Hour)
	outcome = w.convergeUntilDone(request, time.Minute)
	if diff := cmp.Diff([]arm.ID{vnet}, outcome.Adopted); diff != "" {
		t.Errorf("a resource that others created is adopted: %s", diff)
	}
}

// TestResourcesCreatedAlongNeedNoTag: resources that Azure creates along with another one, as the disks of migrated machines, never had
// the tag and cannot lose it.
func TestResourcesCreatedAlongNeedNoTag(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "d")
	w.putResource(disk, object{"location": "eastus", "properties": object{"diskSizeGB": 30, "creationData": object{"createOption": "Empty"}}})
	request := w.newRequest(arm.Node{ID: disk, Policy: arm.TagOnly, Group: "D", Body: object{}})
	request.Record = []arm.ID{disk}
	outcome := w.convergeUntilDone(request, time.Minute)
	if got := findResult(t, outcome, disk); got.OwnershipTagRemoved != "" || !outcome.IsDone() {
		t.Errorf("message about the removed tag %q, %+v", got.OwnershipTagRemoved, outcome.RootCauses())
	}
}

// TestOwnershipChangeAfterPlanBlocksWrite: a plan may be older than the read. A resource that was absent or tagged at the time of the
// plan is not written if others have created it, or removed the tag, since.
func TestOwnershipChangeAfterPlanBlocksWrite(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, object{"location": "eastus", "tags": object{"team": "b"},
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.listRequests()
	for name, made := range map[string]bool{"created by others": false, "its tag is removed": true} {
		t.Run(name, func(t *testing.T) {
			node := vnetNode()
			node.Foreign, node.PlannedWithTag = arm.AdoptForeign, true
			request := w.newRequest(node)
			if made {
				request.Record = []arm.ID{vnet}
			}
			outcome := w.convergeOnce(request)
			if got := findResult(t, outcome, vnet); got.State != arm.Waiting || !strings.Contains(got.Message, "planning again") ||
				len(outcome.Adopted) > 0 {
				t.Errorf("got %s %q, adopted %v", got.State, got.Message, outcome.Adopted)
			}
			if writes := w.listWrites(); len(writes) > 0 {
				t.Errorf("wrote %v", writes)
			}
		})
	}
}

// TestAdoptCreatesNothingWithoutTag: no resource is created without the ownership tag, also where an existing one would be adopted.
func TestAdoptCreatesNothingWithoutTag(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.listRequests()
	outcome := w.convergeOnce(w.newRequest(arm.Node{ID: vnet, Policy: arm.Repair, Group: "N", Foreign: arm.AdoptForeign,
		Body: object{"location": "eastus",
			"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}}}))
	if got := listStates(outcome)["virtualNetworks/vnet"]; got != arm.Failed || len(w.listWrites()) > 0 {
		t.Errorf("got %s", got)
	}
}

// TestResourcesOfAnotherClusterAreKept: a resource with another cluster's tag is not adopted, and a forged inventory neither changes
// nor deletes it.
func TestResourcesOfAnotherClusterAreKept(t *testing.T) {
	w := newWorld(t)
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, object{"location": "eastus", "tags": object{"sigs.k8s.io_cluster-api-provider-azure_cluster_other": "owned"},
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
	w.listRequests()
	node := arm.Node{ID: vnet, Policy: arm.Repair, Group: "N", Foreign: arm.AdoptForeign, Body: object{"location": "eastus",
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/9"}}}}}
	for name, inventory := range map[string][]arm.ID{"adopted": nil, "claimed by the inventory": {vnet},
		"claimed with its child": {vnet, vnet.Child("subnets", "s")}} {
		t.Run(name, func(t *testing.T) {
			request := w.newRequest(node)
			request.Inventory = inventory
			outcome := w.convergeOnce(request)
			result, _ := outcome.Result(vnet)
			if result.State != arm.Failed || !strings.Contains(fmt.Sprint(result.Err), "cluster_other=owned of another cluster") {
				t.Errorf("got %s: %v", result.State, result.Err)
			}
			w.deleteUntilDone(request, time.Minute)
			if writes := w.listWrites(); len(writes) > 0 {
				t.Errorf("got %v", writes)
			}
		})
	}
}
