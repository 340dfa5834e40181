package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// BuildDeletePlan names everything that the spec may have made in Azure. It needs no facts and takes a spec that Check refuses:
// what cannot be named is left out. The engine deletes of it what carries the ownership tag, is below something that does,
// or is in the inventory; what is somebody else's is no obstacle, and neither is what was adopted. Pools and extensions go with the managed cluster.
func BuildDeletePlan(in Input) (*arm.Graph, error) {
	in.Facts, in.Pools = Facts{VNet: plan.VNetFact{}}, nil
	wanted := &arm.Graph{}
	addResourceGroups(in, wanted)
	addVirtualNetwork(in, wanted)
	addSubnet(in, wanted)
	wanted.Add(arm.Node{ID: ClusterID(in), After: []arm.ID{SubnetID(in)}, Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.ManagedClusterRunningCondition})
	addPrivateEndpoints(in, wanted)
	addFleetMember(in, wanted)
	addExtensions(in, wanted)
	return plan.Deletion(wanted)
}

// BuildPoolDeletePlan names the agent pool.
func BuildPoolDeletePlan(in Input, pool Pool) (*arm.Graph, error) {
	wanted := &arm.Graph{}
	wanted.Add(arm.Node{ID: PoolID(in, pool), Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.AgentPoolsReadyCondition})
	return plan.Deletion(wanted)
}
