package cluster

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// recordedTypes are the resource types of a cluster's plans, with the conditions of those that are pruned.
var recordedTypes = applied.Types{
	types.ResourceGroup:         "",
	types.VirtualNetwork:        "",
	types.Subnet:                infrav1.SubnetsReadyCondition,
	types.VirtualNetworkPeering: infrav1.VnetPeeringReadyCondition,
	types.NetworkSecurityGroup:  infrav1.SecurityGroupsReadyCondition,
	types.RouteTable:            infrav1.RouteTablesReadyCondition,
	types.PublicIPAddress:       infrav1.PublicIPsReadyCondition,
	types.NATGateway:            infrav1.NATGatewaysReadyCondition,
	types.LoadBalancer:          infrav1.LoadBalancersReadyCondition,
	types.PrivateEndpoint:       infrav1.PrivateEndpointsReadyCondition,
	types.BastionHost:           infrav1.BastionHostReadyCondition,
	types.PrivateDNSZone:        infrav1.PrivateDNSZoneReadyCondition,
	types.VirtualNetworkLink:    infrav1.PrivateDNSLinkReadyCondition,
	types.ARecord:               infrav1.PrivateDNSRecordReadyCondition,
	types.AAAARecord:            infrav1.PrivateDNSRecordReadyCondition,
}

// ConditionForPruned returns the condition type that reports a resource which is no longer planned; "" for types that are
// never pruned.
func ConditionForPruned(id arm.ID) string { return recordedTypes.Condition(id) }

// LastApplied returns the resources and paths that earlier plans of the AzureCluster sent. A resource that the spec still
// names stays, even if the current state of the network keeps it out of the plan.
func LastApplied(in plan.ClusterInput) applied.State {
	return applied.ReadState(in.AzureCluster.Annotations, applied.Scope{
		SubscriptionID: in.SubscriptionID,
		Types:          recordedTypes,
		SecurityGroup:  func(name string) arm.ID { return plan.SecurityGroupID(in, name) },
		PlanOfSpec: func() (*arm.Graph, error) {
			in.Facts.VNet = plan.VNetFact{}
			return BuildPlan(in)
		},
	})
}
