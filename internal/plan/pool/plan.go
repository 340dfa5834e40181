// Package pool plans the Azure resources of one machine pool of a self-managed cluster: its scale set, and the role of the
// identity that its VMs share.
//
// It is pure: BuildPlan, BuildDeletePlan, CheckSpec, CheckScaleSetName and UnsupportedFields are functions of their input alone. The
// checks come before a scale set is created or changed; if they return errors, it must not be. Actions on
// single VMs are not part of a plan.
package pool

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// BuildPlan returns the desired state of the pool's resources. The error is a fault of the input that CheckSpec refuses,
// or an inconsistent graph, which is a bug.
func BuildPlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	if err := addScaleSet(in, g); err != nil {
		return nil, err
	}
	if node, ok := vm.BuildRoleAssignment(in.AzureMachinePool.Spec.ManagedIdentities, ScaleSetID(in), "the scale set",
		in.PoolFacts.PrincipalID); ok {
		g.Add(node)
	}
	if err := resetDropped(in, g, g.Node(ScaleSetID(in))); err != nil {
		return nil, err
	}
	LastApplied(in).AddRemovals(g)
	if err := denyNewVMs(in, g); err != nil {
		return nil, err
	}
	return g, g.Validate()
}

// BuildDeletePlan returns a node for everything that may have been created for the pool. Azure deletes VMs and disks with
// the scale set. It needs only names: the MachinePool, the bootstrap data and the facts may not exist any more.
func BuildDeletePlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	g.Add(arm.Node{ID: ScaleSetID(in), Policy: arm.CreateOnly, Group: infrav1.ScaleSetRunningCondition})
	if id, ok := vm.RoleAssignmentID(in.AzureMachinePool.Spec.ManagedIdentities); ok {
		g.Add(arm.Node{ID: id, After: []arm.ID{ScaleSetID(in)}, Policy: arm.CreateOnly, Group: infrav1.RoleAssignmentReadyCondition})
	}
	return g, g.Validate()
}
