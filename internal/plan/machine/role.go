package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
)

// roleAssignment plans the role of the VM's own identity, which has a principal only once the VM exists.
func roleAssignment(in plan.MachineInput, g *arm.Graph) {
	id, ok := roleAssignmentID(in)
	if !ok {
		return
	}
	node := arm.Node{
		ID: id, After: []arm.ID{plan.VMID(in)}, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: infrav1.RoleAssignmentReadyCondition,
	}
	if takenover.Of(in.AzureMachine.Annotations).TakenOver() {
		// It carries no tag, and no inventory of the established provider names it: it goes with the machine all the same.
		node.Foreign = arm.AdoptForeign
	}
	if in.MachineFacts.PrincipalID == "" {
		node.Blocked = "the VM has no identity yet"
	} else {
		node.Body = armauthorization.RoleAssignmentCreateParameters{
			Properties: &armauthorization.RoleAssignmentProperties{
				PrincipalID:      new(in.MachineFacts.PrincipalID),
				PrincipalType:    new(armauthorization.PrincipalTypeServicePrincipal),
				RoleDefinitionID: new(in.AzureMachine.Spec.SystemAssignedIdentityRole.DefinitionID),
			},
		}
	}
	g.Add(node)
}

// roleAssignmentID is the role assignment of a machine with an identity of its own; ok is false when it asks for none.
func roleAssignmentID(in plan.MachineInput) (id arm.ID, ok bool) {
	spec := in.AzureMachine.Spec
	role := spec.SystemAssignedIdentityRole
	if spec.Identity != infrav1.VMIdentitySystemAssigned || role == nil || role.Name == "" || role.Scope == "" {
		return "", false
	}
	return arm.ID(role.Scope).Extension(types.RoleAssignment, role.Name), true
}
