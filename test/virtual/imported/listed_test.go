package imported_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// change changes a property of a resource as a user does.
func change(s *virtual.Scenario, path, version string, edit func(body object)) {
	s.T.Helper()
	status, body := s.Azure.GetResource(path, version)
	if status != http.StatusOK {
		s.T.Fatalf("GET %s: %d", path, status)
	}
	edit(body)
	s.PutAsUser(path, version, body)
}

func properties(body object) object { return body["properties"].(object) }

// TestListed checks that settings of users and other programs that no field has are listed one by one, with the reason, and that the
// manager writes nothing because of them.
func TestListed(t *testing.T) {
	objects := renderFlavor(t, "cluster-template.yaml", nil, nil)
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		build(s, objects)
		const group = "resourceGroups/c1/providers/"
		change(s, group+"Microsoft.Network/virtualNetworks/c1-vnet", networkVersion, func(b object) { properties(b)["flowTimeoutInMinutes"] = 10 })
		change(s, group+"Microsoft.Network/networkSecurityGroups/c1-node-nsg", networkVersion, func(b object) {
			rules, _ := properties(b)["securityRules"].([]any)
			rule := func(name string, priority int, more object) object {
				of := object{"protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": priority, "sourcePortRange": "*",
					"sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}
				for key, value := range more {
					of[key] = value
				}
				return object{"name": name, "properties": of}
			}
			properties(b)["securityRules"] = append(rules,
				rule("ranges", 300, object{"destinationPortRanges": []any{"80", "443"}}),
				rule("k8s-azure-lb_allow_IPv4_0123", 500, object{"destinationPortRange": "80"}),
				rule("office", 310, object{"destinationPortRange": "22", "sourceAddressPrefix": "192.0.2.0/24"}))
		})
		change(s, group+"Microsoft.Network/routeTables/c1-node-routetable", networkVersion, func(b object) {
			properties(b)["routes"] = []any{object{"name": "node-1", "properties": object{"addressPrefix": "192.168.0.0/24", "nextHopType": "VirtualAppliance",
				"nextHopIpAddress": "10.1.0.4"}}}
		})
		change(s, group+"Microsoft.Network/loadBalancers/c1-public-lb", networkVersion, func(b object) {
			rules := properties(b)["loadBalancingRules"].([]any)
			copied := object{}
			for key, value := range properties(rules[0].(object)) {
				copied[key] = value
			}
			copied["frontendPort"], copied["backendPort"] = 9345, 9345
			properties(b)["loadBalancingRules"] = append(rules, object{"name": "rke2", "properties": copied})
		})
		s.PutAsUser(group+"Microsoft.Storage/storageAccounts/foreign", "2024-01-01", object{"location": "eastus", "kind": "StorageV2",
			"sku": object{"name": "Standard_LRS"}})
		s.PutAsUser(group+"Microsoft.Compute/virtualMachines/c1-md-0-new-0/extensions/monitor", computeVersion, object{"location": "eastus",
			"properties": object{"publisher": "Example", "type": "Agent", "typeHandlerVersion": "1.0", "settings": object{"level": 3},
				"protectedSettings": object{"password": "hunter2-protected"}}})
		s.SendAsUser(http.MethodPatch, group+"Microsoft.Network/natGateways/c1-node-natgw-1/providers/Microsoft.Resources/tags/default", "2021-04-01",
			object{"operation": "Merge", "properties": object{"tags": object{"audit": "2025"}}})

		got := mustImport(s, "--resource-group", "c1")
		dump(t, "listed", got)
		for name, want := range map[string]struct{ resource, path, reason string }{
			"setting of a network":    {"virtualNetworks/c1-vnet", "properties.flowTimeoutInMinutes", "no field of the manifests has it"},
			"rule with ranges":        {"networkSecurityGroups/c1-node-nsg", "properties.securityRules[ranges]", "a rule of the spec has one range of ports"},
			"rule of a Service":       {"networkSecurityGroups/c1-node-nsg", "properties.securityRules[k8s-azure-lb_allow_IPv4_0123]", "cloud-provider-azure writes it"},
			"route":                   {"routeTables/c1-node-routetable", "properties.routes[node-1]", "no field of the manifests has it"},
			"tag of one resource":     {"natGateways/c1-node-natgw-1", "tags.audit", "it is a tag of this resource alone"},
			"type without a manifest": {"storageAccounts/foreign", "", "no manifest of the provider describes this type"},
			"extension":               {"extensions/monitor", "", "an extension of the spec has the name of its type"},
		} {
			found := false
			for _, f := range got.Findings {
				found = found || f.Coverage == importing.Listed && f.Resource.ShortName() == want.resource && f.Path == want.path && strings.HasPrefix(f.Reason, want.reason)
			}
			if !found {
				t.Errorf("%s: there is no finding %+v", name, want)
			}
		}
		for _, want := range []string{"name: office", "name: rke2", "port: 9345"} {
			if !strings.Contains(got.Manifests, want) {
				t.Errorf("the manifests lack %s", want)
			}
		}
		if strings.Contains(got.Manifests+string(mustMarshal(t, got)), "hunter2") {
			t.Error("a protected setting is printed")
		}
		accountForAll(t, s, got)
		if got.found {
			t.Errorf("the plan of the manifests has changes: %+v", got.Check)
		}
		setTags(s, got.Tags)
		applyImport(s, got)
	})
}

// accountForAll checks that each resource of the group has a finding.
func accountForAll(t *testing.T, s *virtual.Scenario, got imported) {
	t.Helper()
	has := map[string]bool{}
	for _, f := range got.Findings {
		has[f.Resource.Key()] = true
	}
	for _, resource := range s.Azure.State() {
		id, _ := resource["id"].(string)
		of := arm.ID(id)
		if !strings.EqualFold(of.ResourceGroup(), "c1") || has[of.Key()] || has[of.Parent().Key()] {
			continue // The parts of a resource are in its body.
		}
		t.Errorf("%s has no finding", id)
	}
}

// TestOtherAddress imports a load balancer for outbound connections whose address has a name that no AzureCluster results in. A finding names
// it, and the plan leaves it, because others know the address.
func TestOtherAddress(t *testing.T) {
	objects := renderFlavor(t, "cluster-template-private.yaml", nil, nil)
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		build(s, objects)
		const group = "resourceGroups/c1/providers/Microsoft.Network/"
		s.PutAsUser(group+"publicIPAddresses/mine", networkVersion, object{"location": "eastus", "sku": object{"name": "Standard"},
			"properties": object{"publicIPAllocationMethod": "Static"}})
		change(s, group+"loadBalancers/c1", networkVersion, func(b object) {
			frontend := properties(b)["frontendIPConfigurations"].([]any)[0].(object)
			properties(frontend)["publicIPAddress"] = object{"id": "/subscriptions/" + s.Azure.SubscriptionID + "/" + group + "publicIPAddresses/mine"}
		})
		got := mustImport(s, "--resource-group", "c1")
		const reason = "addresses of this load balancer are named pip-c1-node-outbound, and this one is mine. It stays"
		if !slices.ContainsFunc(got.Findings, func(f importing.Finding) bool {
			return f.Coverage == importing.Listed && f.Resource.ShortName() == "loadBalancers/c1" && strings.HasPrefix(f.Reason, reason)
		}) {
			t.Errorf("no finding names the address: %+v", got.Findings)
		}
		if got.found {
			t.Errorf("the plan of the manifests has changes: %+v", got.Check)
		}
	})
}
