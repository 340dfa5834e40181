package plan

import (
	"cmp"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// BuildPrivateEndpoint returns the body of a private endpoint in a subnet. location is the cluster's, the default for
// endpoints without one.
func BuildPrivateEndpoint(spec infrav1.PrivateEndpointSpec, subnet arm.ID, location string,
	tags map[string]*string) armnetwork.PrivateEndpoint {
	properties := &armnetwork.PrivateEndpointProperties{
		ApplicationSecurityGroups:           []*armnetwork.ApplicationSecurityGroup{},
		IPConfigurations:                    []*armnetwork.PrivateEndpointIPConfiguration{},
		ManualPrivateLinkServiceConnections: []*armnetwork.PrivateLinkServiceConnection{},
		PrivateLinkServiceConnections:       []*armnetwork.PrivateLinkServiceConnection{},
		Subnet:                              &armnetwork.Subnet{ID: ToIDPointer(subnet)},
	}
	if spec.CustomNetworkInterfaceName != "" {
		properties.CustomNetworkInterfaceName = new(spec.CustomNetworkInterfaceName)
	}
	for _, group := range slices.Sorted(slices.Values(spec.ApplicationSecurityGroups)) {
		properties.ApplicationSecurityGroups = append(properties.ApplicationSecurityGroups, &armnetwork.ApplicationSecurityGroup{ID: new(group)})
	}
	for _, ip := range slices.Sorted(slices.Values(spec.PrivateIPAddresses)) {
		properties.IPConfigurations = append(properties.IPConfigurations, &armnetwork.PrivateEndpointIPConfiguration{
			Properties: &armnetwork.PrivateEndpointIPConfigurationProperties{PrivateIPAddress: new(ip)},
		})
	}
	connections := buildConnections(spec)
	if spec.ManualApproval {
		properties.ManualPrivateLinkServiceConnections = connections
	} else {
		properties.PrivateLinkServiceConnections = connections
	}
	return armnetwork.PrivateEndpoint{
		Location:   new(NormalizeRegion(cmp.Or(spec.Location, location))),
		Tags:       tags,
		Properties: properties,
	}
}

// buildConnections returns the private link connections of an endpoint, sorted by name. The name defaults to the
// endpoint's.
func buildConnections(spec infrav1.PrivateEndpointSpec) []*armnetwork.PrivateLinkServiceConnection {
	out := []*armnetwork.PrivateLinkServiceConnection{}
	for _, connection := range spec.PrivateLinkServiceConnections {
		properties := &armnetwork.PrivateLinkServiceConnectionProperties{
			PrivateLinkServiceID: new(connection.PrivateLinkServiceID),
			GroupIDs:             ToPointers(connection.GroupIDs),
		}
		if connection.RequestMessage != "" {
			properties.RequestMessage = new(connection.RequestMessage)
		}
		out = append(out, &armnetwork.PrivateLinkServiceConnection{Name: new(cmp.Or(connection.Name, spec.Name)), Properties: properties})
	}
	slices.SortFunc(out, func(a, b *armnetwork.PrivateLinkServiceConnection) int { return cmp.Compare(*a.Name, *b.Name) })
	return out
}
