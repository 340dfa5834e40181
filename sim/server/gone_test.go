package server_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// After the deletion of a group some servers of Resource Manager do not know of it. They name the resource that a nested one belongs to.
func TestGroupThatIsRemembered(t *testing.T) {
	remembers := true
	a := newAzure(t, func(o *server.Options) { o.RemembersGroup = func(string) bool { return remembers } })
	const providers = groupA + "/providers/"
	for name, c := range map[string]struct {
		reason, path, code, names string
	}{
		"subnet": {"the network provider names the network", providers + "Microsoft.Network/virtualNetworks/vnet/subnets/one", "ResourceNotFound", "virtualNetworks/vnet'"},
		"record of a zone": {"others name the parent", providers + "Microsoft.Network/privateDnsZones/a.b/A/one?api-version=2024-06-01", "ParentResourceNotFound",
			"privateDnsZones/a.b'"},
		"container": {"the service and the account are gone, and the answer is that for the service", providers + "Microsoft.Storage/storageAccounts/account/blobServices/default/containers/one?api-version=2023-01-01",
			"ParentResourceNotFound", "of type 'storageAccounts/blobServices', because the parent resource '" + providers + "Microsoft.Storage/storageAccounts/account'"},
		"policy of a vault": {"recorded", backups + "/backupPolicies/daily" + backupV, "ResourceNotFound", "backupVaults/vault'"},
		"pool":              {"recorded", aks + "/agentPools/one" + aksV, "ResourceNotFound", "managedClusters/c1'"},
		"maintenance":       {"recorded", aks + "/maintenanceConfigurations/one" + aksV, "ResourceNotFound", "managedClusters/c1'"},
		"trust in a vault":  {"recorded", aks + "/trustedAccessRoleBindings/one" + aksV, "ResourceNotFound", "managedClusters/c1'"},
		"extension of a cluster": {"it names the cluster", aks + "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/apps?api-version=2023-05-01",
			"ResourceNotFound", "managedClusters/c1'"},
		"network": {"it is not nested", providers + "Microsoft.Network/virtualNetworks/vnet", "ResourceGroupNotFound", "'rg'"},
	} {
		a.createGroup()
		a.sendRequest("DELETE", groupA+"?api-version=2021-04-01", nil)
		a.sim.Settle()
		remembers = true
		if got := a.sendRequest("DELETE", c.path, nil); got.status != 404 || got.errorCode() != c.code || !strings.Contains(got.errorMessage(), c.names) {
			t.Errorf("%s: %s: got %d %s %q, want %s about %s", name, c.reason, got.status, got.errorCode(), got.errorMessage(), c.code, c.names)
		}
		remembers = false
		if got := a.sendRequest("DELETE", c.path, nil); got.errorCode() != "ResourceGroupNotFound" {
			t.Errorf("%s: a server that knows answers %s", name, got.errorCode())
		}
	}
}

// A role assignment exists until the deletion of its group has ended.
func TestRolesOfADeletedGroup(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const role = groupA + "/providers/Microsoft.Authorization/roleAssignments/11111111-2222-4333-8444-555555555555?api-version=2022-04-01"
	a.mustSucceed("PUT", role, obj{"properties": obj{"principalId": "11111111-2222-4333-8444-555555555556", "principalType": "ServicePrincipal",
		"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"}})
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet", obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}})
	a.sendRequest("DELETE", groupA+"?api-version=2021-04-01", nil)
	a.sim.Advance(5 * time.Second)
	if got := a.sendRequest("GET", role, nil); got.status != 200 {
		t.Errorf("while its group is being deleted: %d %s", got.status, got.errorCode())
	}
	a.sim.Settle()
	a.createGroup()
	if got := a.sendRequest("GET", role, nil); got.status != 404 {
		t.Errorf("in a new group of that name: %d", got.status)
	}
}

// Azure DNS answers itself for a zone that was just deleted, and Resource Manager for one that never was.
func TestZoneThatWasDeleted(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const zone, version = net + "/dnsZones/example.com", "?api-version=2018-05-01"
	if got := a.sendRequest("GET", zone+version, nil); got.errorCode() != "ResourceNotFound" {
		t.Errorf("a zone that never was: %s", got.errorCode())
	}
	a.mustSucceed("PUT", zone+version, obj{"location": "global"})
	a.sendRequest("DELETE", zone+version, nil)
	a.sim.Settle()
	if got := a.sendRequest("GET", zone+version, nil); got.status != 404 || got.aksCode() != "NotFound" {
		t.Errorf("a zone that was deleted: %d %v", got.status, got.body)
	} else if _, has := got.body["details"]; has {
		t.Errorf("Azure DNS sends no details, unlike AKS: %v", got.body)
	}
}

// The refusal of a load balancer names a missing address twice.
func TestMissingAddressOfBalancer(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	got := a.sendRequest("PUT", net+"/loadBalancers/lb", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "f", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/none")}}}}})
	if got.status != 400 || got.errorCode() != "InvalidResourceReference/NotFound" {
		t.Errorf("%d %v", got.status, got.body)
	}
}

// The rule that an inbound NAT pool has for an instance names the IP configuration of the instance.
func TestRulesOfPools(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/ip", publicIP("label"))
	frontend := newRef(net + "/loadBalancers/lb/frontendIPConfigurations/f")
	a.mustSucceed("PUT", net+"/loadBalancers/lb", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "f", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/ip")}}},
		"inboundNatPools": []any{obj{"name": "pool", "properties": obj{"protocol": "Tcp", "frontendPortRangeStart": 50000, "frontendPortRangeEnd": 50010,
			"backendPort": 22, "frontendIPConfiguration": frontend}}},
		"inboundNatRules": []any{obj{"name": "pool.0", "properties": obj{"protocol": "Tcp", "frontendPort": 50000, "backendPort": 22,
			"frontendIPConfiguration": frontend}}}}})
	a.mustSucceed("PUT", pool, scaleSet(1, func(_, profile obj) {
		cards := profile["networkProfile"].(obj)["networkInterfaceConfigurations"].([]any)
		addresses := cards[0].(obj)["properties"].(obj)["ipConfigurations"].([]any)
		addresses[0].(obj)["properties"].(obj)["loadBalancerInboundNatPools"] = newRefs(net + "/loadBalancers/lb/inboundNatPools/pool")
	}))
	a.sim.Settle()
	got := a.sendRequest("GET", net+"/loadBalancers/lb", nil)
	id, _ := got.valueAt("properties.inboundNatRules.0.properties.backendIPConfiguration.id").(string)
	if !strings.Contains(strings.ToLower(id), "/virtualmachines/0/networkinterfaces/") {
		t.Errorf("the rule of instance 0 names %q: %v", id, got.body)
	}
}
