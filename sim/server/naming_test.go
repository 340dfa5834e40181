package server_test

import (
	"strings"
	"testing"
)

// TestNamesOfResources creates resources with names at and beyond the bounds of each rule.
func TestNamesOfResources(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	long := strings.Repeat("a", 80)
	vnet := obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.9.0.0/16"}}}}
	disk := obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}}
	place := obj{"location": "westus3"}
	const compute, msi = groupA + "/providers/Microsoft.Compute", groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	for name, tc := range map[string]struct {
		path, good, code string
		bad              []string
		body             obj
	}{
		"virtual network": {net + "/virtualNetworks/", long[:64], "InvalidResourceName",
			[]string{"v", long[:65], "_vnet", "vnet-", "vnet.", "v~net"}, vnet},
		"subnet": {net + "/virtualNetworks/vnet/subnets/", "s_", "InvalidResourceName", []string{long + "a", "-s", "s-"},
			obj{"properties": obj{"addressPrefix": "10.0.200.0/24"}}},
		"route table": {net + "/routeTables/", long, "InvalidResourceName", []string{long + "a", ".r", "r."}, place},
		"route": {net + "/routeTables/rt/routes/", "r", "InvalidResourceName", []string{"r-", "-r"},
			obj{"properties": obj{"addressPrefix": "10.77.0.0/16", "nextHopType": "None"}}},
		"disk":     {compute + "/disks/", "vm_OSDisk.1-x", "InvalidParameter", []string{long + "a", "_d", "d-"}, disk},
		"gallery":  {compute + "/galleries/", "g.1", "InvalidParameter", []string{"g-1", "g."}, place},
		"identity": {msi, "abc", "InvalidResourceName", []string{"ab", "_abc", "a.b", long + long}, place},
		"credential": {msi + "abc/federatedIdentityCredentials/", "abc", "InvalidResourceName", []string{"ab", "a.b"},
			obj{"properties": obj{"issuer": "https://i.example", "subject": "s", "audiences": []any{"x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "credential" {
				a.mustSucceed("PUT", msi+"abc", place)
			}
			for _, bad := range tc.bad {
				if r := a.sendRequest("PUT", tc.path+bad, tc.body); r.status != 400 || r.errorCode() != tc.code {
					t.Errorf("%s: %d %s, want 400 %s", bad, r.status, r.errorCode(), tc.code)
				}
			}
			if r := a.sendRequest("PUT", tc.path+tc.good, tc.body); r.status > 299 {
				t.Errorf("%s: %d %v", tc.good, r.status, r.body)
			}
			a.sim.Settle()
		})
	}
	inline := obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.8.0.0/16"}},
		"subnets": []any{obj{"name": "s-", "properties": obj{"addressPrefix": "10.8.0.0/24"}}}}}
	if r := a.sendRequest("PUT", net+"/virtualNetworks/inline", inline); r.status != 400 || r.errorCode() != "InvalidResourceName" {
		t.Errorf("a subnet in its network: %d %s", r.status, r.errorCode())
	}
}
