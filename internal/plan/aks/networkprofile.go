package aks

import (
	"net/netip"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// buildNetworkProfile returns the network settings of the cluster. AKS chooses the values that the spec leaves out.
func buildNetworkProfile(in Input) *aks.NetworkProfile {
	spec := in.ControlPlane.Spec
	out := &aks.NetworkProfile{
		NetworkPlugin:       toEnum[aks.NetworkPlugin](spec.NetworkPlugin),
		NetworkPluginMode:   toEnum[aks.NetworkPluginMode](spec.NetworkPluginMode),
		NetworkPolicy:       toEnum[aks.NetworkPolicy](spec.NetworkPolicy),
		NetworkDataplane:    toEnum[aks.NetworkDataplane](spec.NetworkDataplane),
		OutboundType:        toEnum[aks.OutboundType](spec.OutboundType),
		LoadBalancerProfile: buildLoadBalancerProfile(spec.LoadBalancerProfile),
	}
	if sku := plan.Dereference(spec.LoadBalancerSKU); sku != "" {
		out.LoadBalancerSKU = new(aks.LoadBalancerSKU(strings.ToLower(sku)))
	}
	services, pods := clusterCIDRBlocks(in)
	if len(pods) > 0 {
		out.PodCidr = new(pods[0])
	}
	if len(services) > 0 {
		out.ServiceCidr = new(services[0])
		out.DNSServiceIP = toString(spec.DNSServiceIP)
		if out.DNSServiceIP == nil {
			out.DNSServiceIP = defaultDNSServiceIP(services[0])
		}
	}
	return out
}

// clusterCIDRBlocks returns the CIDR blocks of services and pods of the Cluster.
func clusterCIDRBlocks(in Input) (services, pods []string) {
	if in.Cluster == nil {
		return nil, nil
	}
	network := in.Cluster.Spec.ClusterNetwork
	return network.Services.CIDRBlocks, network.Pods.CIDRBlocks
}

// defaultDNSServiceIP returns the address of the cluster's DNS service: the tenth one of the service range. It is nil for a range that is too
// small for it.
func defaultDNSServiceIP(services string) *string {
	prefix, err := netip.ParsePrefix(services)
	if err != nil {
		return nil
	}
	address := prefix.Masked().Addr()
	for range 10 {
		address = address.Next()
	}
	if !prefix.Contains(address) {
		return nil
	}
	return new(address.String())
}

func buildLoadBalancerProfile(spec *infrav1.LoadBalancerProfile) *aks.ManagedClusterLoadBalancerProfile {
	if spec == nil {
		return nil
	}
	out := &aks.ManagedClusterLoadBalancerProfile{
		AllocatedOutboundPorts: toInt32(spec.AllocatedOutboundPorts),
		IdleTimeoutInMinutes:   toInt32(spec.IdleTimeoutInMinutes),
	}
	if spec.ManagedOutboundIPs != nil {
		out.ManagedOutboundIPs = &aks.ManagedClusterLoadBalancerProfileManagedOutboundIPs{Count: toInt32(spec.ManagedOutboundIPs)}
	}
	if len(spec.OutboundIPPrefixes) > 0 {
		out.OutboundIPPrefixes = &aks.ManagedClusterLoadBalancerProfileOutboundIPPrefixes{PublicIPPrefixes: toResourceReferences(spec.OutboundIPPrefixes)}
	}
	if len(spec.OutboundIPs) > 0 {
		out.OutboundIPs = &aks.ManagedClusterLoadBalancerProfileOutboundIPs{PublicIPs: toResourceReferences(spec.OutboundIPs)}
	}
	return out
}

func toResourceReferences(ids []string) []*aks.ResourceReference {
	var out []*aks.ResourceReference
	for _, s := range ids {
		out = append(out, &aks.ResourceReference{ID: new(normalizeID(s))})
	}
	return out
}
