package pool

import (
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// AzureAddsVMs returns true if Azure creates VMs of the scale set by itself, or creates their OS disks anew, so that they boot with the
// bootstrap data of the scale set at any time. The settings are those of users, because the plan has none of them.
//
// Automatic repairs replace, reimage or restart VMs:
// https://learn.microsoft.com/en-us/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-automatic-instance-repairs. Upgrades of the OS
// image replace OS disks: https://learn.microsoft.com/en-us/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-automatic-upgrade.
// Reimaged VMs get the custom data of the scale set: https://learn.microsoft.com/en-us/azure/virtual-machines/custom-data. Evicted spot VMs are
// restored: https://learn.microsoft.com/en-us/azure/virtual-machine-scale-sets/use-spot.
func AzureAddsVMs(in Input) (bool, error) {
	if !in.PoolFacts.ScaleSetExists {
		return false, nil
	}
	var stored armcompute.VirtualMachineScaleSet
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return false, arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	of := stored.Properties
	switch {
	case of == nil:
		return false, nil
	case of.AutomaticRepairsPolicy != nil && plan.Dereference(of.AutomaticRepairsPolicy.Enabled),
		of.SpotRestorePolicy != nil && plan.Dereference(of.SpotRestorePolicy.Enabled):
		return true, nil
	}
	upgrades := of.UpgradePolicy
	return upgrades != nil && upgrades.AutomaticOSUpgradePolicy != nil &&
		plan.Dereference(upgrades.AutomaticOSUpgradePolicy.EnableAutomaticOSUpgrade), nil
}
