package server_test

import "testing"

// The newest api-versions show these properties of private links, Windows machines and networks, although no request has them.
func TestShownUnaskedByNewest(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	frontend := newRef(net + "/loadBalancers/inner/frontendIPConfigurations/fe")
	subnet := newRef(net + "/virtualNetworks/vnet/subnets/node")
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/node", obj{"properties": obj{"addressPrefix": "10.1.0.0/24",
		"privateLinkServiceNetworkPolicies": "Disabled", "privateEndpointNetworkPolicies": "Disabled"}})
	a.mustSucceed("PUT", net+"/loadBalancers/inner", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "fe", "properties": obj{"subnet": subnet}}}}})
	a.mustSucceed("PUT", net+"/privateLinkServices/service", obj{"location": "westus3", "properties": obj{
		"loadBalancerFrontendIpConfigurations": []any{frontend},
		"ipConfigurations":                     []any{obj{"name": "ip", "properties": obj{"subnet": subnet}}}}})
	a.mustSucceed("PUT", net+"/privateEndpoints/endpoint", obj{"location": "westus3", "properties": obj{"subnet": subnet,
		"privateLinkServiceConnections": []any{obj{"name": "c", "properties": obj{"privateLinkServiceId": net + "/privateLinkServices/service"}}}}})
	a.mustSucceed("PUT", net+"/networkInterfaces/windows", newNIC("cp", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/windows", newVM("windows", func(p obj) {
		p["osProfile"] = obj{"computerName": "windows", "adminUsername": "capi", "adminPassword": "Password-1234", "windowsConfiguration": obj{}}
		delete(p["storageProfile"].(obj), "dataDisks")
	}))
	const windows, linux = "properties.osProfile.windowsConfiguration.", "properties.osProfile.linuxConfiguration.enableVMAgentPlatformUpdates"
	a.checkShown(t, map[string]shownCase{
		"service": {"published", net + "/privateLinkServices/service", "2026-03-01",
			obj{"properties.accessMode": "Default", "properties.ipConfigurations.0.properties.privateIPAllocationMethod": "Dynamic"}},
		"endpoint": {"published", net + "/privateEndpoints/endpoint", "2026-03-01",
			obj{"properties.ipVersionType": "IPv4", "properties.billingSku": "PayAsYouGo", "properties.isIPv6EnabledPrivateEndpoint": nil}},
		"endpoint, old": {"recorded", net + "/privateEndpoints/endpoint", "2024-03-01", obj{"properties.ipVersionType": nil, "properties.billingSku": nil, "properties.isIPv6EnabledPrivateEndpoint": false}},
		"machine": {"published", comp + "/virtualMachines/windows", "2025-04-01", obj{windows + "enableVMAgentPlatformUpdates": true,
			windows + "patchSettings.patchMode": "AutomaticByOS", windows + "patchSettings.assessmentMode": "ImageDefault"}},
		"Linux machine":      {"its request configures Linux", comp + "/virtualMachines/vm0", "2022-03-01", obj{linux: false}},
		"Linux machine, old": {"recorded", comp + "/virtualMachines/vm0", "2020-12-01", obj{linux: nil}},
		"machine, old":       {"recorded", comp + "/virtualMachines/windows", "2020-12-01", obj{windows + "enableVMAgentPlatformUpdates": nil, windows + "patchSettings": nil}},
	})
	for _, path := range []string{"properties.resourceGuid", "properties.subnets.0.properties.resourceGuid", "properties.subnets.1.properties.resourceGuid"} {
		if id, _ := a.sendRequest("GET", net+"/virtualNetworks/vnet?api-version=2026-03-01", nil).valueAt(path).(string); len(id) != 36 {
			t.Errorf("the network has %s %q", path, id)
		}
	}
}

// Resource Manager answers for missing resources. A load balancer that does not change has no operation.
func TestUnusualAnswersByNewest(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/publicIPAddresses/second", publicIP("second"))
	for name, c := range map[string]struct {
		reason, method, path string
		body                 any
		status               int
		code                 string
		operation            bool
	}{
		"disk":             {"it never was", "GET", comp + "/disks/none?api-version=2025-01-02", nil, 404, "ResourceNotFound", false},
		"snapshot":         {"it never was", "GET", comp + "/snapshots/none?api-version=2025-01-02", nil, 404, "ResourceNotFound", false},
		"balancer":         {"nothing changes", "PUT", net + "/loadBalancers/lb?api-version=2026-03-01", apiLB(), 200, "", false},
		"address":          {"nothing changes", "PUT", net + "/publicIPAddresses/pip?api-version=2026-03-01", publicIP("api"), 200, "", false},
		"address, changed": {"something changes", "PUT", net + "/publicIPAddresses/second?api-version=2026-03-01", publicIP("other"), 200, "", true},
	} {
		got := a.sendRequest(c.method, c.path, c.body)
		if got.status != c.status || got.errorCode() != c.code || (got.header.Get("Azure-AsyncOperation") != "") != c.operation {
			t.Errorf("%s: %s: got %d %s, operation %q, want %d %s, operation %v", name, c.reason, got.status, got.errorCode(),
				got.header.Get("Azure-AsyncOperation"), c.status, c.code, c.operation)
		}
	}
}

// Private DNS answers with the names of groups, zones and links in lower case, however they were written.
func TestPrivateDNSNamesAreLower(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const zone = "/subscriptions/" + sub + "/resourceGroups/Mixed/providers/Microsoft.Network/privateDnsZones/Zone.Example"
	a.mustSucceed("PUT", "/subscriptions/"+sub+"/resourceGroups/Mixed", obj{"location": "westus3"})
	a.mustSucceed("PUT", zone, obj{"location": "global"})
	a.mustSucceed("PUT", zone+"/virtualNetworkLinks/My-Link", obj{"location": "global", "properties": obj{"registrationEnabled": false,
		"virtualNetwork": newRef(net + "/virtualNetworks/vnet")}})
	want := "/subscriptions/" + sub + "/resourceGroups/mixed/providers/Microsoft.Network/privateDnsZones/zone.example/virtualNetworkLinks/my-link"
	if got := a.sendRequest("GET", zone+"/virtualNetworkLinks/My-Link", nil); got.valueAt("id") != want || got.valueAt("name") != "my-link" {
		t.Errorf("the link has ID %v and name %v, want %s", got.valueAt("id"), got.valueAt("name"), want)
	}
}
