package server_test

import "testing"

// TestInterfacesOfAMachineThatRuns: they come and go only while the machine has no hardware.
func TestInterfacesOfAMachineThatRuns(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic1", newNIC("cp", nil))
	const machine = comp + "/virtualMachines/vm0"
	both := newVM("nic0", setProperty("networkProfile", obj{"networkInterfaces": []any{
		obj{"id": net + "/networkInterfaces/nic0", "properties": obj{"primary": true}},
		obj{"id": net + "/networkInterfaces/nic1", "properties": obj{"primary": false}}}}))
	const refused = "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotSupported/"
	expectCode(t, "the same interface", a.sendRequest("PUT", machine, newVM("nic0", nil)), "")
	a.sim.Settle()
	expectCode(t, "one more", a.sendRequest("PUT", machine, both), refused)
	expectCode(t, "another one", a.sendRequest("PUT", machine, newVM("nic1", nil)), refused)
	a.mustSucceed("POST", machine+"/powerOff", nil)
	expectCode(t, "a stopped machine keeps its hardware", a.sendRequest("PUT", machine, both), refused)
	a.mustSucceed("POST", machine+"/deallocate", nil)
	a.mustSucceed("PUT", machine, both)
	a.mustSucceed("POST", machine+"/start", nil)
	expectCode(t, "one less", a.sendRequest("PUT", machine, newVM("nic0", nil)), refused)
}
