// Package pool plans the Azure resources of one pool of machines of a self-managed cluster: its scale set, and the role of
// the identity that its VMs share.
//
// It is pure: Plan, BuildDeletePlan, Check and Unsupported are functions of their input alone. Check and Unsupported are to be
// asked before a scale set is made or changed; when they find something, nothing is to be. What is done to single VMs is no
// part of a plan.
package pool

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildPlan is the desired state of the pool's resources. The error is that of input that Check refuses, or of a graph that does
// not hold together, which is a bug.
func BuildPlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	if err := addScaleSet(in, g); err != nil {
		return nil, err
	}
	if node, ok := vm.BuildRoleAssignment(in.AzureMachinePool.Spec.ManagedIdentities, ScaleSetID(in), "the scale set", in.PoolFacts.PrincipalID); ok {
		g.Add(node)
	}
	LastApplied(in).AddRemovals(g)
	return g, g.Validate()
}

// BuildDeletePlan names everything that may have been made for the pool; Azure deletes VMs and disks with the scale set. It needs
// only names: the MachinePool, the bootstrap data and the facts may be gone.
func BuildDeletePlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	g.Add(arm.Node{ID: ScaleSetID(in), Policy: arm.CreateOnly, Group: infrav1.ScaleSetRunningCondition})
	if id, ok := vm.RoleAssignmentID(in.AzureMachinePool.Spec.ManagedIdentities); ok {
		g.Add(arm.Node{ID: id, After: []arm.ID{ScaleSetID(in)}, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: infrav1.RoleAssignmentReadyCondition})
	}
	return g, g.Validate()
}
