package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// recordedTypes are the resource types in plans of a control plane. The value is the condition of types with a resource per entry of
// the spec. Resources of other types have names that cannot change.
var recordedTypes = applied.Types{
	types.ResourceGroup:    "",
	types.VirtualNetwork:   "",
	types.Subnet:           "",
	types.ManagedCluster:   "",
	types.PrivateEndpoint:  infrav1.PrivateEndpointsReadyCondition,
	types.FleetMember:      infrav1.FleetReadyCondition,
	types.ClusterExtension: infrav1.AKSExtensionsReadyCondition,
}

// ConditionForPruned returns the condition that reports a resource whose entry was removed from the spec, "" for other resources.
func ConditionForPruned(id arm.ID) string { return recordedTypes.Condition(id) }

// LastApplied returns the lastApplied of the control plane: the values that earlier plans sent.
func LastApplied(in Input) applied.State {
	return applied.ReadState(in.ControlPlane.Annotations, applied.Scope{SubscriptionID: in.SubscriptionID, Types: recordedTypes})
}

// PoolLastApplied returns the lastApplied of the pool: the values that earlier plans sent.
func PoolLastApplied(in Input, pool Pool) applied.State {
	return applied.ReadState(pool.AzurePool.Annotations, applied.Scope{
		SubscriptionID: in.SubscriptionID, Types: applied.Types{types.AgentPool: ""},
	})
}
