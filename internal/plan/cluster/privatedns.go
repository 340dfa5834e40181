package cluster

import (
	"net/netip"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const (
	// dnsLocation is the location of all resources of private DNS.
	dnsLocation = "global"
	// recordTTL is in seconds.
	recordTTL = 300
)

// addPrivateDNS adds the zone with the name of the internal load balancer of the API server, its links to the cluster's
// network and the peered ones, and the record. An existing zone and existing links are used as they are.
func addPrivateDNS(in plan.ClusterInput, g *arm.Graph) {
	if !hasPrivateDNS(in) {
		return
	}
	zone := plan.PrivateDNSZoneID(in)
	tags, _ := buildZoneTags(in)
	g.Add(arm.Node{
		ID:      zone,
		Body:    armprivatedns.PrivateZone{Location: new(dnsLocation), Tags: tags},
		Policy:  arm.Repair,
		Foreign: arm.UseForeign,
		Group:   infrav1.PrivateDNSZoneReadyCondition,
	})
	vnets := []arm.ID{plan.VNetID(in)}
	for _, peering := range in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings {
		vnets = append(vnets, plan.RemoteVNetID(in, peering))
	}
	for _, vnet := range vnets {
		var after []arm.ID
		if g.Has(vnet) {
			after = append(after, vnet)
		}
		g.Add(arm.Node{
			ID: plan.PrivateDNSLinkID(in, vnet),
			Body: armprivatedns.VirtualNetworkLink{
				Location: new(dnsLocation),
				Tags:     tags,
				Properties: &armprivatedns.VirtualNetworkLinkProperties{
					RegistrationEnabled: new(false),
					VirtualNetwork:      &armprivatedns.SubResource{ID: plan.ToIDPointer(vnet)},
				},
			},
			After:   after,
			Policy:  arm.Repair,
			Foreign: arm.UseForeign,
			Group:   infrav1.PrivateDNSLinkReadyCondition,
		})
	}
	if ip := internalLBAddress(in); ip != "" {
		g.Add(buildDNSRecord(zone, ip))
	}
}

// buildDNSRecord returns the record of the API server: A for an IPv4 address, AAAA for an IPv6 address.
func buildDNSRecord(zone arm.ID, ip string) arm.Node {
	kind, properties := "A", &armprivatedns.RecordSetProperties{TTL: new(int64(recordTTL))}
	if ipVersion(ip) == armnetwork.IPVersionIPv6 {
		kind = "AAAA"
		properties.AaaaRecords = []*armprivatedns.AaaaRecord{{IPv6Address: new(ip)}}
	} else {
		properties.ARecords = []*armprivatedns.ARecord{{IPv4Address: new(ip)}}
	}
	return arm.Node{
		ID:     zone.Child(kind, plan.APIServerRecord),
		Body:   armprivatedns.RecordSet{Properties: properties},
		Policy: arm.Repair,
		Group:  infrav1.PrivateDNSRecordReadyCondition,
	}
}

// hasPrivateDNS returns true if the API server gets a record in private DNS.
func hasPrivateDNS(in plan.ClusterInput) bool {
	network := in.AzureCluster.Spec.NetworkSpec
	if network.APIServerLB == nil || network.APIServerLB.Type != infrav1.Internal {
		return false
	}
	return network.PrivateDNSZone == nil || *network.PrivateDNSZone != infrav1.PrivateDNSZoneModeNone
}

// internalLBAddress returns the address of the internal load balancer of the API server; "" if the spec has none.
func internalLBAddress(in plan.ClusterInput) string {
	for _, frontend := range in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs {
		if frontend.PrivateIPAddress != "" {
			return frontend.PrivateIPAddress
		}
	}
	return ""
}

// ipVersion returns the family of an address. A text that is no address counts as IPv4.
func ipVersion(ip string) armnetwork.IPVersion {
	if address, err := netip.ParseAddr(ip); err == nil && address.Is6() {
		return armnetwork.IPVersionIPv6
	}
	return armnetwork.IPVersionIPv4
}
