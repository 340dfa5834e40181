package server_test

import (
	"strings"
	"testing"
)

// An application gateway shows its parts with their users, and holds its subnet and address until its deletion has ended.
func TestApplicationGateway(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const gateway, version = net + "/applicationGateways/gw", "?api-version=2022-07-01"
	a.mustSucceed("PUT", net+"/publicIPAddresses/pip", publicIP("gateway"))
	parts := obj{"sku": obj{"name": "WAF_v2", "tier": "WAF_v2"},
		"webApplicationFirewallConfiguration": obj{"enabled": true, "firewallMode": "Detection", "ruleSetType": "OWASP", "ruleSetVersion": "3.2", "fileUploadLimitInMb": 50},
		"gatewayIPConfigurations":             []any{obj{"name": "g", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/cp")}}},
		"frontendIPConfigurations":            []any{obj{"name": "f", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip")}}},
		"frontendPorts":                       []any{obj{"name": "p", "properties": obj{"port": 80}}},
		"backendAddressPools":                 []any{obj{"name": "b", "properties": obj{}}},
		"backendHttpSettingsCollection":       []any{obj{"name": "s", "properties": obj{"port": 80, "protocol": "Http"}}},
		"httpListeners": []any{obj{"name": "l", "properties": obj{"protocol": "Http",
			"frontendIPConfiguration": newRef(gateway + "/frontendIPConfigurations/f"), "frontendPort": newRef(gateway + "/frontendPorts/p")}}},
		"requestRoutingRules": []any{obj{"name": "r", "properties": obj{"ruleType": "Basic", "priority": 1, "httpListener": newRef(gateway + "/httpListeners/l"),
			"backendAddressPool":  newRef(gateway + "/backendAddressPools/b"),
			"backendHttpSettings": newRef(gateway + "/backendHttpSettingsCollection/s")}}}}
	for path, code := range map[string]string{"sku": "ApplicationGatewaySkuNotSpecified", "gatewayIPConfigurations": "ApplicationGatewayIpConfigurationNotSpecified"} {
		rest := obj{}
		for key, value := range parts {
			rest[key] = value
		}
		delete(rest, path)
		if got := a.sendRequest("PUT", gateway+version, obj{"location": "westus3", "properties": rest}); got.status != 400 || got.errorCode() != code {
			t.Errorf("without %s: %d %s", path, got.status, got.errorCode())
		}
	}
	made := a.sendRequest("PUT", gateway+version, obj{"location": "westus3", "properties": parts})
	if made.status != 201 || made.header.Get("Azure-AsyncOperation") == "" || made.header.Get("Retry-After") != "5" ||
		made.valueAt("properties.operationalState") != "Stopped" || made.valueAt("properties.httpListeners.0.properties.provisioningState") != "Updating" {
		t.Errorf("made: %d %v %v", made.status, made.header, made.body)
	}
	a.sim.Settle()
	rule, listener := gateway+"/requestRoutingRules/r", gateway+"/httpListeners/l"
	a.checkShown(t, map[string]shownCase{"gateway": {"recorded", gateway, "2022-07-01", obj{
		"properties.webApplicationFirewallConfiguration.requestBodyCheck": true, "properties.webApplicationFirewallConfiguration.fileUploadLimitInMb": 50.0,
		"properties.operationalState": "Running", "properties.sku.family": "Generation_1", "properties.probes": []any{},
		"properties.frontendIPConfigurations.0.properties.httpListeners.0.id":            listener,
		"properties.frontendPorts.0.properties.httpListeners.0.id":                       listener,
		"properties.httpListeners.0.properties.requestRoutingRules.0.id":                 rule,
		"properties.backendAddressPools.0.properties.requestRoutingRules.0.id":           rule,
		"properties.backendHttpSettingsCollection.0.properties.requestTimeout":           30.0,
		"properties.backendHttpSettingsCollection.0.type":                                "Microsoft.Network/applicationGateways/backendHttpSettingsCollection",
		"properties.frontendIPConfigurations.0.properties.privateIPAllocationMethod":     "Dynamic",
		"properties.backendHttpSettingsCollection.0.properties.requestRoutingRules.0.id": rule}}})
	address, network := net+"/publicIPAddresses/pip", net+"/virtualNetworks/vnet"
	a.sendRequest("DELETE", gateway+version, nil)
	for path, code := range map[string]string{address: "PublicIPAddressCannotBeDeleted", network: "InUseSubnetCannotBeDeleted"} {
		if got := a.sendRequest("DELETE", path, nil); got.status != 400 || got.errorCode() != code {
			t.Errorf("%s while its gateway is being deleted: %d %s", path, got.status, got.errorCode())
		} else if path == network && !strings.Contains(got.errorMessage(), gateway+"/gatewayIPConfigurations/") {
			t.Errorf("the network is in use by another part than the recorded one: %s", got.errorMessage())
		}
	}
	a.sim.Settle()
	for _, path := range []string{address, network} {
		if got := a.sendRequest("DELETE", path, nil); got.status != 202 {
			t.Errorf("%s after its gateway: %d %s", path, got.status, got.errorCode())
		}
	}
	a.sim.Settle()
	if got := a.sendRequest("DELETE", network+"/subnets/cp", nil); got.errorCode() != "ResourceNotFound" {
		t.Errorf("deletion of a subnet without its network: %s, recordings name the network as missing", got.errorCode())
	}
}
