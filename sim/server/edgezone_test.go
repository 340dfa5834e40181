package server_test

import (
	"strings"
	"testing"
)

var losAngeles = obj{"name": "losangeles", "type": "EdgeZone"}

// inEdgeZone puts a body into the edge zone of westus.
func inEdgeZone(o obj) obj {
	o["location"], o["extendedLocation"] = "westus", losAngeles
	return o
}

func moveToWestUS(o obj) obj {
	o["location"] = "westus"
	return o
}

func newNetwork() obj {
	return obj{"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
		"subnets": []any{obj{"name": "cp", "properties": obj{"addressPrefix": "10.0.0.0/24"}}}}}
}

func inNetwork(name string) obj { return newRef(net + "/virtualNetworks/" + name + "/subnets/cp") }

func edgeNIC(network string, more obj) obj {
	p := obj{"subnet": inNetwork(network)}
	for k, v := range more {
		p[k] = v
	}
	return obj{"properties": obj{"ipConfigurations": []any{obj{"name": "ip", "properties": p}}}}
}

func edgeLB(frontend obj) obj {
	return obj{"sku": obj{"name": "Standard"},
		"properties": obj{"frontendIPConfigurations": []any{frontend}, "backendAddressPools": []any{obj{"name": "pool"}}}}
}

func edgeVM(nicName string) obj {
	b := newVM(nicName, nil)
	delete(b, "zones")
	return b
}

// edgeWorld creates networks and their resources in the edge zone ("edge") and in its region ("region").
func (a *azure) edgeWorld() {
	a.t.Helper()
	a.mustSucceed("PUT", groupA, obj{"location": "westus"})
	for name, in := range map[string]func(obj) obj{"edge": inEdgeZone, "region": moveToWestUS} {
		a.mustSucceed("PUT", net+"/virtualNetworks/"+name, in(newNetwork()))
		a.mustSucceed("PUT", net+"/publicIPAddresses/"+name, in(publicIP(name)))
		a.mustSucceed("PUT", net+"/publicIPAddresses/"+name+"2", in(publicIP(name+"2")))
		a.mustSucceed("PUT", net+"/loadBalancers/"+name,
			in(edgeLB(obj{"name": "fe", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/" + name)}})))
		a.mustSucceed("PUT", net+"/networkInterfaces/"+name,
			in(edgeNIC(name, obj{"loadBalancerBackendAddressPools": newRefs(net + "/loadBalancers/" + name + "/backendAddressPools/pool")})))
		a.mustSucceed("PUT", comp+"/disks/"+name, in(obj{"properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}}))
	}
}

func TestEdgeZone(t *testing.T) {
	a := newAzure(t)
	a.edgeWorld()
	a.mustSucceed("PUT", comp+"/virtualMachines/edge", inEdgeZone(edgeVM("edge")))
	for _, id := range []string{net + "/virtualNetworks/edge", net + "/publicIPAddresses/edge", net + "/loadBalancers/edge",
		net + "/networkInterfaces/edge", comp + "/disks/edge", comp + "/disks/etcd", comp + "/virtualMachines/edge"} {
		if r := a.sendRequest("GET", id, nil); r.valueAt("extendedLocation.name") != "losangeles" ||
			r.valueAt("extendedLocation.type") != "EdgeZone" || r.valueAt("location") != "westus" {
			t.Errorf("%s is in %v of %v", id, r.valueAt("extendedLocation"), r.valueAt("location"))
		}
	}
	// A PUT that leaves the edge zone out keeps it; networks are peered across.
	a.mustSucceed("PUT", net+"/virtualNetworks/edge", moveToWestUS(newNetwork()))
	if r := a.sendRequest("GET", net+"/virtualNetworks/edge", nil); r.valueAt("extendedLocation.name") != "losangeles" {
		t.Errorf("the network left the edge zone: %v", r.body)
	}
	names := func(path string) string {
		list, _ := a.sendRequest("GET", path, nil).valueAt("value").([]any)
		var out []string
		for _, l := range list {
			if valueAt(l, "type") == "EdgeZone" {
				out = append(out, valueAt(l, "name").(string)+" of "+valueAt(l, "metadata.homeLocation").(string))
			}
		}
		return strings.Join(out, ", ")
	}
	if got := names("/subscriptions/" + sub + "/locations"); got != "" {
		t.Errorf("edge zones are listed unasked: %s", got)
	}
	if got := names(
		"/subscriptions/" + sub + "/locations?includeExtendedLocations=true"); got != "losangeles of westus, perth of australiaeast" {
		t.Errorf("edge zones: %s", got)
	}
}

func TestEdgeZoneRefusals(t *testing.T) {
	in := func(o obj, location, name, kind string) obj {
		o["location"], o["extendedLocation"] = location, obj{"name": name, "type": kind}
		return o
	}
	zonal := func(o obj) obj {
		o["zones"] = []any{"1"}
		return o
	}
	const notAvailable, mixed, here = "LocationNotAvailableForResourceType", "InvalidResourceReference", "NotFound"
	peer := obj{"properties": obj{"remoteVirtualNetwork": newRef(net + "/virtualNetworks/other")}}
	cases := map[string]struct {
		reason string
		path   string
		body   obj
		code   string
	}{
		"unknown": {"the region has no such edge zone", net + "/virtualNetworks/new",
			in(newNetwork(), "westus", "microsoftlosangeles9", "EdgeZone"), notAvailable},
		"other region": {"an edge zone is one of a region", net + "/virtualNetworks/new",
			in(newNetwork(), "eastus", "losangeles", "EdgeZone"), notAvailable},
		"type": {"there is one type", net + "/virtualNetworks/new", in(newNetwork(), "westus", "losangeles", "Zone"),
			"InvalidRequestContent"},
		"NAT gateway":      {"there are no NAT gateways in edge zones", net + "/natGateways/new", inEdgeZone(obj{}), notAvailable},
		"security group":   {"security groups are in the region", net + "/networkSecurityGroups/new", inEdgeZone(obj{}), notAvailable},
		"availability set": {"availability sets are in the region", comp + "/availabilitySets/new", inEdgeZone(obj{}), notAvailable},
		"zone of an address": {"an edge zone has no zones", net + "/publicIPAddresses/new", zonal(inEdgeZone(publicIP("new"))),
			"InvalidAvailabilityZone"},
		"zone of a disk": {"an edge zone has no zones", comp + "/disks/new",
			zonal(inEdgeZone(obj{"properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}})), "InvalidAvailabilityZone"},
		"zone of a VM": {"an edge zone has no zones", comp + "/virtualMachines/new", zonal(inEdgeZone(edgeVM("edge"))),
			"InvalidAvailabilityZone"},
		"zone of a frontend": {"an edge zone has no zones", net + "/loadBalancers/new",
			inEdgeZone(edgeLB(obj{"name": "fe", "zones": []any{"1"}, "properties": obj{"subnet": inNetwork("edge")}})),
			"AvailabilityZoneNotSupported"},
		"moved in": {"a network stays where it is", net + "/virtualNetworks/region", inEdgeZone(newNetwork()),
			"PropertyChangeNotAllowed"},
		"VM, other interface": {"the interface is in the region", comp + "/virtualMachines/new", inEdgeZone(edgeVM("region")), mixed},
		"VM outside":          {"the interface is in the edge zone", comp + "/virtualMachines/new", moveToWestUS(edgeVM("edge")), mixed},
		"interface, subnet":   {"the subnet is in the region", net + "/networkInterfaces/new", inEdgeZone(edgeNIC("region", nil)), mixed},
		"interface outside":   {"the subnet is in the edge zone", net + "/networkInterfaces/new", moveToWestUS(edgeNIC("edge", nil)), mixed},
		"interface, address": {"the address is in the region", net + "/networkInterfaces/new",
			inEdgeZone(edgeNIC("edge", obj{"publicIPAddress": newRef(net + "/publicIPAddresses/region2")})), mixed},
		"interface, pool": {"the load balancer is in the region", net + "/networkInterfaces/new",
			inEdgeZone(edgeNIC("edge", obj{"loadBalancerBackendAddressPools": newRefs(net + "/loadBalancers/region/backendAddressPools/pool")})),
			mixed},
		"balancer, address": {"the address is in the region", net + "/loadBalancers/new",
			inEdgeZone(edgeLB(obj{"name": "fe", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/region2")}})), mixed},
		"balancer, subnet": {"the subnet is in the region", net + "/loadBalancers/new",
			inEdgeZone(edgeLB(obj{"name": "fe", "properties": obj{"subnet": inNetwork("region")}})), mixed},
		"NAT gateway's address": {"the address is in the edge zone", net + "/natGateways/new",
			moveToWestUS(obj{"properties": obj{"publicIpAddresses": newRefs(net + "/publicIPAddresses/edge2")}}), mixed},
		"peering": {"networks are peered across", net + "/virtualNetworks/edge/virtualNetworkPeerings/p", peer, ""},
	}
	a := newAzure(t)
	a.edgeWorld()
	other := newNetwork()
	other["properties"].(obj)["addressSpace"], other["properties"].(obj)["subnets"] = obj{"addressPrefixes": []any{"172.16.0.0/16"}}, []any{}
	a.mustSucceed("PUT", net+"/virtualNetworks/other", moveToWestUS(other))
	for name, tc := range cases {
		if r := a.sendRequest("PUT", tc.path, tc.body); strings.TrimSuffix(r.errorCode(), "/") != tc.code {
			t.Errorf("%s: %s: got %d %s %s, want %q", name, tc.reason, r.status, r.errorCode(), r.errorMessage(), tc.code)
		}
	}
	attached := inEdgeZone(edgeVM("edge"))
	dataDisk(obj{"createOption": "Attach", "managedDisk": newRef(comp + "/disks/region")})(attached["properties"].(obj))
	if r := a.sendRequest("PUT", comp+"/virtualMachines/new", attached); r.errorCode() != here {
		t.Errorf("a disk of the region: %d %s", r.status, r.errorCode())
	}
}
