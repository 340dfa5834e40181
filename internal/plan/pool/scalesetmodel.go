package pool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// latestModel is the model that a scale set makes instances of.
type latestModel struct {
	model map[string]any
	// hash is the tag with the hash of its bootstrap data.
	hash string
}

// readLatestModel reads the model of a scale set as Azure shows it.
func readLatestModel(in Input) (latestModel, error) {
	var set map[string]any
	if len(in.PoolFacts.ScaleSet) > 0 {
		if err := json.Unmarshal(in.PoolFacts.ScaleSet, &set); err != nil {
			return latestModel{}, fmt.Errorf("GET %s: %w", ScaleSetID(in).ShortName(), err)
		}
	}
	return latestModel{model: modelOfSet(set), hash: tagValue(set, infrav1.CustomDataHashTag)}, nil
}

// classifyInstance returns which model an instance is of that is not of the latest one, as rollout.Instance has it. Azure does not say which: instances are
// told apart by what they were made of, where a tag has the hash of the bootstrap data. upgradable means that the instance differs from
// the latest model in bootstrap data and tags only, so that nothing in it changes when Azure brings it to the latest model: "Existing
// instances in the scale set that are upgraded won't get the updated custom data",
// https://learn.microsoft.com/en-us/azure/virtual-machines/custom-data. Assumption: no instance restarts for that; no page says so.
func (latest latestModel) classifyInstance(shown json.RawMessage) (model string, upgradable bool, err error) {
	var instance map[string]any
	if err := json.Unmarshal(shown, &instance); err != nil {
		return "", false, fmt.Errorf("a VM of a scale set: %w", err)
	}
	model, err = fingerprintInstance(instance)
	if err != nil {
		return "", false, err
	}
	upgradable = isSameModel(latest.model, modelOfInstance(instance))
	if hash := tagValue(instance, infrav1.CustomDataHashTag); upgradable && (hash == "" || hash == latest.hash) {
		// Nothing shows in what it differs, so it may be of a model of its own.
		id, _ := instance["id"].(string)
		model += " " + strings.ToLower(id)
	}
	return model, upgradable, nil
}

// modelOfSet is the model of a scale set in the shape in which its instances show theirs: what an upgrade applies to them, without custom
// data and tags.
func modelOfSet(set map[string]any) map[string]any {
	properties, _ := set["properties"].(map[string]any)
	profile, _ := properties["virtualMachineProfile"].(map[string]any)
	network, _ := profile["networkProfile"].(map[string]any)
	extensions, _ := profile["extensionProfile"].(map[string]any)
	return buildModel(set, profile, network["networkInterfaceConfigurations"], extensions["extensions"])
}

// modelOfInstance is the model of an instance in the same shape. Volumes are attached to instances; they belong to no model.
func modelOfInstance(instance map[string]any) map[string]any {
	properties, _ := instance["properties"].(map[string]any)
	network, _ := properties["networkProfileConfiguration"].(map[string]any)
	list, _ := instance["resources"].([]any)
	extensions := make([]any, 0, len(list))
	for _, resource := range list {
		extension, _ := resource.(map[string]any)
		id, _ := extension["id"].(string)
		extensions = append(extensions, map[string]any{"name": arm.ID(id).Name(), "properties": extension["properties"]})
	}
	return buildModel(instance, properties, network["networkInterfaceConfigurations"], extensions)
}

func buildModel(object, profile map[string]any, interfaces, extensions any) map[string]any {
	sku, _ := object["sku"].(map[string]any)
	os, _ := profile["osProfile"].(map[string]any)
	storage, _ := profile["storageProfile"].(map[string]any)
	return map[string]any{
		"hardwareProfile": map[string]any{"vmSize": sku["name"]},
		"plan":            object["plan"],
		"osProfile":       selectKeys(os, "linuxConfiguration", "windowsConfiguration"),
		"storageProfile": map[string]any{
			"imageReference": omitKeys(storage["imageReference"], "exactVersion"),
			"osDisk":         modelDisk(storage["osDisk"]),
			"dataDisks":      modelDataDisks(storage["dataDisks"]),
		},
		"securityProfile": profile["securityProfile"], "diagnosticsProfile": profile["diagnosticsProfile"], "licenseType": profile["licenseType"],
		"interfaces": interfaces, "extensions": extensionSettings(extensions),
	}
}

// extensionSettings are extensions without their state, and without what Azure hides.
func extensionSettings(list any) []any {
	extensions, _ := list.([]any)
	out := make([]any, 0, len(extensions))
	for _, extension := range extensions {
		e, _ := extension.(map[string]any)
		properties, _ := e["properties"].(map[string]any)
		out = append(out, map[string]any{"name": e["name"], "properties": selectKeys(properties, "publisher", "type", "typeHandlerVersion", "settings")})
	}
	return out
}

// modelDataDisks are the disks that come with the image or are made empty.
func modelDataDisks(list any) []any {
	disks, _ := list.([]any)
	out := make([]any, 0, len(disks))
	for _, d := range disks {
		d, _ := d.(map[string]any)
		if option, _ := d["createOption"].(string); !strings.EqualFold(option, "Attach") {
			out = append(out, modelDisk(d))
		}
	}
	return out
}

// modelDisk is a disk without the name and the ID that each VM has for itself.
func modelDisk(shown any) map[string]any {
	out := omitKeys(shown, "name", "vhd")
	if managed, ok := out["managedDisk"]; ok {
		out["managedDisk"] = omitKeys(managed, "id")
	}
	return out
}

func selectKeys(object map[string]any, keys ...string) map[string]any {
	out := map[string]any{}
	for _, key := range keys {
		if value, ok := object[key]; ok {
			out[key] = value
		}
	}
	return out
}

func omitKeys(object any, keys ...string) map[string]any {
	of, _ := object.(map[string]any)
	out := make(map[string]any, len(of))
	for key, value := range of {
		out[key] = value
	}
	for _, key := range keys {
		delete(out, key)
	}
	return out
}

// isSameModel tells whether two models are the same as far as each shows it. An upgrade adds what only the scale set has and takes away what
// only the instance has, so both directions count for interfaces and extensions, in which other programs register.
func isSameModel(set, instance map[string]any) bool {
	diff := func(want, have any) bool {
		return len(compare.Diff(compare.Desired{Type: modelType, Body: want}, have)) > 0
	}
	registered := func(model map[string]any) map[string]any { return selectKeys(model, "interfaces", "extensions") }
	return !diff(set, instance) && !diff(registered(instance), registered(set))
}

// modelType says which text in models has no case, as the rows of VMs and scale sets do.
var modelType = types.Type{CaseInsensitivePaths: []string{
	"plan.name", "plan.product", "plan.publisher", "storageProfile.imageReference.communityGalleryImageId", "storageProfile.imageReference.offer",
	"storageProfile.imageReference.publisher", "storageProfile.imageReference.sku", "extensions[].properties.publisher", "extensions[].properties.type",
}}

// fingerprintInstance stands for what an instance was made of.
func fingerprintInstance(instance map[string]any) (string, error) {
	raw, err := json.Marshal([]any{instance["tags"], modelOfInstance(instance)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// tagValue is a tag of a resource; keys of tags have no case.
func tagValue(object map[string]any, key string) string {
	tags, _ := object["tags"].(map[string]any)
	for k, v := range tags {
		if strings.EqualFold(k, key) {
			value, _ := v.(string)
			return value
		}
	}
	return ""
}
