package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Names of the load balancer and backend pool that AKS creates in the node resource group:
// https://learn.microsoft.com/en-us/azure/aks/load-balancer-standard
const (
	outboundLoadBalancer = "kubernetes"
	outboundBackendPool  = "aksOutboundBackendPool"
)

// BuildAzureCluster returns the AKS cluster as an AzureCluster, for plans of VMs that users add to it. The VMs are placed where the
// nodes of AKS are: in the node resource group, network and subnet, with the same load balancer for outbound traffic. Security group
// and route table have no names, because AKS configures cloud-provider-azure itself.
//
// The result has the defaults that such plans need. It shares annotations and labels with the control plane.
func BuildAzureCluster(in Input) *infrav1.AzureCluster {
	spec := in.ControlPlane.Spec
	out := &infrav1.AzureCluster{ObjectMeta: *in.ControlPlane.ObjectMeta.DeepCopy()}
	out.Spec.AzureClusterClassSpec = infrav1.AzureClusterClassSpec{
		SubscriptionID:   in.SubscriptionID,
		Location:         spec.Location,
		IdentityRef:      spec.IdentityRef,
		AdditionalTags:   spec.AdditionalTags,
		AzureEnvironment: spec.AzureEnvironment,
	}
	out.Spec.ResourceGroup = NodeResourceGroupName(in)
	network := &out.Spec.NetworkSpec
	network.Vnet.ResourceGroup, network.Vnet.Name = VNetResourceGroupName(in), VNetID(in).Name()
	network.Vnet.CIDRBlocks = []string{spec.VirtualNetwork.CIDRBlock}
	network.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{
		Name: SubnetName(in), Role: infrav1.SubnetNode, CIDRBlocks: []string{spec.VirtualNetwork.Subnet.CIDRBlock},
	}}}
	if usesOutboundLoadBalancer(spec.AzureManagedControlPlaneClassSpec) {
		network.NodeOutboundLB = &infrav1.LoadBalancerSpec{Name: outboundLoadBalancer,
			BackendPool: infrav1.BackendPool{Name: outboundBackendPool}}
	}
	return out
}

// usesOutboundLoadBalancer reports whether the nodes reach the internet through the load balancer of AKS. With other outbound types
// the subnet provides the route, and a load balancer of the SKU Basic has no outbound rules.
func usesOutboundLoadBalancer(spec infrav1.AzureManagedControlPlaneClassSpec) bool {
	outbound, sku := plan.Dereference(spec.OutboundType), plan.Dereference(spec.LoadBalancerSKU)
	return (outbound == "" || outbound == infrav1.ManagedControlPlaneOutboundTypeLoadBalancer) &&
		(sku == "" || sku == infrav1.ManagedLoadBalancerSKUStandard)
}
