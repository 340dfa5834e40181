package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// machineNodes returns the plan of the i-th machine: an interface, a VM with its disk and an extension.
func machineNodes(i int) []arm.Node {
	name := fmt.Sprintf("w%d", i)
	itsNIC := arm.NewID(sub, "rg", types.NetworkInterface, name)
	network, machine := nicNodeAlone(), vmNode()
	network.ID = itsNIC
	machine.ID, machine.After = arm.NewID(sub, "rg", types.VirtualMachine, name), []arm.ID{itsNIC}
	properties := machine.Body.(object)["properties"].(object)
	disk := properties["storageProfile"].(object)["osDisk"].(object)
	disk["name"] = name + "_OSDisk"
	properties["networkProfile"] = object{"networkInterfaces": []object{{"id": string(itsNIC), "properties": object{"primary": true}}}}
	return []arm.Node{network, machine,
		{ID: arm.NewID(sub, "rg", types.Disk, name+"_OSDisk"), Policy: arm.TagOnly, Group: "D", After: []arm.ID{machine.ID},
			Body: object{"location": "eastus", "tags": ownerTags()}},
		{ID: machine.ID.Child("extensions", "boot"), Policy: arm.Repair, Group: "E",
			Body: object{"location": "eastus", "tags": ownerTags(), "properties": object{
				"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.1",
				"settings": object{"a": "b"}}}},
	}
}

// deletionOf returns the plan of the deletion of a machine.
func deletionOf(machine engine.Request) engine.Request {
	network, vm, disk := machine.Graph.Nodes()[0].ID, machine.Graph.Nodes()[1].ID, machine.Graph.Nodes()[2].ID
	machine.Graph = &arm.Graph{}
	machine.Graph.Add(arm.Node{ID: disk}, arm.Node{ID: network}, arm.Node{ID: vm, After: []arm.ID{disk, network}})
	return machine
}

// worldWithMachines has a network and a number of machines, each with its own object.
func worldWithMachines(t *testing.T, count int) (w *world, cluster engine.Request, machines []engine.Request) {
	t.Helper()
	w, cluster = worldWith(t, networkNodes()...)
	cluster.DeleteWholeGroups, cluster.BypassCache = true, false
	for i := range count {
		request := w.newRequest(machineNodes(i)...)
		request.Object = fmt.Sprintf("AzureMachine/default/w%d", i)
		machines = append(machines, request)
	}
	return w, cluster, machines
}

// countRecords returns the entries of the engine after everything temporary has expired.
func (w *world) countRecords() map[string]int {
	w.t.Helper()
	for range 2 {
		w.sleepThrough(10 * time.Minute)
		if _, err := w.engine.Observe(context.Background(), w.client, []arm.ID{arm.ResourceGroupID(sub, "not-there")}, false,
			engine.ReadOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	out := w.engine.StateCounts()
	// The entry of the current read.
	out["entries"]--
	if out["entries"] == 0 {
		delete(out, "entries")
	}
	return out
}

// sleepThrough advances time, even if objects are woken.
func (w *world) sleepThrough(d time.Duration) {
	for until := w.clock.Now().Add(d); w.clock.Now().Before(until); {
		w.clock.stepTo(until)
	}
}

func TestStateOfDeletedResourcesIsDropped(t *testing.T) {
	const count = 5
	makeAll := func(w *world, machines []engine.Request) {
		for _, machine := range machines {
			if outcome := w.convergeUntilDone(machine, 10*time.Minute); !outcome.IsDone() {
				w.t.Fatalf("%+v", outcome.RootCauses())
			}
		}
	}
	deleted := func(w *world, request engine.Request) {
		if outcome := w.deleteUntilDone(request, 20*time.Minute); !outcome.IsDeleted() {
			w.t.Fatalf("%v", listStates(outcome))
		}
	}
	deleteGroup := func(w *world) {
		if _, err := w.client.Delete(context.Background(), group, "2021-04-01", nil); err != nil {
			w.t.Fatal(err)
		}
		w.sim.Settle()
	}
	tests := map[string]struct {
		reason string
		end    func(w *world, cluster engine.Request, machines []engine.Request)
	}{
		"one by one": {"each object's deletion deletes its own resources",
			func(w *world, cluster engine.Request, machines []engine.Request) {
				makeAll(w, machines)
				for _, machine := range machines {
					deleted(w, deletionOf(machine))
				}
				deleted(w, cluster)
			}},
		"with their group": {"their objects are gone", func(w *world, cluster engine.Request, machines []engine.Request) {
			makeAll(w, machines)
			deleted(w, cluster)
		}},
		"by another party": {"the group is found gone", func(w *world, cluster engine.Request, machines []engine.Request) {
			makeAll(w, machines)
			deleteGroup(w)
			deleted(w, cluster)
		}},
		"during their creation": {"running operations have no resource left",
			func(w *world, cluster engine.Request, machines []engine.Request) {
				for _, machine := range machines {
					w.convergeUntil(machine, 5*time.Minute, func(outcome arm.Outcome) bool {
						return outcome.Results[1].State == arm.Creating
					})
				}
				deleted(w, cluster)
			}},
		"while another party deletes the group": {"resources of running operations are absent",
			func(w *world, cluster engine.Request, machines []engine.Request) {
				for _, machine := range machines {
					w.convergeUntil(machine, 5*time.Minute, func(outcome arm.Outcome) bool {
						return outcome.Results[1].State == arm.Creating
					})
				}
				deleteGroup(w)
				deleted(w, cluster)
			}},
		"refused": {"the failure of a machine is dropped with its object",
			func(w *world, cluster engine.Request, machines []engine.Request) {
				w.addFault(fault.Rule{Method: "PUT", Type: types.VirtualMachine, Count: -1, Kind: fault.Status,
					Status: http.StatusConflict, Code: "OperationNotAllowed", Message: "quota"})
				for _, machine := range machines {
					w.convergeUntil(machine, time.Minute, func(outcome arm.Outcome) bool { return outcome.Results[1].Err != nil })
				}
				for _, machine := range machines {
					deleted(w, deletionOf(machine))
				}
				deleted(w, cluster)
			}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, cluster, machines := worldWithMachines(t, count)
			test.end(w, cluster, machines)
			if diff := cmp.Diff(map[string]int{}, w.countRecords()); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

// TestUnusedStateIsDropped lets existing resources drop out of all plans; it expects that the engine drops their state.
func TestUnusedStateIsDropped(t *testing.T) {
	w, _, machines := worldWithMachines(t, 3)
	for _, machine := range machines {
		if outcome := w.convergeUntilDone(machine, 10*time.Minute); !outcome.IsDone() {
			t.Fatalf("%+v", outcome.RootCauses())
		}
	}
	before := w.countRecords()["records"]
	w.sleepThrough(23 * time.Hour)
	if outcome := w.convergeUntilDone(machines[0], 0); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if got := w.countRecords()["records"]; got != before {
		t.Errorf("%d records became %d within a day", before, got)
	}
	w.sleepThrough(2 * time.Hour)
	if outcome := w.convergeUntilDone(machines[0], 0); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	// The extension has the state of its PUT, the others that of resources that are not changed in place.
	if got := w.countRecords()["records"]; got != len(machineNodes(0)) {
		t.Errorf("%d states are left, want those of the one reconciled machine", got)
	}
}
