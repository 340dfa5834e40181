package network

import (
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func virtualNetworkTypes() []*provider.Type {
	vnet := &provider.Type{
		Name: VirtualNetworks, Style: provider.Network, Etag: provider.Weak, EdgeZones: true,
		Create:     provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(2)},
		Delete:     provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		RetryAfter: 3, UpdateRetryAfter: -1,
		ReadOnlyPaths: []string{"properties.resourceGuid"},
		// Recordings of 2020-11-01 and 2024-03-01, and the changelog of the SDK module armnetwork.
		Since:   map[string]string{"properties.privateEndpointVNetPolicies": "2024-03-01"},
		Prepare: prepareVirtualNetwork,
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			connectPeerings(c, r)
			return nil
		},
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){"checkipaddressavailability": checkAddress},
	}
	subnet := &provider.Type{
		Name: Subnets, Style: provider.Network, Etag: provider.Weak, Untracked: true, Inline: "properties.subnets",
		// Since 2023-09-01 a PUT without the property keeps the subnets. Source: https://learn.microsoft.com/azure/virtual-network/update-virtual-network-api
		KeepOmitted: func(v string) bool { return v >= "2023-09-01" },
		Create:      provider.Timing{HTTP: 250 * time.Millisecond, LRO: provider.Seconds(1.5)},
		Delete:      provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		RetryAfter:  3,
		ReadOnlyPaths: []string{"properties.ipConfigurations", "properties.privateEndpoints", "properties.resourceNavigationLinks",
			"properties.serviceAssociationLinks", "properties.ipConfigurationProfiles",
			"properties.purpose", "properties.networkSecurityGroup.properties", "properties.routeTable.properties", "properties.delegations[].id",
			"properties.delegations[].etag", "properties.delegations[].type"},
		Prepare: prepareSubnet, CanDelete: subnetInUse, View: viewSubnet,
	}
	return []*provider.Type{vnet, subnet, peeringType()}
}

func prepareVirtualNetwork(c *provider.Call, d *provider.Draft) error {
	nets, bad := parsePrefixes(d.New, "", "properties.addressSpace.addressPrefixes")
	if bad != "" {
		return invalidValue("InvalidAddressPrefixFormat",
			"Address prefix '%s' of resource %s is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.", bad, d.ID)
	}
	if len(nets) == 0 {
		return invalidValue("InvalidRequestFormat", "Virtual network %s must have at least one address prefix in addressSpace.addressPrefixes.",
			d.ID)
	}
	if err := checkSpace(nets, d.Name); err != nil {
		return err
	}
	for i, a := range nets {
		for _, b := range nets[:i] {
			if a.Overlaps(b) {
				return invalidValue("AddressPrefixesOverlap", "Address prefixes %s and %s of virtual network %s overlap.", b, a, d.Name)
			}
		}
	}
	touchPeered(c, d)
	body.Default(d.New, "properties.enableDdosProtection", false)
	body.Default(d.New, "properties.privateEndpointVNetPolicies", "Disabled")
	resourceGUID(c, d)
	return nil
}

func prepareSubnet(c *provider.Call, d *provider.Draft) error {
	vnet := d.ParentID[strings.LastIndexByte(d.ParentID, '/')+1:]
	nets, bad := parsePrefixes(d.New, "properties.addressPrefix", "properties.addressPrefixes")
	if bad != "" {
		return invalidValue("InvalidCIDRNotation",
			"The address prefix %s in resource %s has an invalid CIDR notation. For the given prefix length, the address prefix should be the network address.", bad, d.ID)
	}
	if len(nets) == 0 {
		return invalidValue("InvalidRequestFormat", "Subnet %s must have addressPrefix or addressPrefixes.", d.ID)
	}
	space, _ := parsePrefixes(d.Parent, "", "properties.addressSpace.addressPrefixes")
	for _, n := range nets {
		if !isWithin(n, space) {
			return invalidValue("NetcfgSubnetRangeOutsideVnet",
				"Subnet '%s' is not valid because its IP address range is outside the IP address range of virtual network '%s'.", d.Name, vnet)
		}
		if !hasSubnetSize(n) {
			return invalidValue("NetcfgInvalidSubnet", "Subnet '%s' is not valid in virtual network '%s'.", d.Name, vnet) // The code is assumed.
		}
		for _, sibling := range body.Objects(d.Parent, "properties.subnets") {
			if strings.EqualFold(body.String(sibling, "name"), d.Name) {
				continue
			}
			theirs, _ := parsePrefixes(sibling, "properties.addressPrefix", "properties.addressPrefixes")
			for _, t := range theirs {
				if t.Overlaps(n) {
					return invalidValue("NetcfgSubnetRangesOverlap",
						"Subnet '%s' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '%s'.", d.Name,
						vnet)
				}
			}
		}
	}
	if d.Old != nil {
		was, _ := parsePrefixes(d.Old, "properties.addressPrefix", "properties.addressPrefixes")
		for owner := range addressOwners(c, d.ID) {
			if isWithin(netip.PrefixFrom(owner, owner.BitLen()), was) && !isWithin(netip.PrefixFrom(owner, owner.BitLen()), nets) {
				return invalidValue("InUseSubnetCannotBeUpdated", "Subnet %s is in use and cannot be updated.", d.Name)
			}
		}
	}
	for field, typ := range body.Sorted(map[string]string{"networkSecurityGroup": SecurityGroups, "routeTable": RouteTables, "natGateway": NatGateways}) {
		if id := body.String(d.New, "properties."+field+".id"); id != "" {
			if _, err := c.RequireReference(id, d.ID, typ, d.Location); err != nil {
				return err
			}
		} else {
			body.Delete(d.New, "properties."+field)
		}
	}
	body.Default(d.New, "properties.delegations", []any{})
	body.Default(d.New, "properties.privateEndpointNetworkPolicies", "Disabled")
	body.Default(d.New, "properties.privateLinkServiceNetworkPolicies", "Enabled")
	for _, e := range body.Objects(d.New, "properties.serviceEndpoints") {
		// https://learn.microsoft.com/azure/azure-sql/database/vnet-service-endpoint-rule-overview: for databases of its region only.
		locations := []string{"*"}
		if strings.EqualFold(body.String(e, "service"), "Microsoft.Sql") {
			locations = []string{d.Location}
		}
		body.Default(e, "locations", locations)
	}
	return nil
}

func isWithin(n netip.Prefix, space []netip.Prefix) bool {
	for _, s := range space {
		if s.Contains(n.Addr()) && s.Bits() <= n.Bits() {
			return true
		}
	}
	return false
}

// subnetInUse refuses the deletion of a subnet that is in use. Of an application gateway it names a gatewayIPConfiguration, and not a
// frontend: recording Test_Networking_ApplicationGateway_20220701_CRUD.
func subnetInUse(c *provider.Call, it *provider.Item) error {
	user := ""
	for _, ref := range c.Referrers(it.ID) {
		if ref.Field == "subnet" && (user == "" || strings.HasPrefix(ref.Sub, "gatewayIPConfigurations/")) {
			user = ref.Path()
		}
	}
	if user == "" {
		return nil
	}
	return invalidValue("InUseSubnetCannotBeDeleted",
		"Subnet %s is in use by %s and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.", it.Name, user)
}

func viewSubnet(c *provider.Call, it *provider.Item) {
	var cfgs, endpoints []string
	for _, ref := range c.Referrers(it.ID) {
		r := c.Get(ref.From)
		if ref.Field != "subnet" || r == nil {
			continue
		}
		switch {
		case strings.EqualFold(r.Type, PrivateEndpoints):
			endpoints = append(endpoints, ref.From)
		case strings.Count(ref.Sub, "/") == 1:
			cfgs = append(cfgs, bastionPath(ref.Path()))
		}
	}
	if cfgs != nil {
		body.Set(it.Body, "properties.ipConfigurations", References(cfgs))
	}
	if endpoints != nil {
		body.Set(it.Body, "properties.privateEndpoints", References(endpoints))
	}
	for _, e := range body.Objects(it.Body, "properties.serviceEndpoints") {
		body.Set(e, "provisioningState", body.Get(it.Body, "properties.provisioningState"))
	}
	for _, e := range body.Objects(it.Body, "properties.delegations") {
		e["id"] = it.ID + "/delegations/" + body.String(e, "name")
		e["type"] = Subnets + "/delegations"
		e["etag"] = it.Resource.Etag
		body.Default(e, "properties.actions", []any{"Microsoft.Network/virtualNetworks/subnets/join/action"})
		body.Default(e, "properties.provisioningState", store.Succeeded)
	}
}

// checkAddress answers GET virtualNetworks/v/CheckIPAddressAvailability?ipAddress=.
func checkAddress(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	a, err := netip.ParseAddr(c.Query.Get("ipAddress"))
	if err != nil {
		return nil, invalidValue("InvalidIPAddressFormat", "IP address '%s' is not valid.", c.Query.Get("ipAddress"))
	}
	for _, s := range body.Objects(it.Body, "properties.subnets") {
		nets, _ := parsePrefixes(s, "properties.addressPrefix", "properties.addressPrefixes")
		if !isWithin(netip.PrefixFrom(a, a.BitLen()), nets) {
			continue
		}
		id := it.ID + "/subnets/" + body.String(s, "name")
		if _, busy := addressOwners(c, id)[a]; !busy {
			return provider.OK(body.Object{"available": true, "isPlatformReserved": false}), nil
		}
		free := []any{}
		probe := body.Object{"properties": body.Object{"subnet": body.Object{"id": id}}}
		taken := map[netip.Addr]bool{}
		for range 5 {
			if AllocateAddress(c, "", probe, nil, taken) == nil {
				free = append(free, body.String(probe, "properties.privateIPAddress"))
			}
		}
		return provider.OK(body.Object{"available": false, "availableIPAddresses": free, "isPlatformReserved": false}), nil
	}
	return provider.OK(body.Object{"available": false, "isPlatformReserved": false}), nil
}
