package pool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// modelParts are the parts of a VM that distinguish models. Bootstrap data, which change with every token, tags and
// extensions do not make a VM outdated. Azure's latestModelApplied is false after a change of any of them.
var modelParts = []string{"hardwareProfile", "storageProfile", "securityProfile"}

// buildWantedVM returns the model parts of a VM in the spec, in the form that both orchestration modes show.
func buildWantedVM(in Input) (any, error) {
	p := buildProfile(in)
	profile, err := vm.BuildScaleSetProfile(p)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	var properties map[string]any
	if err := json.Unmarshal(raw, &properties); err != nil {
		return nil, err
	}
	properties["hardwareProfile"] = map[string]any{"vmSize": p.VMSize}
	if err := addSwitchedOff(in, properties); err != nil {
		return nil, err
	}
	return selectModelParts(properties), nil
}

// addSwitchedOff adds the security settings that the scale set has turned off and the spec leaves out. VMs that still have one are of an
// older model. A setting that the scale set does not show may be on by Azure's default in new VMs, too, so it does not count.
func addSwitchedOff(in Input, properties map[string]any) error {
	if len(in.PoolFacts.ScaleSet) == 0 {
		return nil
	}
	var stored map[string]any
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	jsonpath.Walk(jsonpath.Get(stored, vmProfilePath+".securityProfile"), func(path jsonpath.Path, value any) bool {
		inVM := append(jsonpath.Path{{Name: "securityProfile"}}, path...)
		if value == false && inVM.Get(properties) == nil {
			inVM.Set(properties, false)
		}
		return true
	})
	return nil
}

// selectModelParts returns the model parts of a VM, without names of disks, which Azure chooses per VM.
func selectModelParts(properties map[string]any) map[string]any {
	out := map[string]any{}
	for _, part := range modelParts {
		if value, ok := properties[part]; ok {
			out[part] = value
		}
	}
	if storage, ok := out["storageProfile"].(map[string]any); ok {
		disks, _ := storage["dataDisks"].([]any)
		for _, disk := range disks {
			if disk, ok := disk.(map[string]any); ok {
				delete(disk, "name")
			}
		}
	}
	return map[string]any{"properties": out}
}

// removeAttachedDisks removes data disks that the CSI driver or a user attached to a VM. Disks of the model are created
// with the VM and have the create option Empty:
// https://learn.microsoft.com/en-us/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-attached-disks
func removeAttachedDisks(properties map[string]any) {
	storage, _ := properties["storageProfile"].(map[string]any)
	disks, _ := storage["dataDisks"].([]any)
	if len(disks) == 0 {
		return
	}
	storage["dataDisks"] = slices.DeleteFunc(disks, func(disk any) bool {
		of, _ := disk.(map[string]any)
		option, _ := of["createOption"].(string)
		return strings.EqualFold(option, string(armcompute.DiskCreateOptionTypesAttach))
	})
}

// differsFromSpec returns true if a VM, or the model of a scale set, differs from wanted. Differences that the migration
// of the pool keeps do not count, because they may also come from an older model.
func differsFromSpec(in Input, found *applied.Differences, wanted any, shown json.RawMessage) (bool, error) {
	row, err := types.ForID(arm.NewID("s", "g", types.VirtualMachine, "vm"))
	if err != nil {
		return false, err
	}
	var have map[string]any
	if err := json.Unmarshal(shown, &have); err != nil {
		return false, fmt.Errorf("a VM of a scale set: %w", err)
	}
	properties, _ := have["properties"].(map[string]any)
	if sku, ok := have["sku"].(map[string]any); ok && properties != nil {
		// A scale set and its instances have their size in the SKU.
		properties["hardwareProfile"] = map[string]any{"vmSize": sku["name"]}
	}
	removeAttachedDisks(properties)
	// Disks of others are attached ones, so a remaining disk that the spec lacks is of an older model.
	row.SharedLists = nil
	if model, ok := properties["virtualMachineProfile"].(map[string]any); ok {
		model["hardwareProfile"] = properties["hardwareProfile"]
		have["properties"] = model
	}
	want, err := arm.DecodeBody(wanted)
	if err != nil {
		return false, err
	}
	got, err := arm.DecodeBody(have)
	if err != nil {
		return false, err
	}
	counts := false
	for _, d := range compare.Diff(compare.Desired{Type: row, Body: want}, got) {
		// No early exit: at migration every difference has to be recorded.
		if !found.KeepsDifference(ScaleSetID(in), d.Path, d.Want, d.Have) {
			counts = true
		}
	}
	return counts, nil
}

// IsOutdated returns true if new VMs of a scale set would differ from the spec.
func IsOutdated(in Input, found *applied.Differences, scaleSet json.RawMessage) (bool, error) {
	wanted, err := buildWantedVM(in)
	if err != nil {
		return false, err
	}
	return differsFromSpec(in, found, wanted, scaleSet)
}
