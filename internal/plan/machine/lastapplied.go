package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lastapplied"
)

// recordedTypes are the extensions, which are what a later spec of a machine may want no more beside tags.
var recordedTypes = lastapplied.Types{types.VirtualMachineExtension: infrav1.BootstrapSucceededCondition}

// ConditionForPruned is the condition that a resource reports into that no plan has any more, "" for one that never goes. Role
// assignments go by the inventory.
func ConditionForPruned(id arm.ID) string {
	if row, err := types.ForID(id); err == nil && row.Name == types.RoleAssignment {
		return infrav1.RoleAssignmentReadyCondition
	}
	return recordedTypes.Condition(id)
}

// LastApplied is what plans of the AzureMachine have sent.
func LastApplied(in plan.MachineInput) lastapplied.State {
	return lastapplied.Read(in.AzureMachine.Annotations, lastapplied.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes})
}
