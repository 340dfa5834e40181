package network

import (
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

var dnsLabel = regexp.MustCompile(`^[a-z][a-z0-9-]{1,61}[a-z0-9]$`)

func publicIPTypes() []*provider.Type {
	ip := &provider.Type{
		Name: PublicIPs, Style: provider.Network, Etag: provider.Weak, EdgeZones: true, RetryAfter: 1,
		Create: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(1.5)},
		Delete: provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.ipAddress", "properties.ipConfiguration", "properties.natGateway",
			"properties.dnsSettings.fqdn"},
		Immutable: []string{"sku", "properties.publicIPAddressVersion"},
		Since:     map[string]string{"properties.ddosSettings": "2022-05-01"},
		// recordings of 2020-11-01 and 2024-03-01, and the changelog of the SDK module armnetwork
		Prepare: preparePublicIP, Finish: finishPublicIP, CanDelete: publicIPInUse, View: viewPublicIP,
	}
	prefix := &provider.Type{
		Name: PublicIPPrefixes, Style: provider.Network, Etag: provider.Weak, EdgeZones: true, RetryAfter: 3,
		Create:        provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(5)},
		Delete:        provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.ipPrefix", "properties.publicIPAddresses"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			body.Default(d.New, "sku.name", "Standard")
			body.Default(d.New, "sku.tier", "Regional")
			body.Default(d.New, "properties.publicIPAddressVersion", "IPv4")
			body.Default(d.New, "properties.ipTags", []any{})
			n, low, high := body.Int(d.New, "properties.prefixLength"), 21, 31
			if body.String(d.New, "properties.publicIPAddressVersion") == "IPv6" {
				low, high = 124, 127
			}
			if n < low || n > high {
				return invalidValue("InvalidPrefixLength", "Prefix length %d of %s is not between %d and %d.", n, d.ID, low, high)
			}
			if old := body.String(d.Old, "properties.ipPrefix"); old != "" {
				body.Set(d.New, "properties.ipPrefix", old)
			}
			return checkZones(c, d)
		},
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			if body.String(r.Body, "properties.ipPrefix") == "" {
				a := netip.MustParseAddr(NextPublic(c, body.String(r.Body, "properties.publicIPAddressVersion") == "IPv6"))
				body.Set(r.Body, "properties.ipPrefix", netip.PrefixFrom(a, body.Int(r.Body, "properties.prefixLength")).Masked().String())
			}
			return nil
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if users := referrerPaths(c, it.ID, "publicIPPrefix", "publicIpPrefixes"); len(users) > 0 {
				return invalidValue("PublicIPPrefixCannotBeDeleted", "Public IP prefix %s cannot be deleted since it is still in use by %s.", it.ID,
					strings.Join(users, ", "))
			}
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			if users := referrerPaths(c, it.ID, "publicIPPrefix"); users != nil {
				body.Set(it.Body, "properties.publicIPAddresses", References(users))
			}
		},
	}
	return []*provider.Type{ip, prefix}
}

func preparePublicIP(c *provider.Call, d *provider.Draft) error {
	resourceGUID(c, d)
	body.Default(d.New, "sku.name", "Basic")
	body.Default(d.New, "sku.tier", "Regional")
	p := "properties."
	body.Default(d.New, p+"publicIPAddressVersion", "IPv4")
	if body.String(d.Old, p+"publicIPAllocationMethod") != "" && !body.Has(d.New, p+"publicIPAllocationMethod") {
		body.Set(d.New, p+"publicIPAllocationMethod", body.String(d.Old, p+"publicIPAllocationMethod"))
	}
	body.Default(d.New, p+"publicIPAllocationMethod", "Dynamic")
	body.Default(d.New, p+"idleTimeoutInMinutes", 4)
	body.Default(d.New, p+"ipTags", []any{})
	if body.String(d.New, "sku.name") != "Basic" { // Recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, publicipaddressclient.
		body.Default(d.New, p+"ddosSettings", body.Object{"protectionMode": "VirtualNetworkInherited"})
	}
	if err := oneOf(d.New, p+"publicIPAllocationMethod", "publicIPAllocationMethod", "Static", "Dynamic"); err != nil {
		return err
	}
	if err := oneOf(d.New, p+"publicIPAddressVersion", "publicIPAddressVersion", "IPv4", "IPv6"); err != nil {
		return err
	}
	if n := body.Int(d.New, p+"idleTimeoutInMinutes"); n < 4 || n > 30 {
		return invalidValue("PublicIPAddressIdleTimeoutIsOutOfRange",
			"The idle timeout specified for public IP address %s is out of the allowed range. It should be between 4 and 30 minutes.", d.ID)
	}
	standard := strings.EqualFold(body.String(d.New, "sku.name"), "Standard")
	if standard && body.String(d.New, p+"publicIPAllocationMethod") != "Static" {
		return invalidValue("StandardSkuPublicIPAddressesMustUseStaticAllocation",
			"Standard sku publicIp %s must have AllocationMethod set to Static.", d.ID)
	}
	if err := checkZones(c, d); err != nil {
		return err
	}
	if label := body.String(d.New, p+"dnsSettings.domainNameLabel"); label != "" {
		if !dnsLabel.MatchString(label) {
			return invalidValue("InvalidDomainNameLabel",
				"The domain name label %s is invalid. It must conform to the following regular expression: %s.", label, dnsLabel)
		}
		fqdn := HostName(label, d.Location)
		for _, r := range c.List(PublicIPs, "") {
			if !store.SameID(r.ID, d.ID) && strings.EqualFold(body.String(r.Body, p+"dnsSettings.fqdn"), fqdn) {
				return invalidValue("DnsRecordInUse", "DNS record %s is already used by another public IP.", fqdn)
			}
		}
		body.Set(d.New, p+"dnsSettings.fqdn", fqdn)
	}
	if id := body.String(d.New, p+"publicIPPrefix.id"); id != "" {
		if c.FindItem(id) == nil {
			return provider.NetworkError(404, "NotFound", "Resource %s not found.", id)
		}
		if _, err := c.RequireReference(id, d.ID, PublicIPPrefixes, d.Location); err != nil {
			return err
		}
	}
	if old := body.String(d.Old, p+"ipAddress"); old != "" {
		body.Set(d.New, p+"ipAddress", old)
	}
	return nil
}

// HostName returns the DNS name that a label gets in a region, in the domain of the region's cloud.
func HostName(label, location string) string {
	domain := "cloudapp.azure.com"
	if strings.HasPrefix(location, "usgov") {
		domain = "cloudapp.usgovcloudapi.net"
	}
	return label + "." + location + "." + domain
}

func finishPublicIP(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	p := "properties."
	if body.String(r.Body, p+"ipAddress") != "" {
		return nil
	}
	if id := body.String(r.Body, p+"publicIPPrefix.id"); id != "" {
		return fromPrefix(c, r, id)
	}
	// A dynamic address exists only while the resource is attached; it is reserved here and shown by the view.
	body.Set(r.Body, p+"ipAddress", NextPublic(c, body.String(r.Body, p+"publicIPAddressVersion") == "IPv6"))
	return nil
}

func fromPrefix(c *provider.Call, r *store.Resource, prefixID string) error {
	it := c.FindItem(prefixID)
	if it == nil {
		return provider.InvalidReference(prefixID, r.ID)
	}
	n, err := netip.ParsePrefix(body.String(it.Body, "properties.ipPrefix"))
	if err != nil {
		return provider.Again(provider.Seconds(1))
	}
	taken := map[string]bool{}
	for _, ref := range c.Referrers(it.ID) {
		if o := c.Get(ref.From); o != nil {
			taken[body.String(o.Body, "properties.ipAddress")] = true
		}
	}
	for a := n.Addr(); n.Contains(a); a = a.Next() {
		if !taken[a.String()] {
			body.Set(r.Body, "properties.ipAddress", a.String())
			return nil
		}
	}
	return invalidValue("PublicIPPrefixOutOfIpAddresses", "Public IP prefix %s is out of IP addresses.", prefixID)
}

func publicIPUsers(c *provider.Call, id string) (cfgs, gateways []string) {
	return referrerPaths(c, id, "publicIPAddress"), referrerPaths(c, id, "publicIpAddresses")
}

func publicIPInUse(c *provider.Call, it *provider.Item) error {
	cfgs, gateways := publicIPUsers(c, it.ID)
	for _, u := range append(cfgs, gateways...) {
		return invalidValue("PublicIPAddressCannotBeDeleted",
			"Public IP address %s can not be deleted since it is still allocated to resource %s. In order to delete the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see aka.ms/deletepublicip.", it.ID, u)
	}
	return nil
}

// bastionPath gives the IP configuration of a bastion host the name Azure uses in references.
func bastionPath(id string) string {
	if strings.Contains(strings.ToLower(id), "/bastionhosts/") {
		return strings.Replace(id, "/ipConfigurations/", "/bastionHostIpConfigurations/", 1)
	}
	return id
}

func viewPublicIP(c *provider.Call, it *provider.Item) {
	cfgs, gateways := publicIPUsers(c, it.ID)
	if len(cfgs) > 0 {
		body.Set(it.Body, "properties.ipConfiguration", body.Object{"id": bastionPath(cfgs[0])})
	}
	if len(gateways) > 0 {
		body.Set(it.Body, "properties.natGateway", body.Object{"id": gateways[0]})
	}
	if body.String(it.Body, "properties.publicIPAllocationMethod") == "Dynamic" && len(cfgs) == 0 {
		body.Delete(it.Body, "properties.ipAddress")
	}
}

// publicIPFree checks that a public address may be used by owner (an IP configuration or a NAT gateway).
func publicIPFree(c *provider.Call, id, owner, location string) (*provider.Item, error) {
	it, err := c.RequireReference(id, owner, PublicIPs, location)
	if err != nil {
		// A missing address is named a second time: recording Test_Compute_v1api_CreationAndDeletion.
		if e := (*provider.Error)(nil); errors.As(err, &e) && e.Code == "InvalidResourceReference" && c.FindItem(id) == nil {
			e.WithDetail(provider.Errorf(0, "NotFound", "Resource %s not found.", id))
		}
		return nil, err
	}
	cfgs, gateways := publicIPUsers(c, it.ID)
	for _, u := range append(cfgs, gateways...) {
		if !store.SameID(u, owner) {
			return nil, invalidValue("PublicIPAddressInUse",
				"Resource %s is referencing public IP address %s that is already allocated to resource %s.", owner, it.ID, u)
		}
	}
	return it, nil
}

func natGatewayType() *provider.Type {
	return &provider.Type{
		Name: NatGateways, Style: provider.Network, Etag: provider.Weak, RetryAfter: 10,
		Create:        provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(6)},
		Delete:        provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(9), Spread: 0.1},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.subnets"},
		Since:         map[string]string{"properties.type": "2024-01-01"}, // recordings of 2022-07-01 and 2024-03-01; no version documents it
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			body.Default(d.New, "sku.name", "Standard")
			body.Default(d.New, "sku.tier", "Regional")
			body.Default(d.New, "properties.type", "Public")
			body.Default(d.New, "properties.idleTimeoutInMinutes", 4)
			if n := body.Int(d.New, "properties.idleTimeoutInMinutes"); n < 4 || n > 120 {
				return invalidValue("NatGatewayIdleTimeoutOutOfRange", "The idle timeout of NAT gateway %s must be between 4 and 120 minutes.", d.ID)
			}
			for _, ref := range body.Objects(d.New, "properties.publicIpAddresses") {
				id := body.String(ref, "id")
				if c.FindItem(id) == nil {
					// Recordings show the missing address upper-cased, and 404 instead of the usual 400.
					return provider.NetworkError(404, "NotFound", "Resource %s not found.", strings.ToUpper(id))
				}
				it, err := publicIPFree(c, id, d.ID, d.Location)
				if err != nil {
					return err
				}
				if !strings.EqualFold(body.String(it.Body, "sku.name"), "Standard") {
					return invalidValue("NatGatewayPublicIpAddressMustBeStandardSku",
						"NAT gateway %s cannot use public IP address %s because its sku is not Standard.", d.ID, id)
				}
			}
			for _, ref := range body.Objects(d.New, "properties.publicIpPrefixes") {
				if _, err := c.RequireReference(body.String(ref, "id"), d.ID, PublicIPPrefixes, d.Location); err != nil {
					return err
				}
			}
			// Source: https://learn.microsoft.com/azure/nat-gateway/nat-availability-zones. Code and text are an assumption.
			if zones := body.Strings(d.New, "zones"); len(zones) > 1 && strings.EqualFold(body.String(d.New, "sku.name"), "Standard") {
				return invalidValue("NatGatewayZonesNotSupported", "NAT gateway %s can have one availability zone, and the request has %d.", d.ID,
					len(zones))
			}
			return checkZones(c, d)
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if users := referrerPaths(c, it.ID, "natGateway"); len(users) > 0 {
				return invalidValue("CannotDeleteNatGatewayAssociatedToSubnet",
					"NAT Gateway %s is still configured on %d subnets. Remove NAT Gateway from all referenced subnets and then delete NAT Gateway.", it.ID,
					len(users))
			}
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			if users := referrerPaths(c, it.ID, "natGateway"); users != nil {
				body.Set(it.Body, "properties.subnets", References(users))
			}
		},
	}
}
