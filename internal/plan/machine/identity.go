package machine

import (
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildIdentityPatch is the body of a PATCH that gives the observed VM the identities of the spec that it lacks; nil when it has
// them all. A PATCH adds to the list, and an identity that the VM has of itself stays.
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
	// A body of another shape has been found to lack nothing.
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
