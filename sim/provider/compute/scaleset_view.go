package compute

import (
	"fmt"
	"hash/fnv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// viewScaleSet leaves out the missing parts of the model.
func viewScaleSet(_ *provider.Call, it *provider.Item) {
	body.Delete(it.Body, profilePath+".storageProfile.imageReference.exactVersion") // each instance has its own
	for _, extension := range body.Objects(it.Body, profilePath+".extensionProfile.extensions") {
		delete(extension, "id")
		delete(extension, "type")
	}
	if len(body.Objects(it.Body, profilePath+".extensionProfile.extensions")) == 0 {
		body.Delete(it.Body, profilePath+".extensionProfile")
	}
	if len(body.Child(it.Body, profilePath)) == 0 {
		body.Delete(it.Body, profilePath)
	}
}

// viewInstance shows an instance of a scale set: its own model, and the properties it shares with its set.
func viewInstance(c *provider.Call, it *provider.Item) {
	r, p := it.Resource, "properties."
	id, _ := store.ParseID(it.ID)
	it.Body["instanceId"], it.Body["name"] = it.Name, id.Names[0]+"_"+it.Name
	for _, k := range []string{"priority", "evictionPolicy", "billingProfile"} {
		body.Delete(it.Body, p+k)
	}
	body.Default(it.Body, p+"hardwareProfile", body.Object{})
	body.Set(it.Body, p+"modelDefinitionApplied",
		map[bool]string{true: "VirtualMachine", false: "VirtualMachineScaleSet"}[body.Bool(r.Secret, customized)])
	nics := []any{}
	for _, nic := range c.List(ScaleSetInterfaces, r.ID) {
		nics = append(nics, body.Object{"id": nic.ID, "properties": body.Object{"primary": body.Bool(nic.Body, "properties.primary")}})
	}
	body.Set(it.Body, p+"networkProfile.networkInterfaces", nics)
	if set := c.Get(id.Parent().String()); set != nil {
		body.Set(it.Body, p+"latestModelApplied", upToDate(set, r))
		body.Set(it.Body, interfaceConfigurations, body.Get(body.Clone(r.Secret), networkSecret))
		var exts []any
		for _, e := range body.Objects(set.Body, profilePath+".extensionProfile.extensions") {
			shown := body.Clone(body.Child(e, "properties"))
			body.Set(shown, "provisioningState", extensionState(r))
			name := body.String(e, "name")
			exts = append(exts, body.Object{"id": it.ID + "/extensions/" + name, "name": it.Body["name"].(string) + "/" + name,
				"type": ScaleSetVMs + "/extensions", "location": it.Location, "properties": shown})
		}
		if exts != nil {
			it.Body["resources"] = exts
		}
	}
	if strings.Contains(strings.ToLower(c.Query.Get("$expand")), "instanceview") {
		body.Set(it.Body, p+"instanceView", instanceViewOf(c, r))
	}
	if data := body.String(r.Secret, "userData"); data != "" && strings.Contains(strings.ToLower(c.Query.Get("$expand")), "userdata") {
		body.Set(it.Body, p+"userData", data)
	}
}

func extensionState(r *store.Resource) string {
	switch state := body.String(r.Body, "properties.provisioningState"); state {
	case "Creating", store.Failed:
		return state
	}
	return store.Succeeded
}

// instanceViewOf returns the run-time state of an instance, with its extensions.
func instanceViewOf(c *provider.Call, r *store.Resource) body.Object {
	out := InstanceView(c, r)
	id, _ := store.ParseID(r.ID)
	set := c.Get(id.Parent().String())
	if set == nil || body.String(r.Secret, "power") == "" {
		return out
	}
	var exts []any
	for _, e := range body.Objects(set.Body, profilePath+".extensionProfile.extensions") {
		state := strings.ToLower(extensionState(r))
		exts = append(exts, body.Object{"name": body.String(e, "name"),
			"type":               body.String(e, "properties.publisher") + "." + body.String(e, "properties.type"),
			"typeHandlerVersion": body.String(e, "properties.typeHandlerVersion"),
			"statuses": []any{body.Object{"code": "ProvisioningState/" + state, "level": "Info",
				"displayStatus": "Provisioning " + state}}})
	}
	if exts != nil {
		out["extensions"] = exts
	}
	return out
}

// viewInstanceInterface shows the instance an interface belongs to.
func viewInstanceInterface(_ *provider.Call, it *provider.Item) {
	if i := strings.LastIndex(strings.ToLower(it.ID), "/networkinterfaces/"); i > 0 {
		body.Set(it.Body, "properties.virtualMachine", body.Object{"id": it.ID[:i]})
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(body.String(it.Body, "properties.resourceGuid")))
	n := h.Sum32()
	body.Set(it.Body, "properties.macAddress", fmt.Sprintf("00-0D-3A-%02X-%02X-%02X", byte(n>>16), byte(n>>8), byte(n)))
}

// scaleSetSKUs returns the sizes that a scale set may have. Its instances are at most 1000, with a single placement group 100.
// Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-placement-groups and SDK model
// VirtualMachineScaleSetSKU.
func scaleSetSKUs(it *provider.Item) []any {
	most := 1000
	if body.Bool(it.Body, "properties.singlePlacementGroup") {
		most = 100
	}
	out := []any{}
	for _, name := range sizeNames {
		z, _ := FindSize(name)
		if _, restricted := z.Zones(it.Location); restricted {
			continue
		}
		out = append(out, body.Object{"resourceType": ScaleSets, "sku": body.Object{"name": z.Name, "tier": "Standard"},
			"capacity": body.Object{"minimum": 0, "maximum": most, "defaultCapacity": 1, "scaleType": "Automatic"}})
	}
	return out
}
