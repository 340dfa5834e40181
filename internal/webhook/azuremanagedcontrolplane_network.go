package webhook

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// privateZonePattern matches the beginning of the names that AKS accepts for a private DNS zone of the user:
// https://learn.microsoft.com/en-us/azure/aks/private-clusters#configure-a-private-dns-zone
var privateZonePattern = regexp.MustCompile(`^([a-zA-Z0-9-]{1,32}\.)?(privatelink|private)\.[a-zA-Z0-9]+$`)

// apiServerDomains are the domains of API servers below the region, by Azure cloud:
// https://learn.microsoft.com/en-us/azure/aks/outbound-rules-control-egress,
// https://learn.microsoft.com/en-us/azure/private-link/private-endpoint-dns
var apiServerDomains = map[string]string{
	infrav1.PublicCloud:       "azmk8s.io",
	infrav1.USGovernmentCloud: "cx.aks.containerservice.azure.us",
	infrav1.ChinaCloud:        "cx.prod.service.azk8s.cn",
}

// validateManagedNetwork checks the virtual network and how pods use it.
func validateManagedNetwork(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	network, vnetPath := spec.VirtualNetwork, path.Child("virtualNetwork")
	errs = append(errs, validateManagedCIDRs(network, vnetPath)...)
	errs = append(errs, validateServiceEndpoints(network.Subnet.ServiceEndpoints, vnetPath.Child("subnet", "serviceEndpoints"))...)
	errs = append(errs, validatePrivateEndpoints(network.Subnet.PrivateEndpoints, []string{network.Subnet.CIDRBlock},
		vnetPath.Child("subnet", "privateEndpoints"))...)

	if defaults.IsOverlay(spec.NetworkPluginMode) && isKubenet(spec.NetworkPlugin) {
		errs = append(errs, field.Invalid(path.Child("networkPluginMode"), *spec.NetworkPluginMode,
			"cannot be combined with networkPlugin kubenet. Use networkPlugin azure"))
	}
	policy := spec.NetworkPolicy != nil && *spec.NetworkPolicy == infrav1.CiliumNetworkPolicy
	dataplane := spec.NetworkDataplane != nil && *spec.NetworkDataplane == infrav1.NetworkDataplaneTypeCilium
	switch {
	case policy && !dataplane:
		errs = append(errs, field.Invalid(path.Child("networkPolicy"), *spec.NetworkPolicy, "needs networkDataplane: cilium"))
	case dataplane && !policy:
		errs = append(errs, field.Invalid(path.Child("networkDataplane"), *spec.NetworkDataplane, "needs networkPolicy: cilium"))
	}
	if dataplane && networkPlugin(spec) != infrav1.AzureNetworkPlugin {
		errs = append(errs, field.Invalid(path.Child("networkDataplane"), *spec.NetworkDataplane, "needs networkPlugin: azure"))
	}
	// Cilium's dataplane does not require overlay mode: pods may have addresses of the nodes' subnet.
	// https://learn.microsoft.com/en-us/azure/aks/azure-cni-powered-by-cilium
	return errs
}

func validateManagedCIDRs(network infrav1.ManagedControlPlaneVirtualNetwork, path *field.Path) (errs field.ErrorList) {
	vnet, err := netip.ParsePrefix(network.CIDRBlock)
	if err != nil && network.CIDRBlock != "" {
		errs = append(errs, field.Invalid(path.Child("cidrBlock"), network.CIDRBlock, cidrRule))
	}
	subnet, subnetErr := netip.ParsePrefix(network.Subnet.CIDRBlock)
	path = path.Child("subnet", "cidrBlock")
	switch {
	case network.Subnet.CIDRBlock == "":
	case subnetErr != nil:
		errs = append(errs, field.Invalid(path, network.Subnet.CIDRBlock, cidrRule))
	case err == nil && !vnet.Masked().Contains(subnet.Addr()):
		errs = append(errs, field.Invalid(path, network.Subnet.CIDRBlock,
			"must be within the address range of the virtual network: "+network.CIDRBlock))
	}
	return errs
}

// validateClusterNetwork checks that the Cluster has at most one range for services and one for pods, as AKS requires, and that the
// address of the DNS service is within the former. It returns no errors if cluster is nil.
func validateClusterNetwork(dnsServiceIP *string, cluster *clusterv1.Cluster, path *field.Path) (errs field.ErrorList) {
	if cluster == nil {
		return nil
	}
	network, clusterPath := cluster.Spec.ClusterNetwork, field.NewPath("Cluster", "spec", "clusterNetwork")
	for _, part := range []struct {
		name   string
		blocks []string
	}{{"services", network.Services.CIDRBlocks}, {"pods", network.Pods.CIDRBlocks}} {
		blocksPath := clusterPath.Child(part.name, "cidrBlocks")
		if len(part.blocks) > 1 {
			errs = append(errs, field.TooMany(blocksPath, len(part.blocks), 1))
		}
		_, invalid := parseCIDRs(part.blocks, blocksPath)
		errs = append(errs, invalid...)
	}
	if dnsServiceIP == nil {
		return errs
	}
	path, blocks := path.Child("dnsServiceIP"), network.Services.CIDRBlocks
	if len(blocks) == 0 {
		return append(errs, field.Forbidden(path, "needs the range of services in the Cluster's spec.clusterNetwork.services.cidrBlocks"))
	}
	if services, invalid := parseCIDRs(blocks, path); len(invalid) == 0 {
		errs = append(errs, validateAddress(*dnsServiceIP, plan.NewRangeSet(services), blocks, "the Cluster's services", path)...)
	}
	// https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni#plan-ip-addressing-for-your-cluster
	services, servicesErr := netip.ParsePrefix(blocks[0])
	if addr, err := netip.ParseAddr(*dnsServiceIP); err == nil && servicesErr == nil &&
		(addr == services.Masked().Addr() || addr == services.Masked().Addr().Next()) {
		errs = append(errs, field.Invalid(path, *dnsServiceIP,
			"must not be the first address of the range of services, which is that of the API server. Choose another address of "+blocks[0]))
	}
	return errs
}

func validateLoadBalancerProfile(profile *infrav1.LoadBalancerProfile, path *field.Path) (errs field.ErrorList) {
	if profile == nil {
		return nil
	}
	for _, limit := range []struct {
		name     string
		value    *int
		min, max int
	}{
		{"managedOutboundIPs", profile.ManagedOutboundIPs, 1, 100},
		{"allocatedOutboundPorts", profile.AllocatedOutboundPorts, 0, 64000},
		{"idleTimeoutInMinutes", profile.IdleTimeoutInMinutes, 4, 120},
	} {
		if limit.value != nil && (*limit.value < limit.min || *limit.value > limit.max) {
			errs = append(errs, field.Invalid(path.Child(limit.name), *limit.value, fmt.Sprintf("must be between %d and %d", limit.min, limit.max)))
		}
	}
	ways := 0
	for _, given := range []bool{profile.ManagedOutboundIPs != nil, len(profile.OutboundIPPrefixes) > 0, len(profile.OutboundIPs) > 0} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		errs = append(errs, field.Forbidden(path, "managedOutboundIPs, outboundIPPrefixes and outboundIPs exclude each other: keep one"))
	}
	for i, id := range profile.OutboundIPPrefixes {
		errs = append(errs, validateResourceID(id, path.Child("outboundIPPrefixes").Index(i))...)
	}
	for i, id := range profile.OutboundIPs {
		errs = append(errs, validateResourceID(id, path.Child("outboundIPs").Index(i))...)
	}
	return errs
}

func validateAPIServerAccess(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	profile := spec.APIServerAccessProfile
	if profile == nil {
		return nil
	}
	for i, block := range profile.AuthorizedIPRanges {
		_, prefixErr := netip.ParsePrefix(block)
		_, addrErr := netip.ParseAddr(block)
		if prefixErr != nil && addrErr != nil {
			errs = append(errs, field.Invalid(path.Child("authorizedIPRanges").Index(i), block,
				"must be an address range such as 203.0.113.0/24, or an address"))
		}
	}
	if profile.PrivateDNSZone != nil {
		errs = append(errs, validateManagedDNSZone(*profile.PrivateDNSZone, isTrue(profile.EnablePrivateCluster),
			apiServerDomains[cmp.Or(spec.AzureEnvironment, infrav1.PublicCloud)], path.Child("privateDNSZone"))...)
	}
	return errs
}

// isZoneOfUser reports whether the private DNS zone of a cluster is one that the user provides.
func isZoneOfUser(zone string) bool {
	return zone != "" && !strings.EqualFold(zone, "system") && !strings.EqualFold(zone, "none")
}

// validateManagedDNSZone checks the private DNS zone of a cluster. AKS restricts the name of a zone that the user provides. domain is that of
// the API servers of the Azure cloud, "" if the cloud is unknown.
func validateManagedDNSZone(zone string, private bool, domain string, path *field.Path) (errs field.ErrorList) {
	if !isZoneOfUser(zone) {
		return nil
	}
	if !private {
		errs = append(errs, field.Invalid(path, zone, "needs enablePrivateCluster: true"))
	}
	_, name, found := strings.Cut(strings.ToLower(zone), "privatednszones/")
	switch {
	case !found:
		errs = append(errs, field.Invalid(path, zone,
			"must be System, None or the Azure resource ID of a private DNS zone: /subscriptions/…/resourceGroups/…/providers/Microsoft.Network/privateDnsZones/…"))
	case domain != "" && !isZoneOfAPIServers(name, domain):
		errs = append(errs, field.Invalid(path, zone, fmt.Sprintf("must be a zone called privatelink.<region>.%s or private.<region>.%[1]s, "+
			"with at most one label of up to 32 letters, digits and '-' before it", domain)))
	}
	return errs
}

func isZoneOfAPIServers(name, domain string) bool {
	region, ok := strings.CutSuffix(name, "."+domain)
	return ok && privateZonePattern.MatchString(region)
}
