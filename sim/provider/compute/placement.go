package compute

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func prepareNetworkProfile(c *provider.Call, d *provider.Draft, z Size) error {
	refs := body.Objects(d.New, interfacesPath)
	if len(refs) == 0 {
		return provider.InvalidParameter("networkProfile", "Virtual Machine %s must have at least one network interface.", d.ID)
	}
	if len(refs) > z.MaxNICs {
		return provider.Errorf(400, "OperationNotAllowed",
			"The number of network interfaces for virtual machine %s exceeds the maximum allowed for the virtual machine size %s. The number of network interfaces is %d and the maximum allowed is %d.", d.Name, z.Name, len(refs), z.MaxNICs)
	}
	if err := checkInterfaces(d); err != nil {
		return err
	}
	vnet := ""
	for _, ref := range refs {
		id := body.String(ref, "id")
		nic, err := c.RequireReference(id, d.ID, network.Interfaces, d.Location)
		if err != nil {
			return err
		}
		for _, r := range c.Referrers(nic.ID) {
			if other := c.Get(r.From); r.Field == "networkInterfaces" && other != nil && !store.SameID(other.ID, d.ID) {
				return provider.NetworkError(400, "NicInUse",
					"Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.", nic.ID, other.ID)
			}
		}
		var held network.Reservation
		if c.ReadNote(network.ReservationKey(nic.ID), &held) && held.Until.After(c.Now()) && !store.SameID(held.VM, d.ID) {
			return provider.NetworkError(400, "NicReservedForAnotherVm",
				"Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or retry after 180 seconds. Reserved VM: %s", held.VM)
		}
		if body.Bool(nic.Body, "properties.enableAcceleratedNetworking") && !z.Accelerated {
			return provider.NetworkError(400, "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
				"VM size %s is not permitted to enable accelerated networking on network interface %s.", z.Name, nic.ID)
		}
		for _, cfg := range body.Objects(nic.Body, "properties.ipConfigurations") {
			sid, _ := store.ParseID(body.String(cfg, "properties.subnet.id"))
			if v := sid.Top().Key(); vnet == "" {
				vnet = v
			} else if v != vnet {
				return provider.NetworkError(400, "NicsNotInSameVnet", "Network interfaces of virtual machine %s are not in the same virtual network.",
					d.ID)
			}
		}
	}
	return nil
}

// checkPlacement checks the availability set, placement group and other placement of a machine or scale set.
func checkPlacement(c *provider.Call, d *provider.Draft, _ Size) error {
	for path, typ := range body.Sorted(map[string]string{"availabilitySet": AvailabilitySets, "proximityPlacementGroup": PlacementGroups}) {
		if !body.Has(d.New, "properties."+path) {
			continue
		}
		if _, err := findReferred(c, body.String(d.New, "properties."+path+".id"), typ, path, d.Location); err != nil {
			return err
		}
	}
	return nil
}

// checkFlexible lets a new VM only into a scale set with flexible orchestration that has its zone.
// Sources: the SDK model of VirtualMachineProperties, and
// https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-attach-detach-vm; the codes are Compute's
// generic ones.
func checkFlexible(c *provider.Call, d *provider.Draft, _ Size) error {
	const path = "virtualMachineScaleSet"
	if !body.Has(d.New, "properties."+path) || d.Old != nil {
		return nil
	}
	set, err := findReferred(c, body.String(d.New, "properties."+path+".id"), ScaleSets, path, d.Location)
	if err != nil {
		return err
	}
	switch {
	case body.Has(d.New, "properties.availabilitySet"):
		return provider.Errorf(400, "BadRequest",
			"Virtual Machine '%s' cannot be in a Virtual Machine Scale Set and in an availability set at the same time.", d.Name)
	case !isFlexible(set.Body):
		return provider.InvalidParameter(path,
			"Virtual Machine Scale Set '%s' has orchestration mode '%s'. Virtual machines can be added only to one with orchestration mode 'Flexible'.", set.Name, body.String(set.Body, "properties.orchestrationMode"))
	}
	offered, zones := body.Strings(set.Body, "zones"), body.Strings(d.New, "zones")
	if len(zones) == 0 != (len(offered) == 0) || len(zones) > 0 && !slices.Contains(offered, zones[0]) {
		return provider.Errorf(400, "BadRequest",
			"Virtual Machine '%s' in zones '%s' cannot be added to Virtual Machine Scale Set '%s', which is in zones '%s'.", d.Name,
			strings.Join(zones, ","), set.Name, strings.Join(offered, ","))
	}
	return nil
}
