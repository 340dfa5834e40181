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

// latestModel is the model from which a scale set creates instances.
type latestModel struct {
	model map[string]any
	// hash is the tag with the hash of its bootstrap data.
	hash string
}

// readLatestModel returns the model in the body of a scale set.
func readLatestModel(in Input) (latestModel, error) {
	var set map[string]any
	if len(in.PoolFacts.ScaleSet) > 0 {
		if err := json.Unmarshal(in.PoolFacts.ScaleSet, &set); err != nil {
			return latestModel{}, arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
		}
	}
	return latestModel{model: modelOfSet(set), hash: tagValue(set, infrav1.CustomDataHashTag)}, nil
}

// classifyInstance returns the model of an instance that is not of the latest one, in the form of rollout.Instance. Azure
// does not show the model. Instances are distinguished by their settings, including a tag with the hash of their bootstrap
// data. upgradable means that the instance differs from the latest model in bootstrap data and tags only, so that nothing
// in it changes when Azure brings it to the latest model: "Existing instances in the scale set that are upgraded won't get
// the updated custom data", https://learn.microsoft.com/en-us/azure/virtual-machines/custom-data. Assumption: the instance
// does not restart then. No page confirms that.
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
		// The difference does not show, so the instance may have a model of its own.
		id, _ := instance["id"].(string)
		model += " " + strings.ToLower(id)
	}
	return model, upgradable, nil
}

// modelOfSet returns the model of a scale set in the form of its instances: the settings that an upgrade applies to them,
// without custom data and tags.
func modelOfSet(set map[string]any) map[string]any {
	properties, _ := set["properties"].(map[string]any)
	profile, _ := properties["virtualMachineProfile"].(map[string]any)
	network, _ := profile["networkProfile"].(map[string]any)
	extensions, _ := profile["extensionProfile"].(map[string]any)
	return buildModel(set, profile, network["networkInterfaceConfigurations"], extensions["extensions"])
}

// modelOfInstance returns the model of an instance in the same form. Attached volumes belong to no model.
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

// extensionSettings returns extensions without their state, and without settings that Azure hides.
func extensionSettings(list any) []any {
	extensions, _ := list.([]any)
	out := make([]any, 0, len(extensions))
	for _, extension := range extensions {
		e, _ := extension.(map[string]any)
		properties, _ := e["properties"].(map[string]any)
		out = append(out, map[string]any{"name": e["name"],
			"properties": selectKeys(properties, "publisher", "type", "typeHandlerVersion", "settings")})
	}
	return out
}

// modelDataDisks returns the data disks that come with the image or are created empty.
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

// modelDisk returns a disk without the name and the ID that each VM has for itself.
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

// isSameModel returns true if the properties that both models show are equal. An upgrade adds properties that only the
// scale set has and removes those that only the instance has, so interfaces and extensions, in which other programs
// register, are compared in both directions.
func isSameModel(set, instance map[string]any) bool {
	diff := func(want, have any) bool {
		return len(compare.Diff(compare.Desired{Type: modelType, Body: want}, have)) > 0
	}
	registered := func(model map[string]any) map[string]any { return selectKeys(model, "interfaces", "extensions") }
	return !diff(set, instance) && !diff(registered(instance), registered(set))
}

// modelType has the case-insensitive texts in models, which are those of the rows for VMs and scale sets.
var modelType = types.Type{CaseInsensitivePaths: []string{
	"plan.name", "plan.product", "plan.publisher", "storageProfile.imageReference.communityGalleryImageId",
	"storageProfile.imageReference.offer",
	"storageProfile.imageReference.publisher", "storageProfile.imageReference.sku", "extensions[].properties.publisher",
	"extensions[].properties.type",
}}

// fingerprintInstance returns a hash of the settings of an instance.
func fingerprintInstance(instance map[string]any) (string, error) {
	raw, err := json.Marshal([]any{instance["tags"], modelOfInstance(instance)})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// tagValue returns the value of a tag. Keys of tags are case-insensitive.
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
