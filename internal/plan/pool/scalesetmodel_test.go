package pool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// A scale set and an instance that it made, as the REST API documents them.
const (
	ofScaleSet = `{"tags":{"capz-custom-data-hash":"new"},"sku":{"name":"Standard_D2s_v3","tier":"Standard","capacity":3},"properties":{"virtualMachineProfile":{
"osProfile":{"computerNamePrefix":"p","adminUsername":"capi","linuxConfiguration":{"disablePasswordAuthentication":true}},
"storageProfile":{"imageReference":{"communityGalleryImageId":"/CommunityGalleries/g/Images/i/Versions/1.33.2"},"osDisk":{"caching":"None","createOption":"FromImage","diskSizeGB":128,"managedDisk":{"storageAccountType":"Premium_LRS"}}},
"networkProfile":{"networkInterfaceConfigurations":[{"name":"nic","properties":{"primary":true,"ipConfigurations":[{"name":"ip0","properties":{"loadBalancerBackendAddressPools":[{"id":"/lb/pools/ours"}]}}]}}]},
"extensionProfile":{"extensions":[{"name":"boot","properties":{"publisher":"P","type":"T","typeHandlerVersion":"1.0","provisioningState":"Succeeded"}}]}}}}`
	ofInstance = `{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/0","instanceId":"0","tags":{"capz-custom-data-hash":"old"},
"sku":{"name":"Standard_D2s_v3","tier":"Standard"},"properties":{"latestModelApplied":false,"provisioningState":"Succeeded",
"osProfile":{"computerName":"p000000","adminUsername":"capi","linuxConfiguration":{"disablePasswordAuthentication":true,"enableVMAgentPlatformUpdates":false}},
"storageProfile":{"imageReference":{"communityGalleryImageId":"/communitygalleries/g/images/i/versions/1.33.2","exactVersion":"1.33.2"},"osDisk":{"name":"p_OsDisk_0","caching":"None","createOption":"FromImage","diskSizeGB":128,"managedDisk":{"id":"/x","storageAccountType":"Premium_LRS"}},"dataDisks":[]},
"networkProfileConfiguration":{"networkInterfaceConfigurations":[{"name":"nic","properties":{"primary":true,"ipConfigurations":[{"name":"ip0","properties":{"loadBalancerBackendAddressPools":[{"id":"/lb/pools/ours"}]}}]}}]}},
"resources":[{"id":"/x/virtualMachines/0/extensions/boot","name":"p_0/boot","properties":{"publisher":"P","type":"T","typeHandlerVersion":"1.0","provisioningState":"Succeeded"}}]}`
)

// TestInstanceModels tells of which model an instance is, and whether Azure can bring it to the latest one in place.
func TestInstanceModels(t *testing.T) {
	swap := func(old, now string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("%s is not in %s", old, s)
			}
			return strings.Replace(s, old, now, 1)
		}
	}
	same := func(s string) string { return s }
	tests := map[string]struct {
		reason        string
		set, instance func(string) string
		// latest is for an instance of the latest model. alone is for one whose model Azure shows on no other instance.
		latest, upgradable, alone bool
	}{
		"bootstrap data": {reason: "an upgrade changes nothing in the VM", set: same, instance: same, upgradable: true},
		"tags": {reason: "an upgrade changes nothing in the VM", set: swap(`"tags":{`, `"tags":{"team":"a",`), instance: same,
			upgradable: true},
		"latest": {reason: "Azure's answer has it", set: same, instance: swap(`"latestModelApplied":false`, `"latestModelApplied":true`),
			latest: true},
		"flexible": {reason: "Azure's answer lacks it", set: same, instance: swap(`"latestModelApplied":false,`, ``), latest: true},
		"volume": {reason: "the CSI driver attaches disks to instances, which belong to no model", set: same,
			instance:   swap(`"dataDisks":[]`, `"dataDisks":[{"lun":0,"name":"pvc","createOption":"Attach","managedDisk":{"id":"/y"}}]`),
			upgradable: true},
		"nothing shows": {reason: "the hash of the bootstrap data is the same, so each may be of another model", set: same,
			instance: swap(`"capz-custom-data-hash":"old"`, `"capz-custom-data-hash":"new"`), upgradable: true, alone: true},
		"no hash": {reason: "it is not known which bootstrap data it has", set: same,
			instance: swap(`"tags":{"capz-custom-data-hash":"old"},`, ``), upgradable: true, alone: true},
		"being changed": {reason: "that state is temporary, and is no difference of the template", set: same,
			instance: swap(`"provisioningState":"Succeeded"`, `"provisioningState":"Updating"`), upgradable: true},
		"size":  {reason: "an upgrade restarts the VM", set: swap("Standard_D2s_v3", "Standard_D4s_v3"), instance: same},
		"image": {reason: "an upgrade replaces the OS disk", set: swap("1.33.2", "1.33.3"), instance: same},
		"disk":  {reason: "an upgrade changes a disk", set: swap(`"diskSizeGB":128`, `"diskSizeGB":256`), instance: same},
		"diagnostics": {reason: "the effect of an upgrade is not known",
			set: swap(`"osProfile"`, `"diagnosticsProfile":{"bootDiagnostics":{"enabled":true}},"osProfile"`), instance: same},
		"extension added": {reason: "an upgrade installs it",
			set:      swap(`"extensions":[`, `"extensions":[{"name":"x","properties":{"publisher":"P","type":"X","typeHandlerVersion":"1.0"}},`),
			instance: same},
		"extension removed": {reason: "an upgrade removes it", set: same,
			instance: swap(`"resources":[`,
				`"resources":[{"id":"/x/extensions/x","properties":{"publisher":"P","type":"X","typeHandlerVersion":"1.0"}},`)},
		"pool of the scale set": {reason: "an upgrade adds the VM to it",
			set: swap(`{"id":"/lb/pools/ours"}`, `{"id":"/lb/pools/ours"},{"id":"/lb/pools/theirs"}`), instance: same},
		"pool of the instance": {reason: "an upgrade takes the VM out of a pool that cloud-provider-azure has put it into", set: same,
			instance: swap(`{"id":"/lb/pools/ours"}`, `{"id":"/lb/pools/ours"},{"id":"/lb/pools/theirs"}`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "default")
			in.PoolFacts.ScaleSet = json.RawMessage(test.set(ofScaleSet))
			first := test.instance(ofInstance)
			second := strings.NewReplacer("virtualMachines/0", "virtualMachines/1", "p000000", "p000001", "p_OsDisk_0", "p_OsDisk_1", `"/x"`,
				`"/z"`).Replace(first)
			got, err := pool.ReadInstances(in, applied.ReadDifferences(nil), []json.RawMessage{json.RawMessage(first), json.RawMessage(second)})
			if err != nil {
				t.Fatal(err)
			}
			if (got[0].Model == "") != test.latest || got[0].Upgradable != test.upgradable {
				t.Errorf("%s: model %q, upgradable %t", test.reason, got[0].Model, got[0].Upgradable)
			}
			if alike := got[0].Model == got[1].Model; alike == test.alone {
				t.Errorf("%s: another instance like it is of the same model: %t", test.reason, alike)
			}
		})
	}
}
