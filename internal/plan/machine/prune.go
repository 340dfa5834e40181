package machine

import (
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// PlannedAnnotation is where the AzureMachine has the memory of its plans. Extensions are what a later spec of a machine
// may want no more; a machine that has none has no annotation.
const PlannedAnnotation = memory.PlannedAnnotation

// Prune are the extensions that an earlier plan had and g has not, for the engine to delete.
func Prune(in plan.MachineInput, g *arm.Graph) []arm.ID {
	return memory.Prune(remembered(in).Recall(), nil, g)
}

// Remember is the value of PlannedAnnotation to store before g is converged, "" for none.
func Remember(in plan.MachineInput, g *arm.Graph) string {
	return orNone(remembered(in).Remember(prunable(g)))
}

// Settled is the value of PlannedAnnotation to store once g has been converged, "" for none.
func Settled(in plan.MachineInput, g *arm.Graph) string {
	return orNone(remembered(in).Settled(prunable(g)))
}

func remembered(in plan.MachineInput) memory.Memory {
	vm := plan.VMID(in)
	return memory.Memory{SubscriptionID: in.SubscriptionID, Stored: in.AzureMachine.Annotations[PlannedAnnotation], MayPrune: func(id arm.ID) bool {
		return isExtension(id) && id.Parent().Equal(vm)
	}}
}

func prunable(g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, node := range g.Nodes() {
		if isExtension(node.ID) {
			out = append(out, node.ID)
		}
	}
	return out
}

// groups are the conditions that resources report into once no plan has them any more.
var groups = memory.Groups{
	types.VirtualMachineExtension: infrav1.BootstrapSucceededCondition,
	types.RoleAssignment:          infrav1.RoleAssignmentReadyCondition,
}

// Group is the condition that a resource reports into that no plan has any more, "" for one of a type that no plan has.
func Group(id arm.ID) string { return groups.Of(id) }

func isExtension(id arm.ID) bool { return strings.EqualFold(id.Type(), types.VirtualMachineExtension) }

func orNone(list string) string {
	if list == "[]" {
		return ""
	}
	return list
}
