package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// What AKS calls the way of the nodes to the internet, in the resource group of the nodes:
// https://learn.microsoft.com/en-us/azure/aks/load-balancer-standard
const (
	outboundLoadBalancer = "kubernetes"
	outboundBackendPool  = "aksOutboundBackendPool"
)

// BuildAzureCluster is the AKS cluster in the shape of a self-managed one, for plans of VMs of the user's own that join it: they are
// where the nodes of AKS are, in its resource group, network and subnet, and go out through its load balancer. Security group
// and route table have no names: AKS runs cloud-provider-azure with a configuration of its own.
//
// It is defaulted as far as such plans go, and shares annotations and labels with the control plane.
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
		network.NodeOutboundLB = &infrav1.LoadBalancerSpec{Name: outboundLoadBalancer, BackendPool: infrav1.BackendPool{Name: outboundBackendPool}}
	}
	return out
}

// usesOutboundLoadBalancer tells whether nodes reach the internet through the load balancer of AKS: with the others the subnet has a way out,
// and one of the SKU Basic has no outbound rules.
func usesOutboundLoadBalancer(spec infrav1.AzureManagedControlPlaneClassSpec) bool {
	outbound, sku := deref(spec.OutboundType), deref(spec.LoadBalancerSKU)
	return (outbound == "" || outbound == infrav1.ManagedControlPlaneOutboundTypeLoadBalancer) && (sku == "" || sku == infrav1.ManagedLoadBalancerSKUStandard)
}
