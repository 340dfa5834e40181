package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

var vm = arm.NewID(sub, "rg", "Microsoft.Compute/virtualMachines", "vm")

func vmNode() arm.Node {
	return arm.Node{ID: vm, Policy: arm.CreateOnly, Group: "VM", After: []arm.ID{nic},
		Body: object{"location": "eastus", "tags": ownerTags(), "properties": object{
			"hardwareProfile": object{"vmSize": "Standard_D2s_v3"},
			"storageProfile": object{
				"imageReference": object{"publisher": "Canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts-gen2",
					"version": "latest"},
				"osDisk": object{"name": "vm_OSDisk", "createOption": "FromImage", "diskSizeGB": 128,
					"managedDisk": object{"storageAccountType": "Premium_LRS"}, "deleteOption": "Delete"}},
			"osProfile": object{"computerName": "vm", "adminUsername": "capi", "customData": "I2Nsb3VkLWNvbmZpZw==",
				"linuxConfiguration": object{"disablePasswordAuthentication": true,
					"ssh": object{"publicKeys": []object{{"path": "/home/capi/.ssh/authorized_keys", "keyData": sshKey}}}}},
			"networkProfile": object{"networkInterfaces": []object{{"id": string(nic), "properties": object{"primary": true}}}},
		}}}
}

const sshKey = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA8cMNUn6hoWqkGCrLpl1mYhBLYgsYpu0QHWlaEVpVmxFTzXX4dHKdFSM5bYYVd3XnYtUrRUFz7GCVAqzBuUWBGjvjTKz3Iq5kvJ6HcD3bmeYB1yRPnDyNGIsYX7HWVwQG3E4w3EeePVLoRnkaFLOHoE8CqZpE0rEx0s= test"

func machineWithNetworkNodes() []arm.Node { return append(networkNodes(), nicNode(), vmNode()) }

func TestMachine(t *testing.T) {
	w, request := worldWith(t, machineWithNetworkNodes()...)
	request.BypassCache = true
	if outcome := w.convergeUntilDone(request, 0); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	} else if got := findResult(t, outcome, vm); len(got.Drift) > 0 {
		t.Errorf("write-only values are no drift: %v", got.Drift)
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("wrote %v", writes)
	}
	if outcome := w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() {
		t.Fatalf("%v", listStates(outcome))
	}
	if writes := w.listWrites(); !slices.Contains(writes, "DELETE rg virtualMachines/vm?forceDeletion=true") {
		t.Errorf("deleted %v", writes)
	}
}

func TestFailedMachineIsNotCreatedAgain(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "PUT", ID: "*/virtualmachines/vm", Kind: fault.Allocate})
	request := w.newRequest(machineWithNetworkNodes()...)
	failed := func(outcome arm.Outcome) bool { return listStates(outcome)["virtualMachines/vm"] == arm.Failed }
	got := findResult(t, w.convergeUntil(request, 5*time.Minute, failed), vm)
	if got.State != arm.Failed || codeOf(got.Err) != "AllocationFailed" || !strings.Contains(got.Err.Error(), "sufficient capacity") {
		t.Errorf("%s %v", got.State, got.Err)
	}
	w.restartEngine()
	got = findResult(t, w.convergeUntil(request, 5*time.Minute, failed), vm)
	if code := codeOf(got.Err); got.State != arm.Failed || code == "" || code == engine.CodeProvisioningFailed {
		t.Errorf("after a restart the instance view has the code: %s %v", got.State, got.Err)
	}
	w.restartEngine()
	w.convergeUntil(request, time.Hour, arm.Outcome.IsDone)
	puts := slices.DeleteFunc(w.listWrites(), func(line string) bool { return line != "PUT rg virtualMachines/vm" })
	if diff := cmp.Diff([]string{"PUT rg virtualMachines/vm"}, puts); diff != "" {
		t.Error(diff)
	}
}

func TestMachineInCreationCanBeDeleted(t *testing.T) {
	w := newWorld(t)
	request := w.newRequest(machineWithNetworkNodes()...)
	w.convergeUntil(request, 5*time.Minute,
		func(outcome arm.Outcome) bool { return listStates(outcome)["virtualMachines/vm"] == arm.Creating })
	w.listWrites()
	outcome := w.deleteUntilDone(w.newRequest(nicNodeAlone(), vmNode()), 10*time.Minute)
	if !outcome.IsDeleted() {
		t.Fatalf("%v", listStates(outcome))
	}
	writes := w.listWrites()
	if diff := cmp.Diff([]string{"DELETE rg networkInterfaces/nic", "DELETE rg virtualMachines/vm?forceDeletion=true"},
		slices.Compact(sortLines(writes))); diff != "" {
		t.Error(diff)
	}
}

// nicNodeAlone returns the interface in a machine's own plan; the subnet belongs to the cluster's plan.
func nicNodeAlone() arm.Node {
	node := nicNode()
	node.After = nil
	return node
}

func TestFailedInterfaceIsSentOnceMore(t *testing.T) {
	w, request := worldWith(t, append(networkNodes(), nicNode())...)
	w.addFault(fault.Rule{Now: true, ID: string(nic), Kind: fault.Edit,
		Patch: map[string]any{"properties": map[string]any{"provisioningState": "Failed"}}})
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg networkInterfaces/nic"}, w.listWrites()); diff != "" {
		t.Error(diff)
	}
}

func TestDiskCreatedWithMachineIsDeleted(t *testing.T) {
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "vm_OSDisk")
	kept := vmNode()
	delete(kept.Body.(object)["properties"].(object)["storageProfile"].(object)["osDisk"].(object), "deleteOption")
	w := newWorld(t)
	// Reads from before the creation of the machine must not count after it, however long reads are shared.
	w.engine = engine.New(engine.Options{Clock: w.clock, Freshness: time.Hour})
	nodes := append(networkNodes(), nicNode(), kept)
	if outcome := w.convergeUntilDone(w.newRequest(nodes[:len(nodes)-1]...), time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if found, err := w.engine.Observe(t.Context(), w.client, []arm.ID{disk}, false, engine.ReadOptions{}); err != nil ||
		found[disk.Key()].Exists {
		t.Fatalf("%+v, %v", found, err)
	}
	if outcome := w.convergeUntilDone(w.newRequest(nodes...), 10*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listWrites()
	gone := func(id arm.ID, after ...arm.ID) arm.Node {
		return arm.Node{ID: id, Policy: arm.CreateOnly, After: after}
	}
	request := w.newRequest(gone(disk), gone(nic), gone(vm, disk, nic))
	request.Inventory = []arm.ID{disk}
	if outcome := w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() || len(outcome.Inventory) > 0 {
		t.Fatalf("%v %v", listStates(outcome), outcome.Inventory)
	}
	if diff := cmp.Diff([]string{"DELETE rg disks/vm_OSDisk", "DELETE rg networkInterfaces/nic",
		"DELETE rg virtualMachines/vm?forceDeletion=true"}, sortLines(w.listWrites())); diff != "" {
		t.Error(diff)
	}
}

// TestReadOfAMachineHasItsPowerState: the one read of a convergence has the power state, without a request of its own.
func TestReadOfAMachineHasItsPowerState(t *testing.T) {
	w, request := worldWith(t, machineWithNetworkNodes()...)
	for _, power := range []string{"PowerState/running", "PowerState/deallocated"} {
		if power == "PowerState/deallocated" {
			if _, err := w.client.Do(t.Context(),
				client.Request{Method: "POST", ID: vm, SubPath: "deallocate", APIVersion: "2025-04-01"}); err != nil {
				t.Fatal(err)
			}
			w.sim.Settle()
			w.listRequests()
		}
		outcome := w.convergeUntilDone(request, time.Minute)
		if got := findResult(t, outcome, vm); got.State != arm.Ready || len(got.Drift) > 0 || !strings.Contains(string(got.Observed), power) {
			t.Errorf("%s is not in %s %v %s", power, got.State, got.Drift, got.Observed)
		}
		writes, reads := w.listRequests()
		reads = slices.DeleteFunc(reads, func(line string) bool { return !strings.Contains(line, "virtualMachines") })
		if diff := cmp.Diff([]string{"GET rg virtualMachines/vm"}, reads); diff != "" || len(writes) > 0 {
			t.Errorf("wrote %v, reads (-want +got):\n%s", writes, diff)
		}
	}
}

// TestDiskCreatedWithMachineKeepsTags plans a disk for its tags alone; it expects that the disk is not created before the VM, and that
// changed or removed tags are repaired while tags of others are kept.
func TestDiskCreatedWithMachineKeepsTags(t *testing.T) {
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "vm_OSDisk")
	kept := vmNode()
	delete(kept.Body.(object)["properties"].(object)["storageProfile"].(object)["osDisk"].(object), "deleteOption")
	tags := arm.Node{ID: disk, Policy: arm.TagOnly, After: []arm.ID{vm}, Body: object{"tags": kept.Body.(object)["tags"]},
		DropTags: []string{"old"}}
	w, request := worldWith(t, append(networkNodes(), nicNode(), kept, tags)...)
	w.listWrites()
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() || len(w.listWrites()) > 0 {
		t.Fatalf("the disk has the tags of its VM from the beginning: %v", outcome.RootCauses())
	}
	w.addFault(fault.Rule{Now: true, ID: string(disk), Kind: fault.Edit,
		Patch: map[string]any{"tags": map[string]any{owner.TagKey: "x", "old": "1", "theirs": "2"}}})
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	want := []string{"PATCH rg disks/vm_OSDisk/providers/Microsoft.Resources/tags/default",
		"PATCH rg disks/vm_OSDisk/providers/Microsoft.Resources/tags/default"}
	if diff := cmp.Diff(want, w.listWrites()); diff != "" {
		t.Errorf("one merges, one deletes (-want +got):\n%s", diff)
	}
	found, err := w.engine.Observe(t.Context(), w.client, []arm.ID{disk}, true, engine.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if body := string(found[disk.Key()].Body); !strings.Contains(body, `"theirs":"2"`) || strings.Contains(body, `"old"`) ||
		strings.Contains(body, `"x"`) {
		t.Errorf("tags of the disk: %s", body)
	}
}

// TestDiskTagsChangeWithThoseOfTheMachine changes the tags of a VM and of its disk in one convergence: a running write of the VM does
// not mean that the disk is absent.
func TestDiskTagsChangeWithThoseOfTheMachine(t *testing.T) {
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "vm_OSDisk")
	kept := vmNode()
	delete(kept.Body.(object)["properties"].(object)["storageProfile"].(object)["osDisk"].(object), "deleteOption")
	tagsOf := func() arm.Node {
		return arm.Node{ID: disk, Policy: arm.TagOnly, After: []arm.ID{vm}, Body: object{"tags": kept.Body.(object)["tags"]}}
	}
	w, _ := worldWith(t, append(networkNodes(), nicNode(), kept, tagsOf())...)
	kept.Body.(object)["tags"] = object{owner.TagKey: owner.TagValue, "team": "blue"}
	w.advanceClock(10 * time.Minute)
	w.listWrites()
	if outcome := w.convergeUntilDone(w.newRequest(append(networkNodes(), nicNode(), kept, tagsOf())...), time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	want := []string{"PATCH rg disks/vm_OSDisk/providers/Microsoft.Resources/tags/default",
		"PATCH rg virtualMachines/vm/providers/Microsoft.Resources/tags/default"}
	if diff := cmp.Diff(want, sortLines(w.listWrites())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDiskOfARefusedMachine lets Azure refuse the VM; it expects that its disk, which does not exist, is not ready, and that the message
// names the VM.
func TestDiskOfARefusedMachine(t *testing.T) {
	w := newWorld(t)
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "vm_OSDisk")
	tags := arm.Node{ID: disk, Policy: arm.TagOnly, Group: "Disks", After: []arm.ID{vm}, Body: object{"tags": ownerTags()}}
	w.addFault(fault.Rule{Method: "PUT", ID: "*/virtualmachines/vm", Kind: fault.Quota, Count: -1})
	refused := func(outcome arm.Outcome) bool { return listStates(outcome)["virtualMachines/vm"] == arm.Failed }
	for _, fresh := range []bool{false, true} {
		request := w.newRequest(append(machineWithNetworkNodes(), tags)...)
		request.BypassCache = fresh
		got := findResult(t, w.convergeUntil(request, 5*time.Minute, refused), disk)
		if got.State != arm.Blocked || got.BlockedBy != vm || got.Message != "is created with virtualMachines/vm" {
			t.Errorf("BypassCache %t: the disk is %s, %q, blocked by %s", fresh, got.State, got.Message, got.BlockedBy)
		}
	}
}

// TestReadFailureOfMachineAndDisk lets reads of existing resources fail; it expects that nothing is known of the machine, nor of the disk
// that is created with it.
func TestReadFailureOfMachineAndDisk(t *testing.T) {
	disk := arm.NewID(sub, "rg", "Microsoft.Compute/disks", "vm_OSDisk")
	tags := arm.Node{ID: disk, Policy: arm.TagOnly, Group: "Disks", After: []arm.ID{vm}, Body: object{"tags": ownerTags()}}
	tests := map[string]struct {
		reason string
		rule   fault.Rule
	}{
		"server error": {"each resource fails by itself", fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable"}},
		"refused": {"an error of every request needs one request",
			fault.Rule{Kind: fault.Status, Status: 404, Code: "SubscriptionNotFound"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, append(machineWithNetworkNodes(), tags)...)
			test.rule.Method, test.rule.Count = "GET", -1
			w.addFault(test.rule)
			w.clock.stepTo(w.clock.Now().Add(time.Hour))
			for _, got := range w.convergeOnce(request).Results {
				if !got.ReadFailed || got.IsDone() {
					t.Errorf("%s: %s is %s, although it was not read", test.reason, got.ID.ShortName(), got.State)
				}
			}
		})
	}
}
