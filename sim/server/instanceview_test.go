package server_test

import "testing"

// Requests may ask for the run-time state of machines in a list, of extensions and of capacity reservations.
func TestInstanceViews(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const group = comp + "/capacityReservationGroups/group"
	a.mustSucceed("PUT", group, obj{"location": "westus3", "zones": []any{"1"}})
	a.mustSucceed("PUT", group+"/capacityReservations/two", obj{"location": "westus3", "zones": []any{"1"}, "sku": obj{"name": "Standard_D2s_v3", "capacity": 2}})
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("node", nil))
	machine := newVM("nic0", func(p obj) { p["capacityReservation"] = obj{"capacityReservationGroup": newRef(group)} })
	machine["zones"] = []any{"1"}
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", machine)
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0/extensions/script", obj{"location": "westus3",
		"properties": obj{"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.1"}})
	for name, c := range map[string]struct {
		reason, path, value string
		want                any
	}{
		"machine":     {"a read of its own", comp + "/virtualMachines/vm0/instanceView?api-version=2025-04-01", "statuses.1.code", "PowerState/running"},
		"machines":    {"statusOnly", "/subscriptions/" + sub + "/providers/Microsoft.Compute/virtualMachines?api-version=2025-04-01&statusOnly=true", "value.0.properties.instanceView.statuses.1.code", "PowerState/running"},
		"list":        {"without it there is none", "/subscriptions/" + sub + "/providers/Microsoft.Compute/virtualMachines?api-version=2025-04-01", "value.0.properties.instanceView", nil},
		"extension":   {"expanded", comp + "/virtualMachines/vm0/extensions/script?api-version=2025-04-01&$expand=instanceView", "properties.instanceView.statuses.0.code", "ProvisioningState/succeeded"},
		"group":       {"with its reservations", group + "?api-version=2025-04-01&$expand=instanceView", "properties.instanceView.capacityReservations.0.name", "two"},
		"used":        {"by the machine", group + "/capacityReservations/two?api-version=2025-04-01&$expand=instanceView", "properties.instanceView.utilizationInfo.virtualMachinesAllocated.0.id", comp + "/virtualMachines/vm0"},
		"reservation": {"without it there is none", group + "/capacityReservations/two?api-version=2025-04-01", "properties.instanceView", nil},
	} {
		if got := a.sendRequest("GET", c.path, nil); got.status != 200 || got.valueAt(c.value) != c.want {
			t.Errorf("%s: %s: %d, %s is %v, want %v", name, c.reason, got.status, c.value, got.valueAt(c.value), c.want)
		}
	}
}
