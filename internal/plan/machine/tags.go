package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// RememberTags is the annotation to set on the AzureMachine before the plan is converged: the tags of earlier specs and of
// this one. A later plan tells by it which tags were taken from the spec and which ones others set.
func RememberTags(in plan.MachineInput) (annotation, value string) {
	return infrav1.LastAppliedVMTagsAnnotation, plan.RememberTags(appliedTags(in), plan.MachineAdditionalTags(in))
}

// SettledTags is the annotation to set on the AzureMachine once all its resources have the planned tags.
func SettledTags(in plan.MachineInput) (annotation, value string) {
	return infrav1.LastAppliedVMTagsAnnotation, plan.SettledTags(plan.MachineAdditionalTags(in))
}

// vmTags are the tags of the VM, and of the disks that Azure makes with it.
func vmTags(in plan.MachineInput) map[string]*string {
	role := infrav1.RoleNode
	if in.ControlPlane {
		role = infrav1.RoleControlPlane
	}
	return plan.MachineTags(in, role, plan.VMName(in))
}

// dropTags has every resource of the machine lose the tags that an earlier spec gave it.
func dropTags(in plan.MachineInput, g *arm.Graph) {
	dropped := plan.DroppedTags(appliedTags(in), plan.MachineAdditionalTags(in))
	for _, node := range g.Nodes() {
		if row, err := types.Of(node.ID); err == nil && row.Taggable {
			node.DropTags = dropped
		}
	}
}

func appliedTags(in plan.MachineInput) string {
	return in.AzureMachine.Annotations[infrav1.LastAppliedVMTagsAnnotation]
}
