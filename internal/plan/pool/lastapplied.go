package pool

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// recordedTypes has the scale set for its backend pools and extensions: other programs add to the same lists.
var recordedTypes = applied.Types{types.ScaleSet: ""}

// LastApplied returns the resources and paths that earlier plans of the AzureMachinePool sent.
func LastApplied(in Input) applied.State {
	return applied.ReadState(in.AzureMachinePool.Annotations, applied.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes})
}
