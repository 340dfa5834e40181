package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// BuildDeletePlan returns the resources that the spec may have created in Azure. It needs no facts and accepts a spec that CheckSpec
// rejects: parts without a name are left out. The engine deletes the resources that carry the ownership tag, that are below such a
// resource, or that are in the inventory. It skips resources of other owners and adopted resources. Pools and extensions are deleted
// with the managed cluster.
func BuildDeletePlan(in Input) (*arm.Graph, error) {
	in.Facts, in.Pools = Facts{VNet: plan.VNetFact{}}, nil
	wanted := &arm.Graph{}
	addResourceGroups(in, wanted)
	addVirtualNetwork(in, wanted)
	addSubnet(in, wanted)
	wanted.Add(arm.Node{ID: ClusterID(in), After: []arm.ID{SubnetID(in)}, Policy: arm.Repair, Foreign: arm.AdoptForeign,
		Group: infrav1.ManagedClusterRunningCondition})
	addPrivateEndpoints(in, wanted)
	addFleetMember(in, wanted)
	addExtensions(in, wanted)
	return plan.BuildDeletion(wanted)
}

// BuildPoolDeletePlan returns the plan with the agent pool to delete.
func BuildPoolDeletePlan(in Input, pool Pool) (*arm.Graph, error) {
	wanted := &arm.Graph{}
	wanted.Add(arm.Node{ID: PoolID(in, pool), Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.AgentPoolsReadyCondition})
	return plan.BuildDeletion(wanted)
}
