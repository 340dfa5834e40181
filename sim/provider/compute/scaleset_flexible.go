package compute

import (
	"net/netip"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// madeBySet is set in the Secret of machines that a flexible scale set made by its model. Those that a user put into the set by
// themselves do not count for its capacity.
const madeBySet = "madeBySet"

func isFlexible(set body.Object) bool {
	return body.String(set, "properties.orchestrationMode") == "Flexible"
}

// addMachine makes an instance of a flexible scale set: a virtual machine with interfaces and extensions of its own.
func addMachine(c *provider.Call, set *store.Resource, have []*store.Resource) (*store.Resource, error) {
	unique := strings.ReplaceAll(c.NewGUID(), "-", "")[:8]
	id, _ := store.ParseID(set.ID)
	vm := &store.Resource{
		ID: id.Scope + "/providers/" + VirtualMachines + "/" + set.Name() + "_" + unique, Type: VirtualMachines, Location: set.Location,
		Body: body.Object{"location": set.Location,
			"properties": body.Object{"vmId": c.NewGUID(), "timeCreated": c.Now().Format("2006-01-02T15:04:05.0000000+00:00"),
				"provisioningState":      "Creating",
				"virtualMachineScaleSet": body.Object{"id": set.ID}}},
		Secret: body.Object{madeBySet: true},
	}
	if zone := emptiestZone(body.Strings(set.Body, "zones"), have); zone != "" {
		vm.Body["zones"] = []any{zone}
	}
	applyModel(set, vm)
	delete(vm.Body, "sku")
	body.Set(vm.Body, "properties.hardwareProfile.vmSize", body.String(set.Body, "sku.name"))
	body.Set(vm.Body, "properties.osProfile.computerName",
		body.String(set.Body, profilePath+".osProfile.computerNamePrefix")+strings.ToUpper(unique[:6]))
	refs, taken := []any{}, map[netip.Addr]bool{}
	for _, cfg := range body.Objects(set.Body, profilePath+".networkProfile.networkInterfaceConfigurations") {
		nic, err := interfaceOf(c, id.Scope+"/providers/"+network.Interfaces+"/"+body.String(cfg, "name")+"-"+unique, cfg, taken)
		if err != nil {
			return nil, err
		}
		nic.Type, nic.Location = network.Interfaces, set.Location
		nic.Body["location"] = set.Location
		c.SaveResource(nic)
		refs = append(refs, body.Object{"id": nic.ID,
			"properties": body.Object{"primary": body.Bool(cfg, "properties.primary"), "deleteOption": "Delete"}})
	}
	body.Set(vm.Body, "properties.networkProfile.networkInterfaces", refs)
	c.SaveResource(vm)
	for _, e := range body.Objects(set.Body, profilePath+".extensionProfile.extensions") {
		properties := body.Clone(body.Child(e, "properties"))
		properties["provisioningState"] = "Creating"
		c.SaveResource(&store.Resource{ID: vm.ID + "/extensions/" + body.String(e, "name"), Type: Extensions, Location: set.Location,
			Body: body.Object{"location": set.Location, "properties": properties}})
	}
	return c.Get(vm.ID), nil
}

// endExtensions ends the extensions of an instance that are resources.
func endExtensions(c *provider.Call, r *store.Resource, state string) {
	for _, e := range c.List(Extensions, r.ID) {
		n := c.Edit(e.ID)
		body.Set(n.Body, "properties.provisioningState", state)
		c.SaveResource(n)
	}
}

// leaveFlexible lowers the capacity of the set that made the machine.
func leaveFlexible(c *provider.Call, r *store.Resource) {
	if body.Bool(r.Secret, madeBySet) {
		leaveScaleSet(c, r)
	}
}

// flexibleDeleted deletes the machines that a flexible scale set created.
func flexibleDeleted(c *provider.Call, set *store.Resource) {
	if isFlexible(set.Body) {
		for _, r := range instancesOf(c, set.ID) {
			c.EraseTree(r.ID)
		}
	}
}

// flexibleInstances shows the machines of a flexible scale set as its instances, under the IDs that Azure gives them there.
func flexibleInstances(c *provider.Call) []any {
	set := c.Get(c.ID.Parent().String())
	if set == nil || !isFlexible(set.Body) {
		return nil
	}
	out := []any{}
	for _, r := range instancesOf(c, set.ID) {
		e := c.RenderResource(r)
		e["id"], e["instanceId"], e["type"] = set.ID+"/virtualMachines/"+r.Name(), r.Name(), ScaleSetVMs
		out = append(out, e)
	}
	return out
}
