package server_test

import "testing"

// TestPropertiesThatCannotBeAddedLater: what a resource was created without stays away.
func TestPropertiesThatCannotBeAddedLater(t *testing.T) {
	const zones = "ResourceAvailabilityZonesCannotBeModified/"
	bastion := obj{"location": "westus3", "properties": obj{"ipConfigurations": []any{obj{"name": "c", "properties": obj{
		"subnet": newRef(net + "/virtualNetworks/vnet/subnets/AzureBastionSubnet"), "publicIPAddress": newRef(net + "/publicIPAddresses/pip")}}}}}
	disk := obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}}
	for name, tc := range map[string]struct {
		path string
		body obj
		code string
	}{
		"public IP address": {net + "/publicIPAddresses/ip", obj{"location": "westus3", "sku": obj{"name": "Standard"},
			"properties": obj{"publicIPAllocationMethod": "Static"}}, zones},
		"prefix": {net + "/publicIPPrefixes/prefix", obj{"location": "westus3", "sku": obj{"name": "Standard"},
			"properties": obj{"prefixLength": 30}}, zones},
		"NAT gateway":  {net + "/natGateways/nat", obj{"location": "westus3", "sku": obj{"name": "Standard"}}, zones},
		"bastion host": {net + "/bastionHosts/bastion", bastion, zones},
		"disk":         {comp + "/disks/disk", disk, "PropertyChangeNotAllowed"},
		"reservations": {comp + "/capacityReservationGroups/crg", obj{"location": "westus3"}, "PropertyChangeNotAllowed"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.createBase()
			a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/AzureBastionSubnet", obj{"properties": obj{"addressPrefix": "10.2.0.0/24"}})
			a.mustSucceed("PUT", net+"/publicIPAddresses/pip", publicIP("bastion"))
			with := func(zones ...any) obj {
				out := obj{"zones": zones}
				for k, v := range tc.body {
					out[k] = v
				}
				return out
			}
			a.mustSucceed("PUT", tc.path, tc.body)
			expectCode(t, "regional to zonal", a.sendRequest("PUT", tc.path, with("1")), tc.code)
			expectCode(t, "unchanged", a.sendRequest("PUT", tc.path, tc.body), "")
			a.sim.Settle()
			a.mustSucceed("DELETE", tc.path, nil)
			a.mustSucceed("PUT", tc.path, with("1"))
			expectCode(t, "another zone", a.sendRequest("PUT", tc.path, with("2")), tc.code)
			expectCode(t, "unchanged", a.sendRequest("PUT", tc.path, with("1")), "")
			a.sim.Settle()
			if tc.code == zones {
				expectCode(t, "the network provider takes missing zones for none", a.sendRequest("PUT", tc.path, tc.body), zones)
			}
		})
	}
}

func TestPropertiesThatMachinesCannotGetLater(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", comp+"/availabilitySets/set", obj{"location": "westus3", "sku": obj{"name": "Aligned"}})
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	machine := func(change func(p obj)) obj {
		vm := newVM("nic0", change)
		delete(vm, "zones")
		return vm
	}
	path := comp + "/virtualMachines/vm0"
	a.mustSucceed("PUT", path, machine(nil))
	zonal := machine(nil)
	zonal["zones"] = []any{"1"}
	const refused = "PropertyChangeNotAllowed"
	expectCode(t, "regional to zonal", a.sendRequest("PUT", path, zonal), refused)
	expectCode(t, "regular to spot", a.sendRequest("PUT", path, machine(setProperty("priority", "Spot"))), refused)
	expectCode(t, "an availability set", a.sendRequest("PUT", path,
		machine(setProperty("availabilitySet", newRef(comp+"/availabilitySets/set")))), refused)
	expectCode(t, "Regular is what it is", a.sendRequest("PUT", path, machine(setProperty("priority", "Regular"))), "")
}
