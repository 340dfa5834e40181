package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// AKS reports its current operation in the provisioning state, shows some properties of a pool depending on the API
// version and on whether the pool was ever updated, and counts sending the same pool again as an update.
func TestPoolsThatAreNew(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	operation := a.sendRequest("PUT", aks+aksV, aksCluster(nil)).header.Get("Azure-AsyncOperation")
	var steps []string
	for range 400 {
		step, _ := a.sendRequest("GET", operation, nil).valueAt("status").(string)
		if len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
		if step == "Succeeded" {
			break
		}
		a.sim.Advance(2 * time.Second)
	}
	if diff := cmp.Diff([]string{"InProgress", "ProvisioningNetworkResources", "ProvisioningControlPlane", "CreatingAgentPools",
		"CreatingAgentPools: 0/2 nodes completed", "CreatingAgentPools: 2/2 nodes completed", "Succeeded"}, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	const first = "properties.agentPoolProfiles.0."
	const preview = "2025-10-02-preview"
	a.mustSucceed("PUT", pools+"own?api-version="+preview, obj{"properties": obj{"mode": "User", "count": 1, "vmSize": "Standard_D2s_v5"}})
	a.checkShown(t, map[string]shownCase{
		"made with its cluster": {"recorded", aks, preview,
			obj{first + "name": "own", "properties.agentPoolProfiles.1.enableAutoScaling": nil,
				"properties.agentPoolProfiles.1.upgradeStrategy": nil}},
		"made by itself": {"recorded", pools + "own", preview,
			obj{"properties.enableAutoScaling": false, "properties.upgradeStrategy": nil}},
		"old stable": {"recorded", aks, "2024-09-01",
			obj{"properties.bootstrapProfile": nil, first + "upgradeSettings": obj{"maxSurge": "10%"}}},
		"old preview": {"recorded", aks, "2024-04-02-preview",
			obj{"properties.bootstrapProfile.artifactSource": "Direct", "properties.nodeProvisioningProfile": obj{"mode": "Manual"},
				first + "upgradeSettings": obj{"maxSurge": "10%"}}},
		"oldest preview": {"recorded", aks, "2023-02-02-preview", obj{"properties.storageProfile.diskCSIDriver.version": "v1",
			"properties.controlPlanePluginProfiles": nil, "properties.networkProfile.dockerBridgeCidr": "172.17.0.1/16"}},
		"preview of 2023": {"recorded", aks, "2023-11-02-preview", obj{"properties.storageProfile.diskCSIDriver.version": "v1",
			"properties.controlPlanePluginProfiles.karpenter.enableV2": true, "properties.networkProfile.dockerBridgeCidr": nil}},
		"stable of 2023": {"recorded", aks, "2023-10-01", obj{"properties.storageProfile.diskCSIDriver.version": nil,
			"properties.networkProfile.dockerBridgeCidr": nil}},
		"stable": {"recorded", aks, "2025-08-01",
			obj{"properties.bootstrapProfile.artifactSource": "Direct", "properties.nodeProvisioningProfile.defaultNodePools": "Auto",
				first + "upgradeSettings.maxUnavailable": "0"}},
	})
	windows := strings.Replace(aks, "/c1", "/c2", 1)
	plugin := func(p obj) { p["networkProfile"] = obj{"networkPlugin": "azure"} }
	a.mustSucceed("PUT", windows+aksV, aksCluster(plugin))
	a.checkShown(t, map[string]shownCase{
		"Windows in the old preview": {"recorded of clusters whose pods are in the network", windows, "2024-04-02-preview",
			obj{"properties.windowsProfile": obj{"adminUsername": "azureuser", "enableCSIProxy": true}}},
		"Windows, overlay": {"recorded", aks, "2024-04-02-preview", obj{"properties.windowsProfile": nil}},
		"Windows, stable":  {"recorded", windows, "2023-10-01", obj{"properties.windowsProfile": obj{"adminUsername": "azureuser", "enableCSIProxy": true}}},
		"overlay, stable":  {"recorded", aks, "2025-08-01", obj{"properties.windowsProfile": nil}},
	})
	// A client that writes back what it read, and one that leaves the profile out, change nothing.
	for _, sent := range []obj{a.sendRequest("GET", windows+aksV, nil).body, aksCluster(plugin)} {
		if r := a.sendRequest("PUT", windows+aksV, sent); r.status != 200 || r.valueAt("properties.windowsProfile.adminUsername") != "azureuser" {
			t.Errorf("PUT of a cluster with a profile for Windows = %d %s, profile %v", r.status, r.errorMessage(), r.valueAt("properties.windowsProfile"))
		}
		a.sim.Settle()
	}
	for range 2 {
		if r := a.mustSucceed("PUT", aks+"?api-version="+preview,
			aksCluster(nil)); r.valueAt("properties.agentPoolProfiles.1.provisioningState") != "Updating" {
			t.Errorf("the pool that was sent again is %v", r.valueAt("properties.agentPoolProfiles.1.provisioningState"))
		}
	}
	a.mustSucceed("PUT", pools+"own?api-version="+preview, obj{"properties": obj{"mode": "User", "count": 2, "vmSize": "Standard_D2s_v5"}})
	a.checkShown(t, map[string]shownCase{"after an update": {"recorded", aks, preview,
		obj{first + "upgradeStrategy": "Rolling", "properties.agentPoolProfiles.1.enableAutoScaling": false,
			"properties.agentPoolProfiles.1.upgradeStrategy": "Rolling"}}})
	if r := a.sendRequest("GET", pools+"none"+aksV, nil); r.valueAt("subcode") != "GetAgentPool_NotFound_HCPServerError" {
		t.Errorf("a missing pool: %v", r.body)
	}
}
