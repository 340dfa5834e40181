package server_test

import "testing"

// Interfaces of West Central US do not show if they have accelerated networking, unless a request had it. Those of other regions do.
func TestInterfaceOfASmallRegion(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	vnet := net + "/virtualNetworks/small"
	a.mustSucceed("PUT", vnet, obj{"location": "westcentralus", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/16"}},
		"subnets": []any{obj{"name": "s", "properties": obj{"addressPrefix": "10.0.0.0/24"}}}}})
	for name, c := range map[string]struct {
		reason, subnet, location string
		asked, want              any
	}{
		"small":        {"recorded", vnet + "/subnets/s", "westcentralus", nil, nil},
		"small, asked": {"the request had it", vnet + "/subnets/s", "westcentralus", false, false},
		"other":        {"recorded", net + "/virtualNetworks/vnet/subnets/node", "westus3", nil, false},
	} {
		properties := obj{"ipConfigurations": []any{obj{"name": "ip", "properties": obj{"subnet": newRef(c.subnet)}}}}
		if c.asked != nil {
			properties["enableAcceleratedNetworking"] = c.asked
		}
		a.mustSucceed("PUT", net+"/networkInterfaces/nic-"+c.location, obj{"location": c.location, "properties": properties})
		if got := a.sendRequest("GET", net+"/networkInterfaces/nic-"+c.location, nil).valueAt("properties.enableAcceleratedNetworking"); got != c.want {
			t.Errorf("%s: %s: got %v, want %v", name, c.reason, got, c.want)
		}
		a.mustSucceed("DELETE", net+"/networkInterfaces/nic-"+c.location, nil)
	}
}
