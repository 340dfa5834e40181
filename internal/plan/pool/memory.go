package pool

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// remembered has the scale set for its backend pools and extensions: other programs add theirs to the same lists.
var remembered = memory.Types{types.ScaleSet: ""}

// Memory is what plans of the AzureMachinePool have sent.
func Memory(in Input) memory.Memory {
	return memory.Of(in.AzureMachinePool.Annotations, memory.Scope{SubscriptionID: in.SubscriptionID, Types: remembered})
}
