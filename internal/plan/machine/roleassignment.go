package machine

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// addRoleAssignment adds the role of the VM's own identity.
func addRoleAssignment(in plan.MachineInput, g *arm.Graph) {
	node, ok := vm.BuildRoleAssignment(in.AzureMachine.Spec.ManagedIdentities, plan.VMID(in), "the VM", in.MachineFacts.PrincipalID)
	if !ok {
		return
	}
	g.Add(node)
}
