package machine

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// buildVMTags returns the tags of the VM, and of the disks that Azure creates with it.
func buildVMTags(in plan.MachineInput) map[string]*string {
	role := infrav1.RoleNode
	if in.ControlPlane {
		role = infrav1.RoleControlPlane
	}
	return plan.BuildMachineTags(in, role, plan.VMName(in))
}
