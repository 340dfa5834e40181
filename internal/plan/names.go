package plan

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Names of parts of resources that are the same in every cluster, and their length.
const (
	// APIServerRule is the load-balancing rule of the API server.
	APIServerRule = "LBRuleHTTPS"
	// APIServerProbe is the health probe of the API server.
	APIServerProbe = "HTTPSProbe"
	// OutboundRule is the outbound rule of every load balancer that has a public address.
	OutboundRule = "OutboundNATAllProtocols"
	// APIServerRecord is the host name of the API server in the private DNS zone.
	APIServerRecord = "apiserver"
	// DefaultAPIServerPort is the port of the API server where the Cluster names none.
	DefaultAPIServerPort int32 = 6443
	// DefaultInternalLBIP is the address of an internal API server load balancer where the spec names none.
	DefaultInternalLBIP = "10.0.0.100"
	// MaxNameLength is the number of characters that Azure accepts in most names of resources of Microsoft.Network and Microsoft.Compute:
	// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
	MaxNameLength = 80
	// MaxNodeResourceGroupName is the number of characters that AKS accepts in the name of the resource group of the nodes, and after which it
	// cuts a name of its own: https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/aks-common-issues-faq
	MaxNodeResourceGroupName = 80
	// peeringInfix is between the names of the two networks in the name of a peering.
	peeringInfix = "-To-"
	// BastionSubnet is the name that Azure demands for the subnet of a bastion host.
	BastionSubnet = "AzureBastionSubnet"
)

// ClusterName returns the name of the Cluster, which is part of tags, the DNS zone and availability sets. For an
// AzureCluster that outlived its Cluster it is the cluster label, else the name of the AzureCluster.
func ClusterName(in ClusterInput) string {
	if in.Cluster != nil && in.Cluster.Name != "" {
		return in.Cluster.Name
	}
	return cmp.Or(in.AzureCluster.Labels[clusterv1.ClusterNameLabel], in.AzureCluster.Name)
}

// Location returns the region in the form of Azure's answers: "eastus2" for "East US 2".
func Location(in ClusterInput) string { return NormalizeRegion(in.AzureCluster.Spec.Location) }

// NormalizeRegion turns the display name of a region into its name: lower case without spaces.
func NormalizeRegion(region string) string {
	return strings.ToLower(strings.ReplaceAll(region, " ", ""))
}

// APIServerPort returns the port on which the API server listens.
func APIServerPort(in ClusterInput) int32 {
	if in.Cluster != nil && in.Cluster.Spec.ClusterNetwork.APIServerPort != 0 {
		return in.Cluster.Spec.ClusterNetwork.APIServerPort
	}
	return DefaultAPIServerPort
}

// ResourceGroup returns the name of the cluster's resource group.
func ResourceGroup(in ClusterInput) string {
	return cmp.Or(in.AzureCluster.Spec.ResourceGroup, in.AzureCluster.Name)
}

// ResourceGroupID returns the ID of the cluster's resource group.
func ResourceGroupID(in ClusterInput) arm.ID {
	return arm.ResourceGroupID(in.SubscriptionID, ResourceGroup(in))
}

// VNetResourceGroup returns the name of the resource group of the virtual network, its security groups and route tables.
func VNetResourceGroup(in ClusterInput) string {
	return cmp.Or(in.AzureCluster.Spec.NetworkSpec.Vnet.ResourceGroup, ResourceGroup(in))
}

// VNetResourceGroupID returns the ID of the virtual network's resource group.
func VNetResourceGroupID(in ClusterInput) arm.ID {
	return arm.ResourceGroupID(in.SubscriptionID, VNetResourceGroup(in))
}

// VNetName returns the name of the virtual network.
func VNetName(in ClusterInput) string {
	return cmp.Or(in.AzureCluster.Spec.NetworkSpec.Vnet.Name, in.AzureCluster.Name+"-vnet")
}

// VNetID returns the ID of the virtual network.
func VNetID(in ClusterInput) arm.ID {
	return arm.NewID(in.SubscriptionID, VNetResourceGroup(in), types.VirtualNetwork, VNetName(in))
}

// RemoteVNetID returns the ID of the other virtual network of a peering.
func RemoteVNetID(in ClusterInput, peering infrav1.VnetPeeringSpec) arm.ID {
	return arm.NewID(in.SubscriptionID, cmp.Or(peering.ResourceGroup, ResourceGroup(in)), types.VirtualNetwork, peering.RemoteVnetName)
}

// PeeringID returns the ID of the peering in the network local that leads to remote.
func PeeringID(local, remote arm.ID) arm.ID {
	return local.Child("virtualNetworkPeerings", local.Name()+peeringInfix+remote.Name())
}

// SubnetID returns the ID of a subnet of the cluster's network.
func SubnetID(in ClusterInput, name string) arm.ID { return VNetID(in).Child("subnets", name) }

// SecurityGroupID returns the ID of a network security group.
func SecurityGroupID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, VNetResourceGroup(in), types.NetworkSecurityGroup, name)
}

// RouteTableID returns the ID of a route table.
func RouteTableID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, VNetResourceGroup(in), types.RouteTable, name)
}

// PublicIPID returns the ID of a public IP address.
func PublicIPID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in), types.PublicIPAddress, name)
}

// NATGatewayID returns the ID of a NAT gateway.
func NATGatewayID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in), types.NATGateway, name)
}

// NATGatewayIPName returns the name of the public IP address of a NAT gateway.
func NATGatewayIPName(gateway infrav1.NatGateway) string {
	return cmp.Or(gateway.NatGatewayIP.Name, "pip-"+gateway.Name)
}

// LoadBalancerID returns the ID of a load balancer.
func LoadBalancerID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in), types.LoadBalancer, name)
}

// InternalAPIServerLBName returns the name of the internal load balancer beside the public one of the API server.
func InternalAPIServerLBName(lb *infrav1.LoadBalancerSpec) string { return lb.Name + "-internal" }

// InternalAPIServerPoolName returns the backend pool of the internal load balancer beside the public one of the API
// server.
func InternalAPIServerPoolName(lb *infrav1.LoadBalancerSpec) string {
	return APIServerPoolName(lb) + "-internal"
}

// FrontendID returns the ID of a frontend IP configuration of a load balancer.
func FrontendID(lb arm.ID, name string) arm.ID { return lb.Child("frontendIPConfigurations", name) }

// PoolID returns the ID of a backend pool of a load balancer.
func PoolID(lb arm.ID, name string) arm.ID { return lb.Child("backendAddressPools", name) }

// ProbeID returns the ID of a health probe of a load balancer.
func ProbeID(lb arm.ID, name string) arm.ID { return lb.Child("probes", name) }

// APIServerPoolName returns the backend pool of the API server's load balancer.
func APIServerPoolName(lb *infrav1.LoadBalancerSpec) string {
	return cmp.Or(lb.BackendPool.Name, lb.Name+"-backendPool")
}

// NodeOutboundPoolName returns the backend pool of the load balancer for the outbound connections of worker nodes.
func NodeOutboundPoolName(lb *infrav1.LoadBalancerSpec) string {
	return cmp.Or(lb.BackendPool.Name, lb.Name+"-outboundBackendPool")
}

// ControlPlaneOutboundPoolName returns the backend pool of the load balancer for the outbound connections of control-plane
// machines. It does not depend on the name of the load balancer: existing clusters with a renamed one have this pool.
func ControlPlaneOutboundPoolName(in ClusterInput, lb *infrav1.LoadBalancerSpec) string {
	return cmp.Or(lb.BackendPool.Name, in.AzureCluster.Name+"-outbound-lb-outboundBackendPool")
}

// PrivateDNSZoneName returns the private DNS zone with the record of the API server.
func PrivateDNSZoneName(in ClusterInput) string {
	return cmp.Or(in.AzureCluster.Spec.NetworkSpec.PrivateDNSZoneName, ClusterName(in)+".capz.io")
}

// PrivateDNSZoneResourceGroup returns the resource group of the private DNS zone.
func PrivateDNSZoneResourceGroup(in ClusterInput) string {
	return cmp.Or(in.AzureCluster.Spec.NetworkSpec.PrivateDNSZoneResourceGroup, ResourceGroup(in))
}

// PrivateDNSZoneID returns the ID of the private DNS zone.
func PrivateDNSZoneID(in ClusterInput) arm.ID {
	return arm.NewID(in.SubscriptionID, PrivateDNSZoneResourceGroup(in), types.PrivateDNSZone, PrivateDNSZoneName(in))
}

// PrivateDNSLinkID returns the ID of the link between the private DNS zone and a network.
func PrivateDNSLinkID(in ClusterInput, vnet arm.ID) arm.ID {
	return PrivateDNSZoneID(in).Child("virtualNetworkLinks", vnet.Name()+"-link")
}

// BastionID returns the ID of a bastion host.
func BastionID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in), types.BastionHost, name)
}

// PrivateEndpointID returns the ID of a private endpoint.
func PrivateEndpointID(in ClusterInput, name string) arm.ID {
	return arm.NewID(in.SubscriptionID, ResourceGroup(in), types.PrivateEndpoint, name)
}

// dnsSuffixes are the domains of public IP addresses by cloud.
var dnsSuffixes = map[string]string{
	infrav1.PublicCloud:       "cloudapp.azure.com",
	infrav1.ChinaCloud:        "cloudapp.chinacloudapi.cn",
	infrav1.USGovernmentCloud: "cloudapp.usgovcloudapi.net",
}

// APIServerPublicIP returns the public address in the spec of the API server's load balancer, or nil if it has none.
func APIServerPublicIP(lb *infrav1.LoadBalancerSpec) *infrav1.PublicIPSpec {
	if lb == nil || lb.Type == infrav1.Internal {
		return nil
	}
	for _, frontend := range lb.FrontendIPs {
		if frontend.PublicIP != nil {
			return frontend.PublicIP
		}
	}
	return nil
}

// APIServerDNSName returns the fully qualified name of the public API server endpoint: the name in the spec, or the
// cluster's name with a hash that makes it unique in the region. It is "" if the load balancer has no public address.
func APIServerDNSName(in ClusterInput) string {
	address := APIServerPublicIP(in.AzureCluster.Spec.NetworkSpec.APIServerLB)
	switch {
	case address == nil:
		return ""
	case address.DNSName != "":
		return address.DNSName
	}
	hash := DNSLabelHash(in.SubscriptionID, ResourceGroup(in), address.Name)
	// A name of a Cluster may contain dots, and a label may not.
	label := strings.ReplaceAll(ClusterName(in), ".", "-")
	return strings.ToLower(fmt.Sprintf("%s-%s.%s", label, hash, AddressDomain(in)))
}

// AddressDomain returns the domain in which Azure registers the labels of the cluster's public IP addresses.
func AddressDomain(in ClusterInput) string {
	return Location(in) + "." + cmp.Or(dnsSuffixes[in.AzureCluster.Spec.AzureEnvironment], dnsSuffixes[infrav1.PublicCloud])
}

// IsAddressDomain reports whether a domain is one in which Azure registers labels of public IP addresses, in any region and cloud.
func IsAddressDomain(domain string) bool {
	for _, suffix := range dnsSuffixes {
		if strings.HasSuffix(domain, "."+suffix) || domain == suffix {
			return true
		}
	}
	return false
}

// HasOwnEndpoint returns true if a user set the endpoint of the cluster to a name that is not the DNS name of a public address in Azure.
func HasOwnEndpoint(c *infrav1.AzureCluster) bool {
	host := strings.ToLower(c.Spec.ControlPlaneEndpoint.Host)
	if address := APIServerPublicIP(c.Spec.NetworkSpec.APIServerLB); host == "" || address != nil && strings.EqualFold(host, address.DNSName) {
		return false
	}
	return !IsAddressDomain(host)
}

// DNSLabelHash returns the FNV-1a hash of the parts joined by slashes, in hexadecimal digits without padding. The API
// server names of existing clusters contain it.
func DNSLabelHash(parts ...string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(strings.Join(parts, "/")))
	return fmt.Sprintf("%x", hash.Sum32())
}
