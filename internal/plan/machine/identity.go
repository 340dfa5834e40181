package machine

import (
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildIdentityPatch returns the body of a PATCH that adds the missing identities of the spec to the observed VM, nil if
// none is missing. A PATCH adds to the list, and the system-assigned identity stays.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/update
func BuildIdentityPatch(in plan.MachineInput, observedVM json.RawMessage) *armcompute.VirtualMachineUpdate {
	missing := MissingIdentities(in, observedVM)
	if len(missing) == 0 {
		return nil
	}
	var observed struct {
		Identity struct {
			Type string `json:"type"`
		} `json:"identity"`
	}
	// MissingIdentities returns none for a body of another shape.
	_ = json.Unmarshal(observedVM, &observed)
	identity := &armcompute.VirtualMachineIdentity{
		Type:                   new(armcompute.ResourceIdentityTypeUserAssigned),
		UserAssignedIdentities: vm.ToAssignedIdentities(missing),
	}
	if strings.Contains(observed.Identity.Type, string(armcompute.ResourceIdentityTypeSystemAssigned)) {
		identity.Type = new(armcompute.ResourceIdentityTypeSystemAssignedUserAssigned)
	}
	return &armcompute.VirtualMachineUpdate{Identity: identity}
}
