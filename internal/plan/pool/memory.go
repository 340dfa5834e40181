package pool

import "sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"

// Memory is what plans of the AzureMachinePool have sent.
func Memory(in Input) memory.Memory {
	return memory.Of(in.AzureMachinePool.Annotations, memory.Scope{SubscriptionID: in.SubscriptionID})
}
