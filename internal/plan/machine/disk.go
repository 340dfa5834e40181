package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addDiskTags keeps the machine's tags on its disks. Azure sets them when it creates the disks with the VM, and does not
// change them later. An ephemeral disk is not a resource.
func addDiskTags(in plan.MachineInput, g *arm.Graph) {
	for i, id := range DiskIDs(in) {
		if i == 0 && in.AzureMachine.Spec.OSDisk.DiffDiskSettings != nil {
			continue
		}
		g.Add(arm.Node{
			ID: id, After: []arm.ID{plan.VMID(in)}, Policy: arm.TagOnly, Group: infrav1.DisksReadyCondition,
			Body: armcompute.Disk{Tags: buildVMTags(in)},
		})
	}
}
