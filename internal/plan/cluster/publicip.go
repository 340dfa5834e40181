package cluster

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addPublicIPs adds the addresses of the load balancers, the NAT gateways and the bastion host that the spec describes.
func addPublicIPs(in plan.ClusterInput, g *arm.Graph) {
	spec := in.AzureCluster.Spec.NetworkSpec
	for _, lb := range []*infrav1.LoadBalancerSpec{spec.APIServerLB, spec.NodeOutboundLB, spec.ControlPlaneOutboundLB} {
		if lb == nil {
			continue
		}
		lbZones := lb.AvailabilityZones
		if len(lbZones) == 0 {
			lbZones = regionZones(in)
		}
		for _, frontend := range lb.FrontendIPs {
			if frontend.PublicIP == nil {
				continue
			}
			address := *frontend.PublicIP
			if lb == spec.APIServerLB {
				address.DNSName = plan.APIServerDNSName(in)
			}
			addPublicIP(in, g, address, lbZones, plan.ToExtendedLocation(in.AzureCluster.Spec.ExtendedLocation))
		}
	}
	for _, subnet := range listManagedSubnets(in) {
		if gateway := subnet.NatGateway; gateway.Name != "" {
			address := gateway.NatGatewayIP
			address.Name = plan.NATGatewayIPName(gateway)
			addPublicIP(in, g, address, regionZones(in), nil)
		}
	}
	if bastion := in.AzureCluster.Spec.BastionSpec.AzureBastion; bastion != nil {
		addPublicIP(in, g, bastion.PublicIP, regionZones(in), nil)
	}
}

// addPublicIP adds one address, unless the graph has it already: subnets share NAT gateways. Most properties of an address are immutable,
// so it is only created.
func addPublicIP(in plan.ClusterInput, g *arm.Graph, spec infrav1.PublicIPSpec, zones []string, location *armnetwork.ExtendedLocation) {
	id := plan.PublicIPID(in, spec.Name)
	if g.Has(id) {
		return
	}
	properties := &armnetwork.PublicIPAddressPropertiesFormat{
		PublicIPAddressVersion:   new(armnetwork.IPVersionIPv4),
		PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic),
		IPTags:                   []*armnetwork.IPTag{},
	}
	if spec.DNSName != "" {
		label, _, _ := strings.Cut(spec.DNSName, ".")
		properties.DNSSettings = &armnetwork.PublicIPAddressDNSSettings{DomainNameLabel: new(strings.ToLower(label))}
	}
	for _, tag := range spec.IPTags {
		properties.IPTags = append(properties.IPTags, &armnetwork.IPTag{IPTagType: new(tag.Type), Tag: new(tag.Tag)})
	}
	blockedReason := ""
	if in.Facts.ZonesPending {
		blockedReason = "the availability zones of the region are being looked up"
		if trouble := in.Facts.ZonesError; trouble != nil {
			blockedReason += ", again after: " + trouble.Error()
		}
	}
	g.Add(arm.Node{
		ID:      id,
		Blocked: blockedReason,
		Body: armnetwork.PublicIPAddress{
			Location:         new(plan.Location(in)),
			ExtendedLocation: location,
			SKU:              &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
			Zones:            sortedZones(zones),
			Tags:             plan.BuildTags(in, "", spec.Name, in.AzureCluster.Spec.AdditionalTags),
			Properties:       properties,
		},
		Policy:  arm.CreateOnly,
		Foreign: arm.UseForeign,
		Group:   infrav1.PublicIPsReadyCondition,
	})
}
