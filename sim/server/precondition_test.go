package server_test

import (
	"strings"
	"testing"
)

// TestPreconditions writes each type that has an etag with headers that its state does not meet, and with those that it does.
func TestPreconditions(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	zone, set := net+"/privateDnsZones/c.example", comp+"/virtualMachineScaleSets/vmss"
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	a.mustSucceed("PUT", set, scaleSet(2, nil))
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	const compute = "?api-version=2024-07-01"
	instance := set + "/virtualMachines/0"
	link := obj{"location": "global", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet")}}
	record := obj{"properties": obj{"ttl": 300, "aRecords": []any{obj{"ipv4Address": "10.0.0.4"}}}}
	a.mustSucceed("PUT", zone+"/virtualNetworkLinks/link", link)
	a.mustSucceed("PUT", zone+"/A/api", record)
	a.mustSucceed("PUT", groupA+"/providers/Microsoft.OperationalInsights/workspaces/logs?api-version=2023-09-01",
		obj{"location": "westus3", "properties": obj{}})
	const network = "PreconditionFailed/PreconditionFailedEtagMismatch"
	for name, c := range map[string]struct {
		path         string
		body         obj
		tag          string // where the etag is shown
		status       int
		code, exists string // error code for If-Match, and a part of the message for If-None-Match
	}{
		"network": {net + "/routeTables/rt?api-version=2024-05-01", obj{"location": "westus3"}, "etag", 412, network, "Precondition failed."},
		"child": {net + "/virtualNetworks/vnet/subnets/cp?api-version=2024-05-01", obj{"properties": obj{"addressPrefix": "10.0.0.0/24"}},
			"etag", 412, network, "Precondition failed."},
		"machine":  {comp + "/virtualMachines/vm0" + compute, newVM("nic0", nil), "etag", 412, "PreconditionFailed", "if-none-match"},
		"set":      {set + compute, scaleSet(2, nil), "etag", 412, "PreconditionFailed", "if-none-match"},
		"instance": {instance + compute, obj{"location": "westus3", "tags": obj{"a": "b"}}, "etag", 412, "PreconditionFailed", "if-none-match"},
		"zone": {zone + "?api-version=2024-06-01", obj{"location": "global"}, "etag", 412, "PreconditionFailed",
			"The Zone c.example exists already"},
		"link":    {zone + "/virtualNetworkLinks/link?api-version=2024-06-01", link, "etag", 412, "PreconditionFailed", "exists already"},
		"record":  {zone + "/A/api?api-version=2024-06-01", record, "etag", 412, "PreconditionFailed", "The Record set api exists already"},
		"cluster": {aks + aksV, aksCluster(nil), "eTag", 409, "EtagMismatch", "does not go with"},
		"pool": {pools + "pool0" + aksV, agentPool(obj{"mode": "System", "count": 2}), "properties.eTag", 409, "EtagMismatch",
			"does not go with"},
		"stand-in": {groupA + "/providers/Microsoft.OperationalInsights/workspaces/logs?api-version=2023-09-01",
			obj{"location": "westus3", "properties": obj{}}, "etag", 412, "PreconditionFailed", "If-None-Match"},
	} {
		t.Run(name, func(t *testing.T) {
			tag, _ := a.sendRequest("GET", c.path, nil).valueAt(c.tag).(string)
			if tag == "" {
				t.Fatal("no etag is shown")
			}
			if r := a.sendRequest("PUT", c.path, c.body, "If-Match", `"stale"`); r.status != c.status || r.aksCode() != c.code {
				t.Errorf("a stale If-Match: %d %v, want %d %s", r.status, r.body, c.status, c.code)
			}
			r := a.sendRequest("PUT", c.path, c.body, "If-None-Match", "*")
			message, _ := r.body["message"].(string)
			if r.status != c.status || !strings.Contains(message+r.errorMessage(), c.exists) {
				t.Errorf("If-None-Match of what exists: %d %v, want %d %q", r.status, r.body, c.status, c.exists)
			}
			if now := a.sendRequest("GET", c.path, nil).valueAt(c.tag); now != tag {
				t.Errorf("a refusal changed the etag from %s to %v", tag, now)
			}
			if r := a.sendRequest("PUT", c.path, c.body, "If-Match", tag); r.status > 299 {
				t.Errorf("the current If-Match %s: %d %v", tag, r.status, r.body)
			}
			a.sim.Settle()
			gone := strings.Replace(c.path, "?", "x?", 1)
			if r := a.sendRequest("PUT", gone, c.body, "If-Match", tag); r.status != c.status && r.status != 404 {
				t.Errorf("If-Match of an absent resource: %d %v", r.status, r.body)
			}
		})
	}
}

func TestPreconditionsOfOldVersions(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	for path, body := range map[string]obj{
		comp + "/virtualMachines/vm0?api-version=2022-03-01": newVM("nic0", nil),
		aks + "?api-version=2024-02-01":                      aksCluster(nil),
	} {
		if r := a.sendRequest("GET", path, nil); r.valueAt("etag") != nil || r.valueAt("eTag") != nil || r.header.Get("ETag") != "" {
			t.Errorf("%s shows an etag", path)
		}
		if r := a.sendRequest("PUT", path, body, "If-Match", `"stale"`); r.status != 200 {
			t.Errorf("%s does not know preconditions, and answers %d %v", path, r.status, r.body)
		}
		a.sim.Settle()
	}
}

func TestEtagHeader(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	zone := net + "/privateDnsZones/c.example"
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	record := obj{"properties": obj{"ttl": 300, "cnameRecord": obj{"cname": "a.example"}}}
	for name, c := range map[string]struct {
		reason string
		r      response
		want   bool
	}{
		"network read": {"the network provider sets the header ETag for reads", a.sendRequest("GET", net+"/routeTables/rt", nil), true},
		"network written": {"the network provider sets no header ETag for writes",
			a.sendRequest("PUT", net+"/routeTables/rt", obj{"location": "westus3"}), false},
		"record written": {"DNS always does", a.sendRequest("PUT", zone+"/CNAME/www", record), true},
		"record read":    {"DNS always does", a.sendRequest("GET", zone+"/CNAME/www", nil), true},
	} {
		if got := c.r.header.Get("ETag"); (got != "") != c.want || c.want && got != c.r.valueAt("etag") {
			t.Errorf("%s: %s: %d, header %q, etag %v", name, c.reason, c.r.status, got, c.r.valueAt("etag"))
		}
	}
}

// TestPutsWithoutAChange checks which providers begin an operation even if nothing changes.
func TestPutsWithoutAChange(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	zone := net + "/privateDnsZones/c.example"
	link := obj{"location": "global", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet"), "registrationEnabled": false}}
	disk := obj{"location": "westus3", "properties": obj{"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}}}
	for _, c := range []struct {
		reason, path string
		body         obj
		status       int
		retry        string
		works        bool
	}{
		{"a disk", comp + "/disks/d", disk, 202, "2", true},
		{"a snapshot", comp + "/snapshots/s",
			obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Copy", "sourceResourceId": comp + "/disks/d"}}}, 202,
			"2", true},
		{"a zone", zone, obj{"location": "global"}, 202, "30", true},
		{"a link", zone + "/virtualNetworkLinks/link", link, 202, "30", true},
		{"a scale set", comp + "/virtualMachineScaleSets/vmss", scaleSet(1, nil), 200, "10", true},
		{"a machine has nothing to do", comp + "/virtualMachines/vm0", newVM("nic0", nil), 200, "", false},
		{"an identity is written at once", groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity",
			obj{"location": "westus3"}, 200, "", false},
	} {
		a.mustSucceed("PUT", c.path, c.body)
		r := a.sendRequest("PUT", c.path, c.body)
		if r.status != c.status || r.header.Get("Retry-After") != c.retry || (r.header.Get("Azure-AsyncOperation") != "") != c.works {
			t.Errorf("%s: PUT of the same = %d %v, want %d, Retry-After %q, an operation: %v", c.reason, r.status, r.header, c.status, c.retry,
				c.works)
		}
		if running := a.sim.Settle(); (running > 0) != c.works {
			t.Errorf("%s: was busy for %s", c.reason, running)
		}
		if state := a.sendRequest("GET", c.path, nil).valueAt("properties.provisioningState"); state != "Succeeded" && state != nil {
			t.Errorf("%s: is %v afterwards", c.reason, state)
		}
	}
	if size := a.sendRequest("GET", comp+"/snapshots/s", nil).valueAt("properties.diskSizeGB"); size != 8.0 {
		t.Errorf("a copy of a disk of 8 GB has %v", size)
	}
}

// TestZonesWaitForTheirLinks repeats the order in recordings of private DNS zones: the zone's DELETE is refused as
// long as the one of its link is under way.
func TestZonesWaitForTheirLinks(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	zone := net + "/privateDnsZones/c.example"
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	a.mustSucceed("PUT", zone+"/virtualNetworkLinks/link",
		obj{"location": "global", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet")}})
	for _, step := range []string{"", "/virtualNetworkLinks/link"} {
		r := a.sendRequest("DELETE", zone+step, nil)
		if step == "" && (r.status != 409 || r.errorCode() != "CannotDeleteResource") || step != "" && r.status != 202 {
			t.Fatalf("DELETE %s = %d %v", step, r.status, r.body)
		}
	}
	if r := a.sendRequest("DELETE", zone, nil); r.status != 409 || r.errorCode() != "CannotDeleteResource" ||
		!strings.Contains(r.errorMessage(), "'Microsoft.Network/privateDnsZones/c.example/virtualNetworkLinks/link'") {
		t.Errorf("right after the link's: %d %v", r.status, r.body)
	}
	a.sim.Settle()
	if r := a.sendRequest("DELETE", zone, nil); r.status != 202 {
		t.Errorf("once the link is gone: %d %v", r.status, r.body)
	}
}
