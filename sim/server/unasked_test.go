package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// Azure shows properties in newer api-versions that no request had. Older ones do not show them, and values that were sent stay.
func TestShownUnasked(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/open?api-version=2025-07-01",
		obj{"properties": obj{"addressPrefix": "10.9.0.0/24", "defaultOutboundAccess": true}})
	a.mustSucceed("PUT", net+"/natGateways/gateway", obj{"location": "westus3"})
	a.mustSucceed("PUT", net+"/natGateways/gateway2", obj{"location": "westus3", "sku": obj{"name": "StandardV2"}})
	a.mustSucceed("PUT", net+"/publicIPPrefixes/prefix", obj{"location": "westus3", "properties": obj{"prefixLength": 30}})
	for _, zone := range []string{"privatelink.example.com", "example.com"} {
		a.mustSucceed("PUT", net+"/privateDnsZones/"+zone, obj{"location": "global"})
		a.mustSucceed("PUT", net+"/privateDnsZones/"+zone+"/virtualNetworkLinks/link",
			obj{"location": "global", "properties": obj{"virtualNetwork": newRef(net + "/virtualNetworks/vnet")}})
	}
	a.mustSucceed("PUT", comp+"/availabilitySets/set", obj{"location": "westus3", "sku": obj{"name": "Aligned"}})
	a.mustSucceed("PUT", comp+"/disks/source", obj{"location": "westus3",
		"properties": obj{"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}}})
	a.mustSucceed("PUT", comp+"/snapshots/copy", obj{"location": "westus3",
		"properties": obj{"creationData": obj{"createOption": "Copy", "sourceResourceId": comp + "/disks/source"}}})
	a.mustSucceed("PUT", pool, scaleSet(1, func(set, profile obj) {
		set["properties"].(obj)["upgradePolicy"] = obj{"mode": "Manual", "automaticOSUpgradePolicy": obj{"enableAutomaticOSUpgrade": false}}
		profile["osProfile"] = obj{"computerNamePrefix": "pool", "adminUsername": "capi", "adminPassword": "Password-1234",
			"windowsConfiguration": obj{"enableAutomaticUpdates": false}}
	}))
	const accounts = groupA + "/providers/Microsoft.Storage/storageAccounts/"
	for name, sku := range map[string]string{"far": "Standard_GRS", "near": "Standard_LRS"} {
		a.mustSucceed("PUT", accounts+name, obj{"location": "westus3", "kind": "StorageV2", "sku": obj{"name": sku},
			"properties": obj{"networkAcls": obj{"defaultAction": "Deny"}}})
	}
	const windows = "properties.virtualMachineProfile.osProfile.windowsConfiguration."
	subnet := net + "/virtualNetworks/vnet/subnets/node"
	const migration = "properties.virtualMachineScaleSetMigrationInfo.defaultVirtualMachineScaleSetInfo."
	a.checkShown(t, map[string]shownCase{
		"subnet, as the provider reads it": {"older versions do not tell", subnet, "2026-01-01", obj{"properties.defaultOutboundAccess": nil}},
		"subnet":                           {"private by default", subnet, "2026-03-01", obj{"properties.defaultOutboundAccess": false}},
		"subnet that is not private":       {"it was asked for", net + "/virtualNetworks/vnet/subnets/open", "2025-07-01", obj{"properties.defaultOutboundAccess": true}},
		"network":                          {"its subnets", net + "/virtualNetworks/vnet", "2026-03-01", obj{"properties.subnets.0.properties.defaultOutboundAccess": false}},
		"interface, old":                   {"recorded", net + "/networkInterfaces/nic0", "2020-11-01", obj{"kind": nil, "properties.defaultOutboundConnectivityEnabled": nil}},
		"interface":                        {"published", net + "/networkInterfaces/nic0", "2025-05-01", obj{"kind": "Regular", "properties.defaultOutboundConnectivityEnabled": false}},
		"gateway, old":                     {"recorded", net + "/natGateways/gateway", "2024-03-01", obj{"properties.scope": nil, "properties.type": "Public"}},
		"gateway":                          {"recorded", net + "/natGateways/gateway", "2025-07-01", obj{"properties.scope": "Public", "properties.type": nil, "properties.flowlogs": nil}},
		"gateway, V2":                      {"recorded", net + "/natGateways/gateway2", "2025-07-01", obj{"properties.flowlogs.logsVersions": obj{}}},
		"prefix":                           {"compared", net + "/publicIPPrefixes/prefix", "2026-03-01", obj{"properties.upgradedToV2": false}},
		"link": {"of a zone of private endpoints", net + "/privateDnsZones/privatelink.example.com/virtualNetworkLinks/link", "2024-06-01",
			obj{"properties.resolutionPolicy": "Default"}},
		"link, old": {"published", net + "/privateDnsZones/privatelink.example.com/virtualNetworkLinks/link", "2020-06-01",
			obj{"properties.resolutionPolicy": nil}},
		"link of another zone": {"recorded", net + "/privateDnsZones/example.com/virtualNetworkLinks/link", "2024-06-01",
			obj{"properties.resolutionPolicy": nil}},
		"availability set, old": {"recorded", comp + "/availabilitySets/set", "2024-11-01", obj{"properties.virtualMachineScaleSetMigrationInfo": nil}},
		"availability set": {"recorded", comp + "/availabilitySets/set", "2025-04-01",
			obj{migration + "constrainedMaximumCapacity": true, migration + "defaultVirtualMachineScaleSet.id": comp + "/virtualMachineScaleSets/set"}},
		"snapshot": {"a copy has the size of its source", comp + "/snapshots/copy", "2025-01-02",
			obj{"properties.snapshotAccessState": "Available", "properties.diskSizeBytes": 8.0 * (1 << 30)}},
		"scale set": {"a scale set of Windows machines", pool, "2025-04-01", obj{windows + "enableVMAgentPlatformUpdates": true,
			windows + "patchSettings": nil, windows + "enableAutomaticUpdates": false,
			"properties.upgradePolicy.automaticOSUpgradePolicy.useRollingUpgradePolicy": false}},
		"instance": {"with the size of its scale set", pool + "/virtualMachines/0", "2025-04-01",
			obj{"properties.hardwareProfile.vmSize": "Standard_D2s_v3", "properties.resilientVMDeletionStatus": "Disabled"}},
		"instance, old": {"published", pool + "/virtualMachines/0", "2022-03-01", obj{"properties.hardwareProfile": obj{}, "properties.resilientVMDeletionStatus": nil}},
		"account in two regions": {"recorded", accounts + "far", "2025-06-01", obj{"properties.secondaryLocation": "eastus", "properties.statusOfSecondary": "available",
			"properties.networkAcls.defaultAction": "Deny", "properties.networkAcls.bypass": "AzureServices", "properties.networkAcls.ipv6Rules": []any{}}},
		"account in one region": {"recorded", accounts + "near", "2025-06-01", obj{"properties.secondaryLocation": nil, "properties.statusOfSecondary": nil}},
	})
	if id, _ := a.sendRequest("GET", subnet+"?api-version=2026-03-01", nil).valueAt("properties.resourceGuid").(string); len(id) != 36 {
		t.Errorf("the subnet has resourceGuid %q", id)
	}
	if id, _ := a.sendRequest("GET", comp+"/snapshots/copy", nil).valueAt("properties.creationData.sourceUniqueId").(string); len(id) != 36 {
		t.Errorf("the snapshot has sourceUniqueId %q", id)
	}
	for _, path := range []string{subnet, net + "/networkInterfaces/nic0", pool, accounts + "far"} {
		version := map[bool]string{true: "2026-03-01", false: "2025-04-01"}[strings.Contains(path, "Network/")]
		before := a.sendRequest("GET", path+"?api-version="+version, nil)
		a.mustSucceed("PUT", path+"?api-version="+version, before.body)
	}
	stored := fmt.Sprint(a.sim.State())
	for _, unasked := range []string{"secondaryLocation", "statusOfSecondary", "defaultOutboundConnectivityEnabled", "enableVMAgentPlatformUpdates"} {
		if strings.Contains(stored, unasked) {
			t.Errorf("a client that writes back what it read stores %s, which Azure shows unasked", unasked)
		}
	}
}

// Some types answer otherwise than the others of their provider.
func TestUnusualAnswers(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const registries = groupA + "/providers/Microsoft.ContainerRegistry/registries/"
	registry := func(sku string) obj { return obj{"location": "westus3", "sku": obj{"name": sku}} }
	network := obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}}
	a.mustSucceed("PUT", registries+"small", registry("Basic"))
	a.mustSucceed("PUT", registries+"large", registry("Premium"))
	for _, name := range []string{"nic1", "nic2"} {
		a.mustSucceed("PUT", net+"/networkInterfaces/"+name, newNIC("node", nil))
	}
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("node", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm", newVM("nic0", nil))
	a.mustSucceed("DELETE", comp+"/virtualMachines/vm", nil)
	if mac, _ := a.sendRequest("GET", net+"/networkInterfaces/nic0", nil).valueAt("properties.macAddress").(string); mac == "" {
		t.Error("the interface has no MAC address, want that which it got with its VM")
	}
	a.mustSucceed("PUT", net+"/ipGroups/group", obj{"location": "westus3", "properties": obj{"ipAddresses": []any{"10.0.0.1"}}})
	a.mustSucceed("PUT", net+"/publicIPAddresses/ip", publicIP("label"))
	a.mustSucceed("PUT", net+"/virtualNetworks/second", network)
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	const roleOfReader = groupA + "/providers/Microsoft.Authorization/roleAssignments/11111111-2222-4333-8444-555555555555?api-version=2022-04-01"
	reader := obj{"properties": obj{"principalId": "11111111-2222-4333-8444-555555555556", "principalType": "ServicePrincipal",
		"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"}}
	a.mustSucceed("PUT", roleOfReader, reader)
	a.sendRequest("PUT", comp+"/diskAccesses/access?api-version=2024-03-02", obj{"location": "westus3"})
	for name, c := range map[string]struct {
		reason, method, path string
		body                 any
		status               int
		code                 string
		operation            bool
	}{
		"interface, old":      {"recorded", "DELETE", net + "/networkInterfaces/nic1?api-version=2024-03-01", nil, 202, "", true},
		"interface":           {"it is gone at once", "DELETE", net + "/networkInterfaces/nic2?api-version=2025-07-01", nil, 200, "", true},
		"interface of a VM":   {"a VM has used it", "DELETE", net + "/networkInterfaces/nic0?api-version=2025-07-01", nil, 202, "", true},
		"IP group":            {"recorded", "DELETE", net + "/ipGroups/group?api-version=2025-05-01", nil, 200, "", false},
		"registry":            {"recorded", "DELETE", registries + "small", nil, 200, "", false},
		"registry, Premium":   {"recorded", "DELETE", registries + "large", nil, 202, "", false},
		"network, old":        {"recorded", "PUT", net + "/virtualNetworks/second?api-version=2024-03-01", network, 200, "", true},
		"network":             {"nothing changes", "PUT", net + "/virtualNetworks/second?api-version=2026-03-01", network, 201, "", true},
		"address, old":        {"the operation has ended", "PUT", net + "/publicIPAddresses/ip?api-version=2025-05-01", publicIP("label"), 200, "", true},
		"address":             {"nothing changes", "PUT", net + "/publicIPAddresses/ip?api-version=2026-03-01", publicIP("label"), 200, "", false},
		"instance":            {"instances have numbers", "GET", pool + "/virtualMachines/one", nil, 400, "InvalidParameter", false},
		"instance, no number": {"the error of a missing instance", "GET", pool + "/virtualMachines/77", nil, 404, "NotFound", false},
		"deployment": {"of Resource Manager itself", "GET", groupA + "/providers/Microsoft.Resources/deployments/none?api-version=2024-11-01", nil, 404,
			"DeploymentNotFound", false},
		"role that is assigned already": {"recorded", "PUT", roleOfReader, reader, 201, "", false},
		"disk with an access that is being made": {"recorded", "PUT", comp + "/disks/private", obj{"location": "westus3", "properties": obj{
			"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}, "diskAccessId": comp + "/diskAccesses/access"}}, 400, "Conflict", false},
	} {
		got := a.sendRequest(c.method, c.path, c.body)
		if got.status != c.status || got.errorCode() != c.code || (got.header.Get("Azure-AsyncOperation") != "") != c.operation {
			t.Errorf("%s: %s: got %d %s, operation %q, want %d %s, operation %v", name, c.reason, got.status, got.errorCode(),
				got.header.Get("Azure-AsyncOperation"), c.status, c.code, c.operation)
		}
	}
}
