package pool

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lastapplied"
)

// recordedTypes has the scale set for its backend pools and extensions: other programs add to the same lists.
var recordedTypes = lastapplied.Types{types.ScaleSet: ""}

// LastApplied returns the resources and paths that earlier plans of the AzureMachinePool sent.
func LastApplied(in Input) lastapplied.State {
	return lastapplied.Read(in.AzureMachinePool.Annotations, lastapplied.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes})
}
