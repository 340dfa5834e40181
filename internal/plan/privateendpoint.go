package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
		properties.IPConfigurations = append(properties.IPConfigurations, buildStaticAddress(spec, ip))
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

// members are the names of the members of groups that do not have the name of the group. A fixed address is that of one member:
// Azure/terraform-azurerm-avm-res-keyvault-vault#108.
// https://learn.microsoft.com/en-us/azure/private-link/manage-private-endpoint#determine-groupid-and-membername
var members = map[string]string{"vault": "default"}

// severalMembers are the groups, by type of service, with members whose names depend on the service: of a registry, one for it and one for each of
// its data endpoints (hashicorp/terraform-provider-azurerm#21781); of an account of Cosmos DB, one for it and one for each of its regions
// (hashicorp/terraform-provider-azurerm#13061, Azure/terraform-azurerm-avm-res-documentdb-databaseaccount#128).
// https://learn.microsoft.com/en-us/azure/cosmos-db/how-to-configure-private-endpoints
var severalMembers = map[string][]string{
	"microsoft.containerregistry/registries": {"registry"},
	"microsoft.documentdb/databaseaccounts":  {"cassandra", "gremlin", "mongodb", "sql", "table"},
}

// hasSeveralMembers returns true if a group of a service has several members.
func hasSeveralMembers(service, group string) bool {
	for kind, groups := range severalMembers {
		if strings.Contains(strings.ToLower(service), "/providers/"+kind+"/") && slices.Contains(groups, strings.ToLower(group)) {
			return true
		}
	}
	return false
}

// buildStaticAddress returns the configuration of a fixed address. Azure requires the group and the member of an address of a service with
// groups (Azure/bicep#7119). A private link service has none.
func buildStaticAddress(spec infrav1.PrivateEndpointSpec, ip string) *armnetwork.PrivateEndpointIPConfiguration {
	out := &armnetwork.PrivateEndpointIPConfiguration{Properties: &armnetwork.PrivateEndpointIPConfigurationProperties{PrivateIPAddress: new(ip)}}
	for _, connection := range spec.PrivateLinkServiceConnections {
		for _, group := range connection.GroupIDs {
			out.Name = new(spec.Name)
			out.Properties.GroupID, out.Properties.MemberName = new(group), new(cmp.Or(members[strings.ToLower(group)], group))
		}
	}
	return out
}

// CheckPrivateEndpoint refuses fixed addresses of an endpoint if the group or the member of each address is not known.
func CheckPrivateEndpoint(spec infrav1.PrivateEndpointSpec, path *field.Path) field.ErrorList {
	var groups []string
	service := "" // of the last group
	for _, connection := range spec.PrivateLinkServiceConnections {
		if len(connection.GroupIDs) > 0 {
			groups, service = append(groups, connection.GroupIDs...), connection.PrivateLinkServiceID
		}
	}
	path = path.Child("privateIPAddresses")
	switch addresses := spec.PrivateIPAddresses; {
	case len(addresses) == 0 || len(groups) == 0:
		return nil
	case len(groups) > 1:
		return field.ErrorList{field.Invalid(path, addresses, fmt.Sprintf("the endpoint has the groups %s, and Azure needs the group of each address: "+
			"use one endpoint per group, or remove the addresses", strings.Join(groups, ", ")))}
	case hasSeveralMembers(service, groups[0]):
		return field.ErrorList{field.Invalid(path, addresses, fmt.Sprintf("the group %s of this service has several members, which need an address each, "+
			"and their names are not known: remove the addresses", groups[0]))}
	case len(addresses) > 1:
		return field.ErrorList{field.Invalid(path, addresses, fmt.Sprintf("an endpoint of group %s has one address: remove the others", groups[0]))}
	}
	return nil
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
