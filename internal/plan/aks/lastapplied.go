package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// recordedTypes are the types of resources that a control plane's plans have, with the conditions of those that belong to one
// entry of the spec. Everything else has a name that cannot change.
var recordedTypes = memory.Types{
	types.ResourceGroup:    "",
	types.VirtualNetwork:   "",
	types.Subnet:           "",
	types.ManagedCluster:   "",
	types.PrivateEndpoint:  infrav1.PrivateEndpointsReadyCondition,
	types.FleetMember:      infrav1.FleetReadyCondition,
	types.ClusterExtension: infrav1.AKSExtensionsReadyCondition,
}

// ConditionForPruned is the condition under which a resource is reported that no plan has any more, because its entry is gone from the
// spec; "" for any other.
func ConditionForPruned(id arm.ID) string { return recordedTypes.Condition(id) }

// LastApplied is what plans of the control plane have sent.
func LastApplied(in Input) memory.Memory {
	return memory.Of(in.ControlPlane.Annotations, memory.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes, Self: ClusterID(in)})
}

// PoolLastApplied is what plans of a pool have sent.
func PoolLastApplied(in Input, pool Pool) memory.Memory {
	return memory.Of(pool.AzurePool.Annotations, memory.Scope{
		SubscriptionID: in.SubscriptionID, Types: memory.Types{types.AgentPool: ""}, Self: PoolID(in, pool),
	})
}
