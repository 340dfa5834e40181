package machine

import (
	"encoding/json"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// VMState returns the provisioningState of an observed VM: Creating, Updating, Succeeded, Failed, Deleting, ...; "" if the
// body has none.
func VMState(vm json.RawMessage) string {
	var observed struct {
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}
	if json.Unmarshal(vm, &observed) != nil {
		return ""
	}
	return observed.Properties.ProvisioningState
}

// Zone returns the availability zone of an observed VM, "" for none.
func Zone(vm json.RawMessage) string {
	var observed struct {
		Zones []string `json:"zones"`
	}
	if json.Unmarshal(vm, &observed) != nil || len(observed.Zones) == 0 {
		return ""
	}
	return observed.Zones[0]
}

// MissingIdentities returns the identities of the spec that the observed VM does not have. Additional identities of the VM
// are accepted.
func MissingIdentities(in plan.MachineInput, observedVM json.RawMessage) []string {
	var observed struct {
		Identity struct {
			UserAssignedIdentities map[string]json.RawMessage `json:"userAssignedIdentities"`
		} `json:"identity"`
	}
	if in.AzureMachine.Spec.Identity != infrav1.VMIdentityUserAssigned || json.Unmarshal(observedVM, &observed) != nil {
		return nil
	}
	have := map[string]bool{}
	for id := range observed.Identity.UserAssignedIdentities {
		have[strings.ToLower(id)] = true
	}
	var missing []string
	for _, id := range vm.IdentityIDs(in.AzureMachine.Spec.ManagedIdentities) {
		if !have[strings.ToLower(id)] {
			missing = append(missing, id)
		}
	}
	return missing
}

// MachineAddresses returns the machine's addresses in the outcome of a convergence: the VM's name, the private address of
// every IP configuration in the order of the interfaces, and the public address.
func MachineAddresses(in plan.MachineInput, outcome arm.Outcome) []clusterv1.MachineAddress {
	addresses := []clusterv1.MachineAddress{{Type: clusterv1.MachineInternalDNS, Address: plan.VMName(in)}}
	for _, id := range nicIDs(in) {
		result, _ := outcome.Result(id)
		for _, ip := range privateIPs(result.Observed) {
			addresses = append(addresses, clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: ip})
		}
	}
	result, _ := outcome.Result(plan.NodePublicIPID(in))
	if ip := publicAddress(result.Observed); ip != "" {
		addresses = append(addresses, clusterv1.MachineAddress{Type: clusterv1.MachineExternalIP, Address: ip})
	}
	return addresses
}

// privateIPs returns the addresses of an observed interface, the primary configuration's first.
func privateIPs(nic json.RawMessage) []string {
	var observed struct {
		Properties struct {
			IPConfigurations []struct {
				Properties struct {
					PrivateIPAddress string `json:"privateIPAddress"`
					Primary          bool   `json:"primary"`
				} `json:"properties"`
			} `json:"ipConfigurations"`
		} `json:"properties"`
	}
	if json.Unmarshal(nic, &observed) != nil {
		return nil
	}
	var out []string
	for _, configuration := range observed.Properties.IPConfigurations {
		switch ip := configuration.Properties.PrivateIPAddress; {
		case ip == "":
		case configuration.Properties.Primary:
			out = slices.Insert(out, 0, ip)
		default:
			out = append(out, ip)
		}
	}
	return out
}

func publicAddress(address json.RawMessage) string {
	var observed struct {
		Properties struct {
			IPAddress string `json:"ipAddress"`
		} `json:"properties"`
	}
	if json.Unmarshal(address, &observed) != nil {
		return ""
	}
	return observed.Properties.IPAddress
}
