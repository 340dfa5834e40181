// Package pool plans the Azure resources of one machine pool of a self-managed cluster: its scale set, and the role of the
// identity that its VMs share.
//
// It is pure: BuildPlan, BuildDeletePlan, CheckSpec, CheckScaleSetName and UnsupportedFields are functions of their input alone. The
// checks come before a scale set is created or changed; if they return errors, it must not be. Actions on
// single VMs are not part of a plan.
package pool

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
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
	keepIdentity(in, g)
	if err := resetDropped(in, g, g.Node(ScaleSetID(in))); err != nil {
		return nil, err
	}
	LastApplied(in).AddRemovals(g)
	if err := denyNewVMs(in, g); err != nil {
		return nil, err
	}
	return g, g.Validate()
}

// keepIdentity lets an existing scale set keep the identity of an earlier plan while a role assignment of it exists. The identity is the
// only proof in Azure that the assignment was created for the pool: without it, the assignment could not be deleted any more.
func keepIdentity(in Input, g *arm.Graph) {
	if slices.ContainsFunc(createdRoles(in), func(id arm.ID) bool { return !g.Has(id) }) {
		node := g.Node(ScaleSetID(in))
		node.KeptPaths = append(slices.Clone(node.KeptPaths), "identity")
	}
}

// createdRoles returns the role assignments in the inventory of the pool.
func createdRoles(in Input) []arm.ID {
	created := applied.ReadInventory("AzureMachinePool", in.AzureMachinePool).Created
	return slices.DeleteFunc(slices.Clone(created), func(id arm.ID) bool { return !strings.EqualFold(id.Type(), types.RoleAssignment) })
}

// BuildDeletePlan returns a node for everything that may have been created for the pool. Azure deletes VMs and disks with
// the scale set. It needs only names: the MachinePool, the bootstrap data and the facts may not exist any more.
func BuildDeletePlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	g.Add(arm.Node{ID: ScaleSetID(in), Policy: arm.CreateOnly, Group: infrav1.ScaleSetRunningCondition})
	roles := createdRoles(in)
	if id, ok := vm.RoleAssignmentID(in.AzureMachinePool.Spec.ManagedIdentities); ok && !slices.ContainsFunc(roles, id.Equal) {
		roles = append(roles, id)
	}
	for _, id := range roles {
		g.Add(arm.Node{ID: id, After: []arm.ID{ScaleSetID(in)}, Policy: arm.CreateOnly, Group: infrav1.RoleAssignmentReadyCondition})
	}
	return g, g.Validate()
}
