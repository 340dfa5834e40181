package machine

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// roleAssignment plans the role of the VM's own identity.
func roleAssignment(in plan.MachineInput, g *arm.Graph) {
	node, ok := vm.RoleAssignment(in.AzureMachine.Spec.ManagedIdentities, plan.VMID(in), "the VM", in.MachineFacts.PrincipalID)
	if !ok {
		return
	}
	if takenover.Of(in.AzureMachine.Annotations).TakenOver() {
		// It carries no tag, and no inventory of the established provider names it: it goes with the machine all the same.
		node.Foreign = arm.AdoptForeign
	}
	g.Add(node)
}
