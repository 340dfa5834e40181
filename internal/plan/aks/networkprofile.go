package aks

import (
	"net/netip"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// networkProfile is how the cluster's network works; what the spec does not say is AKS's to choose.
func networkProfile(in Input) *aks.NetworkProfile {
	spec := in.ControlPlane.Spec
	out := &aks.NetworkProfile{
		NetworkPlugin:       choice[aks.NetworkPlugin](spec.NetworkPlugin),
		NetworkPluginMode:   choice[aks.NetworkPluginMode](spec.NetworkPluginMode),
		NetworkPolicy:       choice[aks.NetworkPolicy](spec.NetworkPolicy),
		NetworkDataplane:    choice[aks.NetworkDataplane](spec.NetworkDataplane),
		OutboundType:        choice[aks.OutboundType](spec.OutboundType),
		LoadBalancerProfile: loadBalancerProfile(spec.LoadBalancerProfile),
	}
	if sku := deref(spec.LoadBalancerSKU); sku != "" {
		out.LoadBalancerSKU = new(aks.LoadBalancerSKU(strings.ToLower(sku)))
	}
	services, pods := cidrBlocks(in)
	if len(pods) > 0 {
		out.PodCidr = new(pods[0])
	}
	if len(services) > 0 {
		out.ServiceCidr = new(services[0])
		out.DNSServiceIP = word(spec.DNSServiceIP)
		if out.DNSServiceIP == nil {
			out.DNSServiceIP = dnsServiceIP(services[0])
		}
	}
	return out
}

// cidrBlocks are the ranges of services and pods that the Cluster names.
func cidrBlocks(in Input) (services, pods []string) {
	if in.Cluster == nil {
		return nil, nil
	}
	network := in.Cluster.Spec.ClusterNetwork
	return network.Services.CIDRBlocks, network.Pods.CIDRBlocks
}

// dnsServiceIP is the address of the cluster's DNS service: that of the range with 10 as its last number.
func dnsServiceIP(services string) *string {
	prefix, err := netip.ParsePrefix(services)
	if err != nil {
		return nil
	}
	bytes := prefix.Masked().Addr().AsSlice()
	bytes[len(bytes)-1] = 10
	address, _ := netip.AddrFromSlice(bytes)
	return new(address.String())
}

func loadBalancerProfile(spec *infrav1.LoadBalancerProfile) *aks.ManagedClusterLoadBalancerProfile {
	if spec == nil {
		return nil
	}
	out := &aks.ManagedClusterLoadBalancerProfile{
		AllocatedOutboundPorts: number(spec.AllocatedOutboundPorts),
		IdleTimeoutInMinutes:   number(spec.IdleTimeoutInMinutes),
	}
	if spec.ManagedOutboundIPs != nil {
		out.ManagedOutboundIPs = &aks.ManagedClusterLoadBalancerProfileManagedOutboundIPs{Count: number(spec.ManagedOutboundIPs)}
	}
	if len(spec.OutboundIPPrefixes) > 0 {
		out.OutboundIPPrefixes = &aks.ManagedClusterLoadBalancerProfileOutboundIPPrefixes{PublicIPPrefixes: references(spec.OutboundIPPrefixes)}
	}
	if len(spec.OutboundIPs) > 0 {
		out.OutboundIPs = &aks.ManagedClusterLoadBalancerProfileOutboundIPs{PublicIPs: references(spec.OutboundIPs)}
	}
	return out
}

func references(ids []string) []*aks.ResourceReference {
	var out []*aks.ResourceReference
	for _, s := range ids {
		out = append(out, &aks.ResourceReference{ID: new(id(s))})
	}
	return out
}
