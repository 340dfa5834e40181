package network

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Reservation is kept for an interface whose VM failed or went away while it was created: for 180 seconds no other VM may take it.
type Reservation struct {
	VM    string    `json:"vm"`
	Until time.Time `json:"until"`
}

// ReservationKey returns the key of an interface's reservation.
func ReservationKey(nicID string) string { return "nicReservation/" + store.Key(nicID) }

// HardwareKey returns the key of the note that an interface has been in use by a running VM. It keeps its MAC address after the VM is gone:
// https://learn.microsoft.com/azure/virtual-network/virtual-network-network-interface
func HardwareKey(nicID string) string { return "nicHardware/" + store.Key(nicID) }

func networkInterfaceTypes() []*provider.Type {
	nic := &provider.Type{
		Name: Interfaces, Style: provider.Network, Etag: provider.Weak, EdgeZones: true,
		Create: provider.Timing{HTTP: 1100 * time.Millisecond}, Delete: provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(4)},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.macAddress", "properties.virtualMachine", "properties.primary",
			"properties.privateEndpoint", "properties.hostedWorkloads", "properties.dnsSettings.appliedDnsServers",
			"properties.dnsSettings.internalDomainNameSuffix", "properties.tapConfigurations", "properties.vnetEncryptionSupported",
			"properties.allowPort25Out", "properties.dscpConfiguration", "properties.defaultOutboundConnectivityEnabled"},
		// Recordings of 2020-11-01 and 2022-01-01, and the changelog of the SDK module armnetwork.
		Since: map[string]string{"properties.auxiliaryMode": "2021-05-01", "properties.allowPort25Out": "2021-05-01",
			"properties.disableTcpStateTracking": "2022-05-01", "properties.auxiliarySku": "2022-11-01",
			"properties.defaultOutboundConnectivityEnabled": "2023-09-01"},
		Prepare: prepareInterface, CanDelete: interfaceInUse, View: viewInterface,
		Deleted: func(c *provider.Call, r *store.Resource) { c.SetMeta(HardwareKey(r.ID), nil) },
	}
	cfg := &provider.Type{
		Name: Interfaces + "/ipConfigurations", Style: provider.Network, Etag: provider.Weak, Untracked: true,
		Inline: "properties.ipConfigurations", ReadOnly: true,
		ReadOnlyPaths: []string{"properties.privateLinkConnectionProperties", "properties.publicIPAddress.properties",
			"properties.subnet.properties"},
		Prepare: prepareIPConfiguration,
	}
	return []*provider.Type{nic, cfg}
}

func prepareInterface(c *provider.Call, d *provider.Draft) error {
	resourceGUID(c, d)
	cfgs := body.Objects(d.New, "properties.ipConfigurations")
	if len(cfgs) == 0 {
		return invalidValue("NetworkInterfaceMustHaveIpConfiguration", "Network interface %s must have at least one IP configuration.", d.ID)
	}
	primaries := 0
	for _, e := range cfgs {
		if body.Bool(e, "properties.primary") {
			primaries++
		}
	}
	if primaries > 1 {
		return invalidValue("NetworkInterfaceMustHaveExactlyOnePrimaryIpConfiguration",
			"Network interface %s must have exactly one IP configuration marked as primary, it has %d.", d.ID, primaries)
	}
	if primaries == 0 {
		body.Set(cfgs[0], "properties.primary", true)
	}
	if id := body.String(d.New, "properties.networkSecurityGroup.id"); id != "" {
		if _, err := c.RequireReference(id, d.ID, SecurityGroups, d.Location); err != nil {
			return err
		}
	}
	interfaceDefaults(c, d)
	return nil
}

func interfaceDefaults(c *provider.Call, d *provider.Draft) {
	p := "properties."
	body.Default(d.New, p+"dnsSettings.dnsServers", []any{})
	body.Set(d.New, p+"dnsSettings.appliedDnsServers", []any{})
	d.Keep(p+"dnsSettings.internalDomainNameSuffix", func() string {
		return strings.ReplaceAll(c.NewGUID(), "-", "")[:26] + ".phxx.internal.cloudapp.net"
	})
	if !strings.EqualFold(d.Location, "westcentralus") { // Both recordings of this region do not show it: Test_Network_v1api20240301_CreationAndDeletion.
		body.Default(d.New, p+"enableAcceleratedNetworking", false)
	}
	body.Default(d.New, p+"enableIPForwarding", false)
	body.Default(d.New, p+"disableTcpStateTracking", false)
	body.Default(d.New, p+"nicType", "Standard")
	body.Default(d.New, p+"auxiliaryMode", "None")
	body.Default(d.New, p+"auxiliarySku", "None")
	body.Set(d.New, p+"vnetEncryptionSupported", false)
	body.Set(d.New, p+"allowPort25Out", true) // as recorded; it depends on the kind of subscription
	body.Set(d.New, p+"hostedWorkloads", []any{})
	body.Set(d.New, p+"tapConfigurations", []any{})
}

func prepareIPConfiguration(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, p+"privateIPAddressVersion", "IPv4")
	body.Default(d.New, p+"privateIPAllocationMethod", "Dynamic")
	body.Default(d.New, p+"primary", false)
	subnet := body.String(d.New, p+"subnet.id")
	if subnet == "" {
		return invalidValue("SubnetIsRequired", "IP configuration %s must refer to a subnet.", d.ID)
	}
	if _, err := c.RequireReference(subnet, d.ID, Subnets, d.Location); err != nil {
		return err
	}
	if public := body.String(d.New, p+"publicIPAddress.id"); public != "" {
		if _, err := publicIPFree(c, public, d.ID, d.Location); err != nil {
			return err
		}
	}
	for field, typ := range body.Sorted(map[string]string{"loadBalancerBackendAddressPools": LoadBalancers + "/backendAddressPools",
		"loadBalancerInboundNatRules": LoadBalancers + "/inboundNatRules", "applicationSecurityGroups": AppGroups}) {
		refs := body.Objects(d.New, p+field)
		if len(refs) == 0 {
			body.Delete(d.New, p+field)
		}
		for _, ref := range refs {
			it, err := c.RequireReference(body.String(ref, "id"), d.ID, typ, d.Location)
			if err != nil {
				return err
			}
			if field != "loadBalancerInboundNatRules" {
				continue
			}
			for _, user := range referrerPaths(c, it.ID, field) {
				if !store.SameID(user, d.ID) {
					return invalidValue("InboundNatRuleInUse", "Inbound NAT rule %s referenced by %s is already used by %s.", it.ID, d.ID, user)
				}
			}
		}
	}
	if err := sameBackendOfInterface(c, d.ID, d.New); err != nil {
		return err
	}
	return AllocateAddress(c, d.ID, d.New, d.Old, siblingAddresses(d, "properties.ipConfigurations"))
}

// attachedTo returns the VM an interface belongs to, or "".
func attachedTo(c *provider.Call, nicID string) string {
	for _, ref := range c.Referrers(nicID) {
		if r := c.Get(ref.From); ref.Field == "networkInterfaces" && r != nil && strings.EqualFold(r.Type, "Microsoft.Compute/virtualMachines") {
			return r.ID
		}
	}
	return ""
}

func interfaceInUse(c *provider.Call, it *provider.Item) error {
	if vm := attachedTo(c, it.ID); vm != "" {
		return invalidValue("NicInUse",
			"Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.", it.ID, vm)
	}
	var held Reservation
	if c.ReadNote(ReservationKey(it.ID), &held) && held.Until.After(c.Now()) {
		return invalidValue("NicReservedForAnotherVm",
			"Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or retry after 180 seconds. Reserved VM: %s", held.VM)
	}
	if pe := referrerPaths(c, it.ID, "networkInterfaces"); len(pe) > 0 && !c.Internal {
		return invalidValue("CannotDeleteNetworkInterfaceAssociatedWithPrivateEndpoint",
			"Network interface %s cannot be deleted because it is managed by private endpoint %s.", it.ID, pe[0])
	}
	return nil
}

// showEndpoint shows the properties of a private endpoint's interface, as recorded in
// Test_Networking_PrivateEndpoint_20220701_CRUD.
func showEndpoint(nic body.Object, endpoint *store.Resource) {
	nic["managedBy"], nic["kind"] = endpoint.ID, "Regular"
	body.Set(nic, "properties.privateEndpoint", body.Object{"id": endpoint.ID})
	body.Set(nic, "properties.macAddress", "")
	for _, connection := range body.Objects(endpoint.Body, "properties.privateLinkServiceConnections") {
		for _, cfg := range body.Objects(nic, "properties.ipConfigurations") {
			group := strings.Join(body.Strings(connection, "properties.groupIds"), ",")
			body.Set(cfg, "properties.privateLinkConnectionProperties",
				body.Object{"groupId": group, "requiredMemberName": group, "fqdns": []any{endpointName(connection, endpoint.Location)}})
		}
	}
}

func viewInterface(c *provider.Call, it *provider.Item) {
	vm, used := attachedTo(c, it.ID), false
	if vm != "" {
		body.Set(it.Body, "properties.virtualMachine", body.Object{"id": vm})
		body.Set(it.Body, "properties.primary", true)
	}
	if vm != "" || c.ReadNote(HardwareKey(it.ID), &used) && used {
		h := fnv.New32a()
		_, _ = h.Write([]byte(body.String(it.Body, "properties.resourceGuid")))
		n := h.Sum32()
		body.Set(it.Body, "properties.macAddress", fmt.Sprintf("00-0D-3A-%02X-%02X-%02X", byte(n>>16), byte(n>>8), byte(n)))
		return
	}
	for _, ref := range c.Referrers(it.ID) {
		if r := c.Get(ref.From); r != nil && strings.EqualFold(r.Type, PrivateEndpoints) {
			showEndpoint(it.Body, r)
		}
	}
}
