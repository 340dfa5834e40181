package server_test

import (
	"strings"
	"testing"
)

// TestPublicDNS writes a zone and the record sets that ExternalDNS and cert-manager keep in it.
func TestPublicDNS(t *testing.T) {
	t.Parallel()
	a := newAzure(t)
	a.createGroup()
	const zone, v = net + "/dnsZones/example.com", "?api-version=2018-05-01"
	if r := a.sendRequest("PUT", zone+v, obj{"location": "global"}); r.status != 201 || r.valueAt("location") != "global" ||
		r.header.Get("Azure-AsyncOperation") != "" {
		t.Fatalf("PUT of a zone = %d %v", r.status, r.body)
	}
	r := a.sendRequest("GET", zone+v, nil)
	if r.valueAt("properties.zoneType") != "Public" || r.valueAt("properties.numberOfRecordSets") != 2.0 ||
		r.valueAt("properties.maxNumberOfRecordSets") != 10000.0 {
		t.Errorf("the zone = %v", r.body)
	}
	server, _ := r.valueAt("properties.nameServers.0").(string)
	if !strings.HasPrefix(server, "ns1-0") || !strings.HasSuffix(server, ".azure-dns.com.") || r.valueAt("properties.nameServers.3") == nil {
		t.Errorf("name servers = %v", r.valueAt("properties.nameServers"))
	}
	a1 := obj{"properties": obj{"TTL": 300, "ARecords": []any{obj{"ipv4Address": "20.0.0.1"}}}}
	if r := a.sendRequest("PUT", zone+"/A/www"+v, a1); r.status != 201 || r.valueAt("properties.fqdn") != "www.example.com." ||
		r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("PUT of a record set = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("PUT", zone+"/A/www"+v, a1); r.status != 200 {
		t.Errorf("the same again = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("PUT", zone+"/A/www"+v, a1, "If-None-Match", "*"); r.status != 412 {
		t.Errorf("only if it is new = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("PUT", zone+"/TXT/_acme-challenge"+v,
		obj{"properties": obj{"TTL": 60, "TXTRecords": []any{obj{"value": []any{"token"}}}}}); r.status != 201 {
		t.Errorf("PUT of a challenge = %d %v", r.status, r.body)
	}
	for _, path := range []string{"/recordsets", "/all"} {
		if r := a.sendRequest("GET", zone+path+v, nil); r.valueAt("value.3.name") == nil || r.valueAt("value.4") != nil {
			t.Errorf("%s = %v", path, r.body)
		}
	}
	if r := a.sendRequest("GET", zone+"/TXT"+v, nil); r.valueAt("value.0.properties.TXTRecords.0.value.0") != "token" {
		t.Errorf("texts = %v", r.body)
	}
	if r := a.sendRequest("GET", "/subscriptions/"+sub+"/providers/Microsoft.Network/dnszones"+v,
		nil); r.valueAt("value.0.name") != "example.com" {
		t.Errorf("zones of the subscription = %v", r.body)
	}
	for name, test := range map[string]struct {
		path    string
		content obj
		status  int
	}{
		"one label":         {net + "/dnsZones/example", obj{"location": "global"}, 400},
		"private zone":      {net + "/dnsZones/example.org", obj{"location": "global", "properties": obj{"zoneType": "Private"}}, 400},
		"no zone":           {net + "/dnsZones/example.org/A/www", a1, 404},
		"no TTL":            {zone + "/A/x", obj{"properties": obj{"ARecords": []any{obj{"ipv4Address": "20.0.0.1"}}}}, 400},
		"address of IPv6":   {zone + "/A/x", obj{"properties": obj{"TTL": 300, "ARecords": []any{obj{"ipv4Address": "::1"}}}}, 400},
		"records of a kind": {zone + "/A/x", obj{"properties": obj{"TTL": 300, "TXTRecords": []any{}}}, 400},
		"alias at the apex": {zone + "/CNAME/@", obj{"properties": obj{"TTL": 300, "CNAMERecord": obj{"cname": "example.org"}}}, 400},
		"target that is not": {zone + "/A/x", obj{"properties": obj{"TTL": 300, "targetResource": obj{"id": net + "/publicIPAddresses/none"}}},
			400},
		"start of authority":   {zone + "/SOA/x", obj{"properties": obj{"TTL": 300}}, 400},
		"name with a dot last": {zone + "/A/x.", a1, 400},
	} {
		if r := a.sendRequest("PUT", test.path+v, test.content); r.status != test.status {
			t.Errorf("%s: %d %v, want %d", name, r.status, r.body, test.status)
		}
	}
	for _, path := range []string{"/SOA/@", "/NS/@"} {
		if r := a.sendRequest("DELETE", zone+path+v, nil); r.status != 400 {
			t.Errorf("deletion of %s = %d %v", path, r.status, r.body)
		}
	}
	if r := a.sendRequest("DELETE", zone+"/A/www"+v, nil); r.status != 200 {
		t.Errorf("deletion of a record set = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("DELETE", zone+v, nil); r.status != 202 {
		t.Errorf("deletion of a zone = %d %v", r.status, r.body)
	}
	a.sim.Settle()
	for _, path := range []string{zone, zone + "/TXT/_acme-challenge", zone + "/NS/@"} {
		if r := a.sendRequest("GET", path+v, nil); r.status != 404 {
			t.Errorf("GET %s = %d", path, r.status)
		}
	}
}
