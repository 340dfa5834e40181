package network

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func privateEndpointTypes() []*provider.Type {
	pe := &provider.Type{
		Name: PrivateEndpoints, Style: provider.Network, Etag: provider.Weak, EdgeZones: true, RetryAfter: 10,
		Create: provider.Timing{HTTP: 12800 * time.Millisecond, LRO: provider.Seconds(35)},
		Update: provider.Timing{HTTP: 3000 * time.Millisecond, LRO: provider.Seconds(10)},
		Delete: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(10)},
		ReadOnlyPaths: []string{"properties.networkInterfaces", "properties.customDnsConfigs", "properties.resourceGuid",
			"properties.privateLinkServiceConnections[].id", "properties.privateLinkServiceConnections[].type",
			"properties.privateLinkServiceConnections[].etag",
			"properties.manualPrivateLinkServiceConnections[].id", "properties.manualPrivateLinkServiceConnections[].type",
			"properties.manualPrivateLinkServiceConnections[].etag"},
		Since:   map[string]string{"properties.isIPv6EnabledPrivateEndpoint": "2024-01-01"}, // recordings of 2022-07-01 and 2024-03-01
		Prepare: preparePrivateEndpoint, Finish: finishPrivateEndpoint, View: viewPrivateEndpoint,
		Deleted: func(c *provider.Call, r *store.Resource) {
			for _, ref := range body.Objects(r.Body, "properties.networkInterfaces") {
				c.EraseTree(body.String(ref, "id"))
			}
		},
	}
	group := &provider.Type{
		Name: PrivateEndpoints + "/privateDnsZoneGroups", Style: provider.Network, Etag: provider.Weak, Untracked: true, RetryAfter: 10,
		ReadOnlyPaths: []string{"properties.privateDnsZoneConfigs[].id", "properties.privateDnsZoneConfigs[].type",
			"properties.privateDnsZoneConfigs[].etag", "properties.privateDnsZoneConfigs[].properties.provisioningState",
			"properties.privateDnsZoneConfigs[].properties.recordSets"},
		Create: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(5)},
		Delete: provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(5)},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			for _, cfg := range body.Objects(d.New, "properties.privateDnsZoneConfigs") {
				id := body.String(cfg, "properties.privateDnsZoneId")
				if c.FindItem(id) == nil {
					return provider.InvalidReference(id, d.ID)
				}
			}
			return nil
		},
		View: viewZoneGroup,
	}
	return []*provider.Type{pe, group}
}

// viewPrivateEndpoint completes the connections, which are children without URLs of their own.
func viewPrivateEndpoint(_ *provider.Call, it *provider.Item) {
	for _, kind := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		for _, e := range body.Objects(it.Body, "properties."+kind) {
			e["id"], e["type"], e["etag"] = it.ID+"/"+kind+"/"+body.String(e, "name"), PrivateEndpoints+"/"+kind, it.Resource.Etag
		}
	}
}

// viewZoneGroup shows the records that the group keeps in its zones.
func viewZoneGroup(c *provider.Call, it *provider.Item) {
	var endpoint body.Object
	if id, err := store.ParseID(it.ID); err == nil {
		if pe := c.Get(id.Parent().String()); pe != nil {
			endpoint = pe.Body
		}
	}
	for _, e := range body.Objects(it.Body, "properties.privateDnsZoneConfigs") {
		e["id"], e["type"], e["etag"] = it.ID+"/privateDnsZoneConfigs/"+body.String(e, "name"),
			PrivateEndpoints+"/privateDnsZoneGroups/privateDnsZoneConfigs", it.Resource.Etag
		state := body.Get(it.Body, "properties.provisioningState")
		body.Set(e, "properties.provisioningState", state)
		zone := body.String(e, "properties.privateDnsZoneId")
		records := []any{}
		for _, dns := range body.Objects(endpoint, "properties.customDnsConfigs") {
			label, _, _ := strings.Cut(body.String(dns, "fqdn"), ".")
			records = append(records,
				body.Object{"recordType": "A", "recordSetName": label, "fqdn": label + "." + zone[strings.LastIndexByte(zone, '/')+1:], "ttl": 10,
					"provisioningState": state, "ipAddresses": body.Get(dns, "ipAddresses")})
		}
		body.Set(e, "properties.recordSets", records)
	}
}

func preparePrivateEndpoint(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	subnet := body.String(d.New, p+"subnet.id")
	if _, err := c.RequireReference(subnet, d.ID, Subnets, d.Location); err != nil {
		return err
	}
	auto, manual := body.Objects(d.New, p+"privateLinkServiceConnections"), body.Objects(d.New, p+"manualPrivateLinkServiceConnections")
	if len(auto)+len(manual) == 0 {
		return invalidValue("PrivateEndpointMissingConnection", "Private endpoint %s must have a private link service connection.", d.ID)
	}
	body.Default(d.New, p+"privateLinkServiceConnections", []any{})
	body.Default(d.New, p+"manualPrivateLinkServiceConnections", []any{})
	body.Default(d.New, p+"ipConfigurations", []any{})
	body.Default(d.New, p+"customNetworkInterfaceName", "")
	body.Default(d.New, p+"customDnsConfigs", []any{})
	body.Default(d.New, p+"isIPv6EnabledPrivateEndpoint", false)
	for i, list := range [][]body.Object{auto, manual} {
		for _, conn := range list {
			if body.String(conn, "properties.privateLinkServiceId") == "" {
				return invalidValue("PrivateEndpointMissingPrivateLinkServiceId", "A connection of private endpoint %s has no privateLinkServiceId.",
					d.ID)
			}
			state := body.Object{"status": "Approved", "description": "Auto Approved", "actionsRequired": "None"} // once it is made it has a hyphen
			if i == 1 {
				state = body.Object{"status": "Pending", "description": "Awaiting approval", "actionsRequired": "None"}
			}
			if _, was := body.FindNamed(append(body.Objects(d.Old, p+"privateLinkServiceConnections"),
				body.Objects(d.Old, p+"manualPrivateLinkServiceConnections")...), body.String(conn, "name")); was != nil {
				state = body.Clone(body.Child(was, "properties.privateLinkServiceConnectionState"))
			}
			body.Default(conn, "properties.privateLinkServiceConnectionState", state)
			body.Set(conn, "properties.provisioningState", store.Succeeded)
		}
	}
	resourceGUID(c, d)
	if err := checkMembers(d, append(auto, manual...)); err != nil {
		return err
	}
	if nics := body.Get(d.Old, p+"networkInterfaces"); nics != nil {
		body.Set(d.New, p+"networkInterfaces", nics)
		if dns := body.Get(d.Old, p+"customDnsConfigs"); dns != nil {
			body.Set(d.New, p+"customDnsConfigs", dns)
		}
		return nil
	}
	return endpointInterface(c, d, subnet)
}

// checkMembers refuses fixed addresses of a service that are not those of all members of its groups. Sources: Azure/bicep#7119,
// hashicorp/terraform-provider-azurerm#21781 for registries, Azure/terraform-azurerm-avm-res-keyvault-vault#108 for vaults. That the other
// groups have one member of the same name is an assumption. A private link service has no groups.
func checkMembers(d *provider.Draft, connections []body.Object) error {
	fixed := body.Objects(d.New, "properties.ipConfigurations")
	if len(fixed) == 0 {
		return nil
	}
	list := func(pairs [][2]string) string {
		var out []string
		for _, p := range pairs {
			out = append(out, "GroupId: "+p[0]+", MemberName: "+p[1])
		}
		return strings.Join(out, "; ")
	}
	has := func(group, member string) bool {
		return slices.ContainsFunc(fixed, func(cfg body.Object) bool {
			return strings.EqualFold(body.String(cfg, "properties.groupId"), group) && strings.EqualFold(body.String(cfg, "properties.memberName"), member)
		})
	}
	var sent []string
	for _, cfg := range fixed {
		sent = append(sent, "PrivateIPAddress: "+body.String(cfg, "properties.privateIPAddress")+", GroupId: "+
			body.String(cfg, "properties.groupId")+", MemberName: "+body.String(cfg, "properties.memberName"))
	}
	var missing [][2]string
	for _, connection := range connections {
		for _, group := range body.Strings(connection, "properties.groupIds") {
			members := map[string][]string{"vault": {"default"}, "registry": {"registry_data_" + d.Location, "registry"}}[strings.ToLower(group)]
			if members == nil {
				members = []string{group}
			}
			for _, member := range members {
				if !has(group, member) {
					missing = append(missing, [2]string{group, member})
				}
			}
		}
	}
	if missing == nil {
		return nil
	}
	return invalidValue("PrivateEndpointIpConfigurationMissingMemberNamesRequiredByFps",
		"Private Endpoint %s contains static ipconfigurations: [%s] and its missing these membernames/groupids requested by Private Link service [%s]. Private Endpoint needs to be reconfigured with missing memberNames.",
		d.ID, strings.Join(sent, "; "), list(missing))
}

// endpointInterface makes the interface Azure creates for a private endpoint.
func endpointInterface(c *provider.Call, d *provider.Draft, subnet string) error {
	id, _ := store.ParseID(d.ID)
	name := body.String(d.New, "properties.customNetworkInterfaceName")
	if name == "" {
		name = d.Name + ".nic." + c.NewGUID()
	}
	nicID := id.Scope + "/providers/" + Interfaces + "/" + name
	fixed := body.Objects(d.New, "properties.ipConfigurations")
	cfgs, taken := []any{}, map[netip.Addr]bool{}
	for i := range max(1, len(fixed)) {
		cfg := body.Object{"name": "privateEndpointIpConfig." + c.NewGUID(), "properties": body.Object{
			"provisioningState": store.Succeeded, "privateIPAllocationMethod": "Dynamic", "privateIPAddressVersion": "IPv4", "primary": i == 0,
			"subnet": body.Object{"id": subnet}}}
		if len(fixed) > 0 {
			body.Set(cfg, "properties.privateIPAllocationMethod", "Static")
			body.Set(cfg, "properties.privateIPAddress", body.String(fixed[i], "properties.privateIPAddress"))
		}
		if err := AllocateAddress(c, nicID+"/ipConfigurations/"+body.String(cfg, "name"), cfg, nil, taken); err != nil {
			return err
		}
		cfgs = append(cfgs, cfg)
	}
	nic := &provider.Draft{ID: nicID, Name: name, Location: d.Location, New: body.Object{"location": d.Location, "properties": body.Object{
		"provisioningState": store.Succeeded, "ipConfigurations": cfgs}}}
	resourceGUID(c, nic)
	interfaceDefaults(c, nic)
	c.SaveResource(&store.Resource{ID: nicID, Type: Interfaces, Location: d.Location, Body: body.Clone(nic.New)})
	body.Set(d.New, "properties.networkInterfaces", References([]string{nicID}))
	return nil
}

// endpointName returns the name that leads to the private address: that of the account for storage, a made-up one for other services.
// Source: https://learn.microsoft.com/azure/private-link/private-endpoint-dns and recordings.
func endpointName(connection body.Object, location string) string {
	target := body.String(connection, "properties.privateLinkServiceId")
	name := strings.ToLower(target[strings.LastIndexByte(target, '/')+1:])
	if groups := body.Strings(connection, "properties.groupIds"); len(groups) > 0 &&
		strings.Contains(strings.ToLower(target), "/microsoft.storage/storageaccounts/") {
		return name + "." + groups[0] + ".core.windows.net"
	}
	return name + ".privatelink." + location + ".azure.com"
}

func finishPrivateEndpoint(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	var configs []any
	for _, ref := range body.Objects(r.Body, "properties.networkInterfaces") {
		nic := c.Get(body.String(ref, "id"))
		if nic == nil {
			continue
		}
		ip := body.String(body.Objects(nic.Body, "properties.ipConfigurations")[0], "properties.privateIPAddress")
		for _, conn := range body.Objects(r.Body, "properties.privateLinkServiceConnections") {
			configs = append(configs, body.Object{"fqdn": endpointName(conn, r.Location), "ipAddresses": []any{ip}})
			if state := body.Child(conn, "properties.privateLinkServiceConnectionState"); body.String(state, "description") == "Auto Approved" {
				state["description"] = "Auto-Approved"
			}
		}
	}
	if configs == nil {
		configs = []any{}
	}
	body.Set(r.Body, "properties.customDnsConfigs", configs)
	return nil
}
