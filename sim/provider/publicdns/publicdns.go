// Package publicdns simulates the public DNS part of Microsoft.Network: zones and record sets. Their names are not
// resolved.
//
// Sources are the recordings Test_Network_v1api20180501_CreationAndDeletion and Test_Networking_DnsZone_CRUD of the
// Azure Service Operator. The rest is from https://learn.microsoft.com/rest/api/dns: writes end at once, and the
// deletion of a zone is a long-running operation. Times are guesses.
package publicdns

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Zones is the full name of the type, as IDs in answers have it.
const Zones = "Microsoft.Network/dnszones"

// records is the property that holds the records of each kind.
var records = map[string]string{
	"A": "ARecords", "AAAA": "AAAARecords", "CAA": "caaRecords", "CNAME": "CNAMERecord", "MX": "MXRecords", "NS": "NSRecords",
	"PTR": "PTRRecords",
	"SOA": "SOARecord", "SRV": "SRVRecords", "TXT": "TXTRecords",
}

// Provider returns the resource provider.
func Provider() *provider.Provider {
	versions := []string{"2018-05-01", "2023-07-01-preview"}
	zone := &provider.Type{
		Name: Zones, APIVersions: versions, Style: provider.PrivateDNS, Etag: provider.Bare, Global: true, NoState: true, DeleteRetryAfter: 3,
		Create: provider.Timing{HTTP: time.Second}, Delete: provider.Timing{HTTP: 500 * time.Millisecond, LRO: 10 * time.Second},
		ReadOnlyPaths: []string{"properties.maxNumberOfRecordSets", "properties.maxNumberOfRecordsPerRecordSet", "properties.numberOfRecordSets",
			"properties.nameServers"},
		NameRule: zoneName, Prepare: prepareZone,
		Patch: func(*provider.Call, *provider.Draft) error { return nil },
		View:  viewZone,
		// Azure DNS itself answers for a zone that was just deleted: recording Test_Networking_DnsZone_CRUD.
		Missing: func(c *provider.Call) *provider.Error {
			if !c.WasJustDeleted() {
				return nil
			}
			return &provider.Error{Status: 404, Code: "NotFound", Bare: true, NoDetails: true, Message: fmt.Sprintf(
				"The zone '%s' does not exist in resource group '%s' of subscription '%s'.", c.ID.Name(), c.ID.ResourceGroup, c.ID.Subscription)}
		},
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){"all": listAll, "recordsets": listAll},
	}
	types := []*provider.Type{zone}
	for _, kind := range slices.Sorted(maps.Keys(records)) {
		types = append(types, recordType(kind, versions))
	}
	return &provider.Provider{Namespace: "Microsoft.Network", Types: types}
}

var label = regexp.MustCompile(`^[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?$`)

// zoneName returns the rule for names. Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
func zoneName(name string) *provider.Error {
	parts := strings.Split(name, ".")
	if len(parts) < 2 || len(parts) > 34 || slices.ContainsFunc(parts, func(part string) bool { return !label.MatchString(part) }) {
		return provider.Errorf(400, "BadRequest",
			"The domain name '%s' is invalid. The provided domain name must have between 2 and 34 labels of letters, digits, '-' and '_'.", name)
	}
	return nil
}

// nameServers are the four that a zone is given, of one of the sets that Azure has: https://learn.microsoft.com/azure/dns/dns-delegate-domain-azure-dns
func nameServers(zoneID string) []any {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(store.Key(zoneID)))
	set := strconv.Itoa(int(hash.Sum32()%9) + 1)
	out := []any{}
	for i, domain := range []string{"com", "net", "org", "info"} {
		out = append(out, "ns"+strconv.Itoa(i+1)+"-0"+set+".azure-dns."+domain+".")
	}
	return out
}

// prepareZone makes the record sets that every zone has, which cannot be deleted.
func prepareZone(c *provider.Call, d *provider.Draft) error {
	body.Default(d.New, "properties.zoneType", "Public")
	if kind := body.String(d.New, "properties.zoneType"); !strings.EqualFold(kind, "Public") {
		return provider.Errorf(400, "BadRequest",
			"The zone type '%s' is not supported: private zones are resources of type 'Microsoft.Network/privateDnsZones'.", kind)
	}
	if d.Old != nil {
		return nil
	}
	servers := nameServers(d.ID)
	var targets []any
	for _, server := range servers {
		targets = append(targets, body.Object{"nsdname": server})
	}
	c.SaveResource(&store.Resource{ID: d.ID + "/NS/@", Type: Zones + "/NS",
		Body: body.Object{"properties": body.Object{"fqdn": d.Name + ".", "TTL": 172800.0, "provisioningState": store.Succeeded,
			"NSRecords": targets}}})
	c.SaveResource(&store.Resource{ID: d.ID + "/SOA/@", Type: Zones + "/SOA",
		Body: body.Object{"properties": body.Object{"fqdn": d.Name + ".", "TTL": 3600.0, "provisioningState": store.Succeeded,
			"SOARecord": body.Object{
				"email": "azuredns-hostmaster.microsoft.com", "expireTime": 2419200.0, "host": servers[0], "minimumTTL": 300.0, "refreshTime": 3600.0,
				"retryTime": 300.0, "serialNumber": 1.0}}}})
	return nil
}

func viewZone(c *provider.Call, it *provider.Item) {
	for key, value := range map[string]any{"maxNumberOfRecordSets": 10000, "maxNumberOfRecordsPerRecordSet": nil,
		"numberOfRecordSets": len(c.Children(it.ID)), "nameServers": nameServers(it.ID)} {
		body.Set(it.Body, "properties."+key, value)
	}
	body.Default(it.Body, "tags", body.Object{})
}

func listAll(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	out := []any{}
	for _, r := range c.Children(it.ID) {
		out = append(out, c.RenderResource(r))
	}
	return provider.OK(out), nil
}

// recordType returns the type of one kind of record set.
func recordType(kind string, versions []string) *provider.Type {
	prepare := func(c *provider.Call, d *provider.Draft) error { return prepareRecord(c, d, kind) }
	return &provider.Type{
		Name: Zones + "/" + kind, APIVersions: versions, Style: provider.PrivateDNS, Etag: provider.Bare, Untracked: true,
		Create: provider.Timing{HTTP: 300 * time.Millisecond}, Delete: provider.Timing{HTTP: 300 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.fqdn"},
		Serial:        func(store.ID) []string { return nil },
		Prepare:       prepare, Patch: prepare,
		View: func(_ *provider.Call, it *provider.Item) {
			body.Default(it.Body, "properties.targetResource", body.Object{})
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if !c.Internal && (kind == "SOA" || kind == "NS" && it.Name == "@") {
				return provider.Errorf(400, "BadRequest", "Record sets of type '%s' with name '%s' cannot be deleted.", kind, it.Name)
			}
			return nil
		},
	}
}

func prepareRecord(c *provider.Call, d *provider.Draft, kind string) error {
	const p = "properties."
	if d.Name != "@" && d.Name != "*" {
		for part := range strings.SplitSeq(strings.TrimPrefix(d.Name, "*."), ".") {
			if !label.MatchString(part) {
				return provider.Errorf(400, "BadRequest", "The record set name '%s' is invalid.", d.Name)
			}
		}
	}
	if kind == "SOA" && d.Old == nil {
		return provider.Errorf(400, "BadRequest", "Record sets of type 'SOA' cannot be created.")
	}
	if kind == "CNAME" && d.Name == "@" {
		return provider.Errorf(400, "BadRequest", "A record set of type 'CNAME' cannot have the name '@'.")
	}
	if body.Int(d.New, p+"TTL") < 1 {
		return provider.Errorf(400, "BadRequest", "The resource record set must have a 'TTL' of at least 1 second.")
	}
	for other, property := range body.Sorted(records) {
		if other != kind && body.Has(d.New, p+property) {
			return provider.Errorf(400, "BadRequest", "The resource record type '%s' does not match '%s' of the request.", kind, property)
		}
	}
	for _, family := range []struct {
		property, field string
		is4             bool
	}{{"ARecords", "ipv4Address", true}, {"AAAARecords", "ipv6Address", false}} {
		for _, record := range body.Objects(d.New, p+family.property) {
			if address, err := netip.ParseAddr(body.String(record, family.field)); err != nil || address.Is4() != family.is4 {
				return provider.Errorf(400, "BadRequest", "The value '%s' of %s is not a valid address.", body.String(record, family.field),
					family.field)
			}
		}
	}
	if target := body.String(d.New, p+"targetResource.id"); target != "" && c.FindItem(target) == nil {
		return provider.Errorf(400, "BadRequest", "The target resource '%s' does not exist.", target)
	}
	zone := c.ID.Parent().Name()
	body.Set(d.New, p+"fqdn", strings.TrimPrefix(d.Name+"."+zone+".", "@."))
	return nil
}
