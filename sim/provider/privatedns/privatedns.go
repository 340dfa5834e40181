// Package privatedns simulates the private DNS part of Microsoft.Network: zones, links to virtual networks, and record sets.
package privatedns

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types.
const (
	Zones = "Microsoft.Network/privateDnsZones"
	Links = "Microsoft.Network/privateDnsZones/virtualNetworkLinks"
)

var kinds = []string{"A", "AAAA", "CNAME", "MX", "PTR", "SOA", "SRV", "TXT"}

// records is the property that holds the records of each kind.
var records = map[string]string{"A": "aRecords", "AAAA": "aaaaRecords", "CNAME": "cnameRecord", "MX": "mxRecords", "PTR": "ptrRecords",
	"SOA": "soaRecord", "SRV": "srvRecords", "TXT": "txtRecords"}

// Provider returns the resource provider.
func Provider() *provider.Provider {
	versions := []string{"2024-06-01", "2020-06-01", "2018-09-01"}
	zone := &provider.Type{
		Name: Zones, APIVersions: versions, Style: provider.PrivateDNS, Etag: provider.Bare, Global: true, Works: true, AcceptedStatus: 202,
		RetryAfter: 30, DeleteRetryAfter: 30,
		Create: provider.Timing{HTTP: 1300 * time.Millisecond, LRO: 12 * time.Second},
		Delete: provider.Timing{HTTP: 650 * time.Millisecond, LRO: 15 * time.Second},
		ReadOnlyPaths: []string{"properties.maxNumberOfRecordSets", "properties.numberOfRecordSets", "properties.maxNumberOfVirtualNetworkLinks",
			"properties.maxNumberOfVirtualNetworkLinksWithRegistration",
			"properties.numberOfVirtualNetworkLinks", "properties.numberOfVirtualNetworkLinksWithRegistration", "properties.internalId"},
		Since:    map[string]string{"properties.internalId": "2020-06-01"}, // not in recordings of 2018-09-01
		NameRule: zoneName,
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			if old := body.String(d.Old, "properties.internalId"); old != "" {
				body.Set(d.New, "properties.internalId", old)
			} else {
				body.Set(d.New, "properties.internalId", base64.StdEncoding.EncodeToString([]byte("ImmutableZoneIdentity;"+c.NewGUID()+";0")))
			}
			return nil
		},
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			soa := r.ID + "/SOA/@"
			if c.Get(soa) == nil {
				c.SaveResource(&store.Resource{ID: soa, Type: Zones + "/SOA",
					Body: body.Clone(body.Object{"properties": body.Object{"fqdn": r.Name() + ".", "ttl": 3600.0, "isAutoRegistered": false,
						"soaRecord": body.Object{
							"email": "azureprivatedns-host.microsoft.com", "expireTime": 2419200.0, "host": "azureprivatedns.net", "minimumTtl": 10.0,
							"refreshTime": 3600.0, "retryTime": 300.0, "serialNumber": 1.0}}})})
			}
			return nil
		},
		Patch: func(*provider.Call, *provider.Draft) error { return nil }, PatchLRO: provider.Timing{LRO: 5 * time.Second},
		View: viewZone, CanDelete: zoneInUse,
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){"all": listAll},
	}
	link := &provider.Type{
		Name: Links, APIVersions: versions, Style: provider.PrivateDNS, Etag: provider.Quoted, Global: true, Works: true, AcceptedStatus: 202,
		RetryAfter: 30, DeleteRetryAfter: 30,
		Create:        provider.Timing{HTTP: 1300 * time.Millisecond, LRO: 12 * time.Second},
		Delete:        provider.Timing{HTTP: 650 * time.Millisecond, LRO: 15 * time.Second},
		ReadOnlyPaths: []string{"properties.virtualNetworkLinkState"},
		Serial:        func(id store.ID) []string { return []string{id.String()} },
		Prepare:       prepareLink,
		Finish: func(_ *provider.Call, _ *store.Operation, r *store.Resource) error {
			body.Set(r.Body, "properties.virtualNetworkLinkState", "Completed")
			return nil
		},
		Patch: func(*provider.Call, *provider.Draft) error { return nil }, PatchLRO: provider.Timing{LRO: 5 * time.Second},
	}
	types := []*provider.Type{zone, link}
	for _, kind := range kinds {
		types = append(types, recordType(kind, versions))
	}
	return &provider.Provider{Namespace: "Microsoft.Network", Types: types}
}

var label = regexp.MustCompile(`^[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?$`)

func zoneName(name string) *provider.Error {
	parts := strings.Split(name, ".")
	for _, p := range parts {
		if !label.MatchString(p) || len(parts) < 2 {
			return provider.Errorf(400, "BadRequest",
				"The domain name '%s' is invalid. The provided domain name must have between 2 and 34 labels of letters, digits, '-' and '_'.", name)
		}
	}
	return nil
}

// recordType makes the type of one kind of record set. Record sets are written synchronously.
func recordType(kind string, versions []string) *provider.Type {
	return &provider.Type{
		Name: Zones + "/" + kind, APIVersions: versions, Style: provider.PrivateDNS, Etag: provider.Bare, Untracked: true, NoState: true,
		Create: provider.Timing{HTTP: 300 * time.Millisecond}, Delete: provider.Timing{HTTP: 300 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.fqdn", "properties.isAutoRegistered"},
		Serial:        func(store.ID) []string { return nil },
		Prepare:       func(c *provider.Call, d *provider.Draft) error { return prepareRecord(c, d, kind) },
		Patch:         func(c *provider.Call, d *provider.Draft) error { return prepareRecord(c, d, kind) },
		CanDelete: func(_ *provider.Call, it *provider.Item) error {
			if kind == "SOA" {
				return provider.Errorf(400, "BadRequest", "Record sets of type 'SOA' with name '%s' cannot be deleted.", it.Name)
			}
			return nil
		},
	}
}

func prepareRecord(c *provider.Call, d *provider.Draft, kind string) error {
	p := "properties."
	if d.Name != "@" && d.Name != "*" {
		for _, part := range strings.Split(strings.TrimPrefix(d.Name, "*."), ".") {
			if !label.MatchString(part) {
				return provider.Errorf(400, "BadRequest", "The record set name '%s' is invalid.", d.Name)
			}
		}
	}
	if ttl := body.Int(d.New, p+"ttl"); ttl < 1 {
		return provider.Errorf(400, "BadRequest", "The resource record set must have a 'ttl' of at least 1 second.")
	}
	for other, prop := range body.Sorted(records) {
		if other != kind && body.Has(d.New, p+prop) {
			return provider.Errorf(400, "BadRequest", "The resource record type '%s' does not match '%s' of the request.", kind, prop)
		}
	}
	for _, family := range []struct {
		prop, field string
		is4         bool
	}{{"aRecords", "ipv4Address", true}, {"aaaaRecords", "ipv6Address", false}} {
		for _, rec := range body.Objects(d.New, p+family.prop) {
			if a, err := netip.ParseAddr(body.String(rec, family.field)); err != nil || a.Is4() != family.is4 {
				return provider.Errorf(400, "BadRequest", "The value '%s' of %s is not a valid address.", body.String(rec, family.field), family.field)
			}
		}
	}
	zone := c.ID.Parent().Name()
	fqdn := d.Name + "." + zone + "."
	if d.Name == "@" {
		fqdn = zone + "."
	}
	body.Set(d.New, p+"fqdn", fqdn)
	body.Set(d.New, p+"isAutoRegistered", false)
	return nil
}

func prepareLink(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	id := body.String(d.New, p+"virtualNetwork.id")
	if d.Old != nil && !store.SameID(body.String(d.Old, p+"virtualNetwork.id"), id) {
		return provider.Errorf(400, "BadRequest", "The virtual network of link '%s' cannot be changed.", d.Name)
	}
	if it := c.FindItem(id); it == nil || !strings.EqualFold(it.Resource.Type, network.VirtualNetworks) {
		return provider.Errorf(400, "BadRequest", "The virtual network with resource ID '%s' does not exist.", id)
	}
	body.Default(d.New, p+"registrationEnabled", false)
	for _, l := range c.List(Links, "") {
		if store.SameID(l.ID, d.ID) || !store.SameID(body.String(l.Body, p+"virtualNetwork.id"), id) {
			continue
		}
		zone, _ := store.ParseID(l.ID)
		mine, _ := store.ParseID(d.ID)
		if strings.EqualFold(zone.Parent().Name(), mine.Parent().Name()) {
			return provider.Errorf(409, "Conflict",
				"A virtual network cannot be linked to multiple zones with overlapping namespaces. You tried to link virtual network with '%s' and '%s' zones.", zone.Parent().Name(), mine.Parent().Name())
		}
		if body.Bool(d.New, p+"registrationEnabled") && body.Bool(l.Body, p+"registrationEnabled") {
			return provider.Errorf(409, "Conflict", "A virtual network can only be linked to 1 Private DNS zone(s) with auto-registration enabled.")
		}
	}
	state := body.String(d.Old, p+"virtualNetworkLinkState")
	if state == "" {
		state = "InProgress"
	}
	body.Set(d.New, p+"virtualNetworkLinkState", state)
	return nil
}

func viewZone(c *provider.Call, it *provider.Item) {
	sets, links, registered := 0, 0, 0
	for _, r := range c.Children(it.ID) {
		if strings.EqualFold(r.Type, Links) {
			links++
			if body.Bool(r.Body, "properties.registrationEnabled") {
				registered++
			}
		} else {
			sets++
		}
	}
	for k, v := range map[string]int{"maxNumberOfRecordSets": 25000, "numberOfRecordSets": max(1, sets),
		"maxNumberOfVirtualNetworkLinks": 1000, "maxNumberOfVirtualNetworkLinksWithRegistration": 100,
		"numberOfVirtualNetworkLinks": links, "numberOfVirtualNetworkLinksWithRegistration": registered} {
		body.Set(it.Body, "properties."+k, v)
	}
}

func zoneInUse(c *provider.Call, it *provider.Item) error {
	for _, l := range c.List(Links, it.ID) {
		return provider.NestedResourcesExist(l.ID)
	}
	return nil
}

func listAll(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	out := []any{}
	for _, r := range c.Children(it.ID) {
		if !strings.EqualFold(r.Type, Links) {
			out = append(out, c.RenderResource(r))
		}
	}
	return provider.OK(out), nil
}
