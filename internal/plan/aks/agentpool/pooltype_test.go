package agentpool

import "testing"

func TestUnsupportedType(t *testing.T) {
	for poolType, want := range map[string]bool{"": false, "VirtualMachineScaleSets": false, "virtualmachinescalesets": false, "VirtualMachines": true,
		"AvailabilitySet": true} {
		if got := UnsupportedType(poolType) != ""; got != want {
			t.Errorf("type %q is unsupported: %t", poolType, got)
		}
	}
}
