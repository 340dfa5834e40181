package aks

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservicefleet/armcontainerservicefleet"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addFleetMember adds the membership of the cluster in an existing fleet.
func addFleetMember(in Input, g *arm.Graph) {
	member := in.ControlPlane.Spec.FleetsMember
	if member == nil {
		return
	}
	properties := &armcontainerservicefleet.FleetMemberProperties{ClusterResourceID: plan.ToIDPointer(ClusterID(in))}
	if member.Group != "" {
		properties.Group = new(member.Group)
	}
	g.Add(arm.Node{
		ID:     FleetMemberID(in, *member),
		Body:   armcontainerservicefleet.FleetMember{Properties: properties},
		After:  []arm.ID{ClusterID(in)},
		Policy: arm.Repair,
		Group:  infrav1.FleetReadyCondition,
	})
}
