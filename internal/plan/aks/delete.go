package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// DeletePlan names everything that the spec may have made in Azure. It needs no facts and takes a spec that Check refuses:
// what cannot be named is left out. The engine deletes of it what carries the ownership tag, is below something that does,
// or is in the inventory; what is somebody else's is no obstacle, and neither is what was adopted. Pools and extensions go with the managed cluster.
func DeletePlan(in Input) (*arm.Graph, error) {
	in.Facts, in.Pools = Facts{VNet: plan.VNetFact{}}, nil
	wanted := &arm.Graph{}
	resourceGroups(in, wanted)
	virtualNetwork(in, wanted)
	subnet(in, wanted)
	wanted.Add(arm.Node{ID: ClusterID(in), After: []arm.ID{SubnetID(in)}, Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.ManagedClusterRunningCondition})
	privateEndpoints(in, wanted)
	fleetMember(in, wanted)
	extensions(in, wanted)
	return plan.Deletion(wanted)
}

// PoolDeletePlan names the agent pool.
func PoolDeletePlan(in Input, pool Pool) (*arm.Graph, error) {
	wanted := &arm.Graph{}
	wanted.Add(arm.Node{ID: PoolID(in, pool), Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.AgentPoolsReadyCondition})
	return plan.Deletion(wanted)
}
