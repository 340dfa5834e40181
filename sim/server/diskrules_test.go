package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	sharedDisk = comp + "/disks/shared"
	firstVM    = comp + "/virtualMachines/vm0"
	secondVM   = comp + "/virtualMachines/vm1"
)

// newDiskAzure has two machines and a disk.
func newDiskAzure(t *testing.T) *azure {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic1", newNIC("cp", nil))
	a.mustSucceed("PUT", secondVM, newVM("nic1", func(p obj) { delete(p["storageProfile"].(obj), "dataDisks") }))
	a.mustSucceed("PUT", sharedDisk, obj{"location": "westus3", "zones": []any{"1"}, "sku": obj{"name": "Premium_LRS"},
		"properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 100}})
	return a
}

// TestDiskOfTwoMachines attaches a disk to a second machine while the first one gets or loses it.
func TestDiskOfTwoMachines(t *testing.T) {
	listed := func(lun int) obj {
		return obj{"properties": obj{"storageProfile": obj{"dataDisks": []any{obj{"lun": lun, "createOption": "Attach", "managedDisk": newRef(sharedDisk)}}}}}
	}
	named := obj{"dataDisksToAttach": []any{obj{"diskId": sharedDisk}}}
	for name, first := range map[string]func(a *azure) response{
		"PATCH":  func(a *azure) response { return a.sendRequest("PATCH", firstVM, listed(5)) },
		"action": func(a *azure) response { return a.sendRequest("POST", firstVM+"/attachDetachDataDisks", named) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newDiskAzure(t)
			expectCode(t, "the first machine", first(a), "")
			const refused = "ConflictingUserInput"
			expectCode(t, "a PATCH meanwhile", a.sendRequest("PATCH", secondVM, listed(0)), refused)
			expectCode(t, "an action meanwhile", a.sendRequest("POST", secondVM+"/attachDetachDataDisks", named), refused)
			a.sim.Settle()
			expectCode(t, "a PATCH afterwards", a.sendRequest("PATCH", secondVM, listed(0)), refused)
			if owner := a.sendRequest("GET", sharedDisk, nil).valueAt("managedBy"); owner != firstVM {
				t.Errorf("the disk is that of %v, want %s", owner, firstVM)
			}
			expectCode(t, "the first machine gives it back", a.sendRequest("PATCH", firstVM, noDataDisks()), "")
			expectCode(t, "before it is detached", a.sendRequest("PATCH", secondVM, listed(0)), "AttachDiskWhileBeingDetached")
			a.sim.Settle()
			expectCode(t, "after it is detached", a.sendRequest("PATCH", secondVM, listed(0)), "")
		})
	}
}

// TestSizeOfADisk: a disk grows by a request for itself or for its machine, and never shrinks. What follows from the size follows it.
func TestSizeOfADisk(t *testing.T) {
	a := newDiskAzure(t)
	check := func(reason string, gib float64, tier string, operations float64) {
		t.Helper()
		r := a.sendRequest("GET", sharedDisk, nil)
		want := obj{"size": gib, "bytes": gib * (1 << 30), "tier": tier, "operations": operations}
		got := obj{"size": r.valueAt("properties.diskSizeGB"), "bytes": r.valueAt("properties.diskSizeBytes"),
			"tier": r.valueAt("properties.tier"), "operations": r.valueAt("properties.diskIOPSReadWrite")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	size := func(gib int) obj { return obj{"properties": obj{"diskSizeGB": gib}} }
	a.mustSucceed("PATCH", sharedDisk, size(200))
	check("a PATCH of the disk", 200, "P15", 1100)
	expectCode(t, "a PATCH that shrinks", a.sendRequest("PATCH", sharedDisk, size(100)), "OperationNotAllowed")
	attached := func(gib int) obj {
		return obj{"properties": obj{"storageProfile": obj{"dataDisks": []any{
			obj{"lun": 0, "createOption": "Attach", "diskSizeGB": gib, "managedDisk": newRef(sharedDisk)}}}}}
	}
	a.mustSucceed("PATCH", secondVM, attached(300))
	check("a PATCH of the machine", 300, "P20", 2300)
	expectCode(t, "a machine that shrinks its disk", a.sendRequest("PATCH", secondVM, attached(200)), "ResizeDiskError")
	a.mustSucceed("PATCH", sharedDisk, size(600))
	check("a PATCH of an attached disk", 600, "P30", 5000)
	machine := a.sendRequest("GET", secondVM, nil)
	if got := machine.valueAt("properties.storageProfile.dataDisks.0.diskSizeGB"); got != 600.0 {
		t.Errorf("the machine shows %v GiB, want 600", got)
	}
	expectCode(t, "what the machine showed", a.sendRequest("PUT", secondVM, machine.body), "")
	a.sim.Settle()
	expectCode(t, "an OS disk", a.sendRequest("PATCH", secondVM, obj{"properties": obj{"storageProfile": obj{"osDisk": obj{"diskSizeGB": 40}}}}),
		"ResizeDiskError")
	a.mustSucceed("PATCH", secondVM, noDataDisks())
	a.mustSucceed("PATCH", sharedDisk, obj{"sku": obj{"name": "StandardSSD_LRS"}})
	if tier := a.sendRequest("GET", sharedDisk, nil).valueAt("properties.tier"); tier != nil {
		t.Errorf("a standard disk has the tier %v", tier)
	}
}

func noDataDisks() obj { return obj{"properties": obj{"storageProfile": obj{"dataDisks": []any{}}}} }
