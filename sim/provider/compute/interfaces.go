package compute

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const interfacesPath = "properties.networkProfile.networkInterfaces"

// checkInterfaces checks the list of a machine's interfaces: one of several is the primary one, and the list of a machine that has hardware
// stays. https://learn.microsoft.com/azure/virtual-network/virtual-network-network-interface-vm; the first code is from memory, the second
// one is in public reports.
func checkInterfaces(d *provider.Draft) error {
	refs := body.Objects(d.New, interfacesPath)
	primaries := 0
	for _, ref := range refs {
		if body.Bool(ref, "properties.primary") {
			primaries++
		}
	}
	if len(refs) > 1 && primaries != 1 {
		return provider.NetworkError(400, "VirtualMachineMustHaveOneNetworkInterfaceAsPrimary",
			"Virtual machine %s must have one network interface set as the primary.", d.Name)
	}
	power := body.String(d.Secret, "power")
	if d.Old == nil || power == "" || power == "deallocated" {
		return nil
	}
	if !slices.Equal(sortedIDs(body.Objects(d.Old, interfacesPath)), sortedIDs(refs)) {
		return provider.NetworkError(400, "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotSupported",
			"Virtual machine %s must be stop-deallocated before network interfaces can be added to it or removed from it.", d.ID)
	}
	return nil
}

func sortedIDs(refs []body.Object) []string {
	var out []string
	for _, ref := range refs {
		out = append(out, store.Key(body.String(ref, "id")))
	}
	slices.Sort(out)
	return out
}
