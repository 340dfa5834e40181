package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// remembered are the extensions, which are what a later spec of a machine may want no more beside tags.
var remembered = memory.Types{types.VirtualMachineExtension: infrav1.BootstrapSucceededCondition}

// Group is the condition that a resource reports into that no plan has any more, "" for one that never goes. Role
// assignments go by the inventory.
func Group(id arm.ID) string {
	if row, err := types.ForID(id); err == nil && row.Name == types.RoleAssignment {
		return infrav1.RoleAssignmentReadyCondition
	}
	return remembered.Condition(id)
}

// Memory is what plans of the AzureMachine have sent.
func Memory(in plan.MachineInput) memory.Memory {
	return memory.Of(in.AzureMachine.Annotations, memory.Scope{SubscriptionID: in.SubscriptionID, Types: remembered})
}
