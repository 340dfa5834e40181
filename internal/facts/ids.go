package facts

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const ownedValue = "owned"

// ownerTag is the tag that marks resources of the cluster.
func ownerTag(in plan.ClusterInput) string {
	return "sigs.k8s.io_cluster-api-provider-azure_cluster_" + in.Cluster.Name
}

func vnetID(in plan.ClusterInput) arm.ID {
	vnet := in.AzureCluster.Spec.NetworkSpec.Vnet
	return arm.NewID(in.SubscriptionID, vnet.ResourceGroup, types.VirtualNetwork, vnet.Name)
}

func vmID(in plan.MachineInput) arm.ID {
	return arm.NewID(in.SubscriptionID, in.AzureCluster.Spec.ResourceGroup, types.VirtualMachine, in.AzureMachine.Name)
}

// sshRuleID is the inbound NAT rule of the machine; ok is false when it has none.
func sshRuleID(in plan.MachineInput) (id arm.ID, ok bool) {
	balancer := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if !in.ControlPlane || balancer == nil {
		return "", false
	}
	return arm.NewID(in.SubscriptionID, in.AzureCluster.Spec.ResourceGroup, types.LoadBalancer, balancer.Name).
		Child("inboundNatRules", in.AzureMachine.Name), true
}
