package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// recordedTypes are the extensions. Of a machine's plan only they and tags can be removed by a later spec.
var recordedTypes = applied.Types{types.VirtualMachineExtension: infrav1.BootstrapSucceededCondition}

// ConditionForPruned returns the condition type that reports a resource which is no longer planned; "" for types that are
// never pruned. The inventory deletes role assignments, as long as the identity of the machine exists.
func ConditionForPruned(id arm.ID) string {
	if row, err := types.ForID(id); err == nil && row.Name == types.RoleAssignment {
		return infrav1.RoleAssignmentReadyCondition
	}
	return recordedTypes.Condition(id)
}

// LastApplied returns the resources and paths that earlier plans of the AzureMachine sent.
func LastApplied(in plan.MachineInput) applied.State {
	return applied.ReadState(in.AzureMachine.Annotations, applied.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes})
}
