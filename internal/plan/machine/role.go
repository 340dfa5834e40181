package machine

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// roleAssignment plans the role of the VM's own identity.
func roleAssignment(in plan.MachineInput, g *arm.Graph) {
	node, ok := vm.RoleAssignment(in.AzureMachine.Spec.ManagedIdentities, plan.VMID(in), "the VM", in.MachineFacts.PrincipalID)
	if !ok {
		return
	}
	g.Add(node)
}
