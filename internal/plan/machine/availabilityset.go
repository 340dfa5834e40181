package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// alignedSKU is the SKU of availability sets whose VMs have managed disks.
const alignedSKU = "Aligned"

// availabilitySetID returns the availability set that spreads machines over fault domains in regions without zones. ok is
// false for a machine in a zone, a spot VM, an edge zone, a member of a scale set, and a machine that belongs to no group
// of machines.
func availabilitySetID(in plan.MachineInput) (id arm.ID, ok bool) {
	spec := in.AzureMachine.Spec
	if len(in.Facts.Zones) > 0 || FailureDomain(in) != "" || spec.SpotVMOptions != nil ||
		in.AzureCluster.Spec.ExtendedLocation != nil || spec.VirtualMachineScaleSetID != nil {
		return "", false
	}
	name, ok := plan.AvailabilitySetName(in)
	if !ok {
		return "", false
	}
	return plan.AvailabilitySetID(in, name), true
}

// addAvailabilitySet adds the set that the machine shares with others of its group. It has only tags of the cluster:
// different tags of its machines would overwrite each other.
func addAvailabilitySet(in plan.MachineInput, g *arm.Graph) {
	id, ok := availabilitySetID(in)
	if !ok {
		return
	}
	additional := plan.NodeAdditionalTags(in.ClusterInput, nil)
	g.Add(arm.Node{
		ID: id,
		Body: armcompute.AvailabilitySet{
			Location: new(plan.Location(in.ClusterInput)),
			SKU:      &armcompute.SKU{Name: new(alignedSKU)},
			Tags:     plan.BuildTags(in.ClusterInput, infrav1.RoleCommon, id.Name(), additional),
			Properties: &armcompute.AvailabilitySetProperties{
				PlatformFaultDomainCount: new(in.MachineFacts.MaximumPlatformFaultDomainCount),
			},
		},
		Policy: arm.CreateOnly,
		Group:  infrav1.AvailabilitySetReadyCondition,
	})
}
