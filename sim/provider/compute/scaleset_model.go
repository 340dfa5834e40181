package compute

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Limits of a scale set. Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-placement-groups
const (
	maxInstances       = 1000
	maxInstancesSingle = 100 // with singlePlacementGroup
	maxInstancesCustom = 600 // of an image that is not in a gallery
)

var scaleSetNameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$`)

func scaleSetName(name string) *provider.Error {
	if scaleSetNameForm.MatchString(name) {
		return nil
	}
	return provider.Errorf(400, "InvalidParameter",
		"The scale set name is invalid: '%s'. It can have letters, digits, '.', '_' and '-', must begin with a letter or digit, and be at most 64 characters long.", name).WithTarget("vmScaleSetName")
}

// fixed cannot change once a scale set has it. Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-upgrade-policy
var fixed = []string{
	"orchestrationMode", "platformFaultDomainCount", "proximityPlacementGroup.id", "virtualMachineProfile.osProfile.computerNamePrefix",
	"virtualMachineProfile.osProfile.adminUsername",
	"virtualMachineProfile.storageProfile.osDisk.osType", "virtualMachineProfile.storageProfile.osDisk.createOption",
	"virtualMachineProfile.priority",
}

// prepareScaleSet validates a model and fills in Azure's defaults.
func prepareScaleSet(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	for _, path := range fixed {
		if was := body.Get(d.Old, p+path); was != nil {
			body.Default(d.New, p+path, was)
		}
		if err := changeNotAllowed(d, path); err != nil {
			return err
		}
	}
	if d.Old != nil && isSpot(d.Old) != isSpot(d.New) {
		return provider.Errorf(409, "PropertyChangeNotAllowed",
			"Changing property 'virtualMachineProfile.priority' is not allowed.").WithTarget("virtualMachineProfile.priority")
	}
	if err := checkImageChange(d); err != nil {
		return err
	}
	body.Default(d.New, p+"orchestrationMode", "Uniform")
	if err := checkOrchestration(d); err != nil {
		return err
	}
	if err := checkCapacity(d); err != nil {
		return err
	}
	if err := checkScaleSetZones(d); err != nil {
		return err
	}
	d.Keep(p+"uniqueId", c.NewGUID)
	d.Keep(p+"timeCreated", func() string { return c.Now().Format("2006-01-02T15:04:05.0000000+00:00") })
	if body.Child(d.New, profilePath+".storageProfile") == nil && body.Child(d.New, profilePath+".osProfile") == nil {
		if isFlexible(d.New) && body.Int(d.New, "sku.capacity") == 0 {
			// One without a model only holds machines that users put into it.
			for _, k := range []string{"sku", profilePath} {
				body.Delete(d.New, k)
			}
			return checkPlacement(c, d, Size{})
		}
		return provider.MissingProperty("virtualMachineProfile")
	}
	size := body.String(d.New, "sku.name")
	if size == "" {
		return provider.MissingProperty("sku.name")
	}
	body.Default(d.New, "sku.tier", "Standard")
	spot := isSpot(d.New)
	switch {
	case spot:
		body.Default(d.New, profilePath+".evictionPolicy", "Deallocate")
		body.Default(d.New, profilePath+".billingProfile", body.Object{"maxPrice": -1.0})
	case body.String(d.New, profilePath+".evictionPolicy") != "":
		return provider.InvalidParameter("evictionPolicy", "The eviction policy can be set only on Azure Spot virtual machines.")
	}
	more := body.Int(d.New, "sku.capacity") - body.Int(d.Old, "sku.capacity")
	z, err := CheckSize(c, d.ID, size, d.Location, body.Strings(d.New, "zones"), more, spot)
	if err != nil {
		return err
	}
	if err := prepareProfile(c, d, z); err != nil {
		return err
	}
	if err := checkInterfaceConfigurations(c, d, z); err != nil {
		return err
	}
	if err := checkPlacement(c, d, z); err != nil {
		return err
	}
	body.Default(d.New, p+"overprovision", true)
	body.Default(d.New, p+"singlePlacementGroup", true)
	body.Default(d.New, p+"doNotRunExtensionsOnOverprovisionedVMs", false)
	body.Default(d.New, p+"platformFaultDomainCount", map[bool]int{true: 1, false: 5}[len(body.Strings(d.New, "zones")) > 0])
	body.Set(d.New, profilePath+".timeCreated", body.String(d.New, p+"timeCreated"))
	before := body.String(d.Secret, "model")
	rememberModel(d)
	return checkModels(c, d, before)
}

// isSpot reports whether the VMs of a scale set may be evicted. The default priority is Regular.
func isSpot(set body.Object) bool {
	return strings.EqualFold(body.String(set, profilePath+".priority"), "Spot")
}

func checkOrchestration(d *provider.Draft) error {
	p := "properties."
	upgrade := body.String(d.New, p+"upgradePolicy.mode")
	switch mode := body.String(d.New, p+"orchestrationMode"); mode {
	case "Uniform":
		if upgrade == "" {
			return provider.MissingProperty("upgradePolicy.mode")
		}
	case "Flexible":
		switch {
		case body.Get(d.New, p+"platformFaultDomainCount") == nil:
			return provider.MissingProperty("platformFaultDomainCount")
		case body.Bool(d.New, p+"singlePlacementGroup"):
			return provider.InvalidParameter("singlePlacementGroup", "Scale sets with flexible orchestration cannot have a single placement group.")
		case body.Bool(d.New, p+"overprovision"):
			return provider.InvalidParameter("overprovision", "Scale sets with flexible orchestration cannot be overprovisioned.")
		case body.Child(d.New, profilePath) != nil && body.String(d.New, profilePath+".networkProfile.networkApiVersion") == "" &&
			len(body.Objects(d.New, profilePath+".networkProfile.networkInterfaceConfigurations")) > 0:
			return provider.MissingProperty("networkProfile.networkApiVersion")
		}
		body.Default(d.New, p+"singlePlacementGroup", false)
		body.Default(d.New, p+"overprovision", false)
		body.Default(d.New, p+"upgradePolicy.mode", "Manual")
		upgrade = body.String(d.New, p+"upgradePolicy.mode")
	default:
		return provider.InvalidParameter("orchestrationMode",
			"The value '%s' of parameter 'orchestrationMode' is invalid. Allowed values are Flexible, Uniform.", mode)
	}
	if upgrade != "Manual" && upgrade != "Automatic" && upgrade != "Rolling" {
		return provider.InvalidParameter("upgradePolicy.mode",
			"The value '%s' of parameter 'upgradePolicy.mode' is invalid. Allowed values are Automatic, Manual, Rolling.", upgrade)
	}
	return nil
}

func checkCapacity(d *provider.Draft) error {
	body.Default(d.New, "sku.capacity", 0)
	n, limit := body.Int(d.New, "sku.capacity"), maxInstances
	single := body.Get(d.New, "properties.singlePlacementGroup")
	switch {
	case single == nil || single == true:
		limit = maxInstancesSingle
	case strings.Contains(strings.ToLower(body.String(d.New, profilePath+".storageProfile.imageReference.id")),
		"/providers/microsoft.compute/images/"):
		limit = maxInstancesCustom
	}
	if n < 0 || n > limit {
		return provider.InvalidParameter("sku.capacity",
			"The value %d of parameter 'sku.capacity' is invalid. The scale set '%s' can have 0 to %d instances.", n, d.Name, limit)
	}
	if d.Old != nil && single == true && body.Get(d.Old, "properties.singlePlacementGroup") == false {
		return provider.Errorf(409, "OperationNotAllowed", "Changing 'singlePlacementGroup' from false to true is not allowed on scale set '%s'.",
			d.Name).WithTarget("singlePlacementGroup")
	}
	return nil
}

// checkScaleSetZones lets zones be added, not taken away.
func checkScaleSetZones(d *provider.Draft) error {
	have := map[string]bool{}
	for _, z := range body.Strings(d.New, "zones") {
		have[z] = true
	}
	was := body.Strings(d.Old, "zones")
	for _, z := range was {
		if !have[z] {
			return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property 'zones' is not allowed: zone %s cannot be removed.",
				z).WithTarget("zones")
		}
	}
	if d.Old != nil && len(was) == 0 && len(have) > 0 {
		return provider.Errorf(409, "PropertyChangeNotAllowed",
			"Changing property 'zones' is not allowed: the scale set is regional.").WithTarget("zones")
	}
	return nil
}

// prepareProfile validates the model's machine with the rules of single VMs.
func prepareProfile(c *provider.Call, d *provider.Draft, z Size) error {
	profile := body.Child(d.New, profilePath)
	osp := "osProfile."
	// Unlike that of a VM, custom data may change; it is for instances that come later.
	if data := body.String(profile, osp+"customData"); data != "" {
		if _, err := base64.StdEncoding.DecodeString(data); err != nil || len(data) > customDataLimit {
			return provider.InvalidParameter("customData",
				"Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.", customDataLimit)
		}
		d.Secret["customData"] = data
	}
	body.Delete(profile, osp+"customData")
	// Recordings show none of these unless they were sent.
	unsaid := []string{osp + "linuxConfiguration.patchSettings", "storageProfile.osDisk.deleteOption", "storageProfile.dataDisks"}
	unsaid = slices.DeleteFunc(unsaid, func(path string) bool { return body.Has(profile, path) })
	// Where Azure creates the configuration of Linux itself, recordings of 2022-03-01 do not show updates of the
	// agent.
	configured := body.Has(profile, osp+"linuxConfiguration")
	body.Default(profile, "storageProfile.osDisk.deleteOption", "Delete")
	body.Default(profile, "storageProfile.osDisk.caching", "None")
	for _, disk := range body.Objects(profile, "storageProfile.dataDisks") {
		body.Default(disk, "deleteOption", "Delete")
	}
	if body.Child(profile, "osProfile") == nil {
		return provider.MissingProperty("osProfile")
	}
	prefix := body.String(profile, osp+"computerNamePrefix")
	if prefix == "" {
		prefix = d.Name
		body.Set(profile, osp+"computerNamePrefix", prefix)
	}
	limit := 58
	if body.Child(profile, osp+"windowsConfiguration") != nil ||
		strings.EqualFold(body.String(profile, "storageProfile.osDisk.osType"), "Windows") {
		limit = 9
	}
	if len(prefix) > limit {
		return provider.InvalidParameter("computerNamePrefix",
			"The value of parameter 'computerNamePrefix' is invalid: '%s' has %d characters, the maximum is %d.", prefix, len(prefix), limit)
	}
	body.Set(profile, osp+"computerName", prefix+"000000")
	if more := body.Child(d.New, "properties.additionalCapabilities"); more != nil {
		profile["additionalCapabilities"] = body.Clone(more)
	}
	// The rules of VMs read "properties" and "zones".
	vm := &provider.Draft{ID: d.ID, Name: d.Name, Location: d.Location, New: body.Object{"zones": d.New["zones"], "properties": profile},
		Secret: d.Secret}
	if d.Old != nil {
		vm.Old = body.Object{"zones": d.Old["zones"], "properties": body.Child(d.Old, profilePath)}
	}
	for _, check := range []func(*provider.Call, *provider.Draft, Size) error{checkFeatures, prepareStorage, prepareOSProfile} {
		if err := check(c, vm, z); err != nil {
			return err
		}
	}
	body.Delete(profile, osp+"computerName")
	delete(profile, "additionalCapabilities")
	body.Delete(profile, "storageProfile.osDisk.name")
	for _, path := range unsaid {
		body.Delete(profile, path)
	}
	if configured {
		body.Default(profile, osp+"linuxConfiguration.enableVMAgentPlatformUpdates", false)
	}
	if limit == 9 {
		body.Delete(profile, osp+"linuxConfiguration")
	}
	return nil
}

// checkInterfaceConfigurations validates the interfaces that every instance gets.
func checkInterfaceConfigurations(c *provider.Call, d *provider.Draft, z Size) error {
	path := profilePath + ".networkProfile.networkInterfaceConfigurations"
	cfgs := body.Objects(d.New, path)
	if len(cfgs) == 0 {
		return provider.MissingProperty("networkInterfaceConfigurations")
	}
	if len(cfgs) > z.MaxNICs {
		return provider.Errorf(400, "OperationNotAllowed",
			"The number of network interfaces for scale set %s exceeds the maximum allowed for the virtual machine size %s. The number of network interfaces is %d and the maximum allowed is %d.", d.Name, z.Name, len(cfgs), z.MaxNICs)
	}
	primaries, vnet := 0, ""
	for _, cfg := range cfgs {
		if len(cfgs) == 1 {
			body.Set(cfg, "properties.primary", true)
		}
		if body.Bool(cfg, "properties.primary") {
			primaries++
		}
		if body.Bool(cfg, "properties.enableAcceleratedNetworking") && !z.Accelerated {
			return provider.NetworkError(400, "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
				"VM size %s is not permitted to enable accelerated networking on network interface %s.", z.Name, body.String(cfg, "name"))
		}
		for k, v := range map[string]any{"enableAcceleratedNetworking": false, "enableIPForwarding": false, "disableTcpStateTracking": false,
			"dnsSettings": body.Object{"dnsServers": []any{}}} {
			body.Default(cfg, "properties."+k, v)
		}
		if id := body.String(cfg, "properties.networkSecurityGroup.id"); id != "" {
			if _, err := c.RequireReference(id, d.ID, network.SecurityGroups, d.Location); err != nil {
				return err
			}
		}
		ips := body.Objects(cfg, "properties.ipConfigurations")
		if len(ips) == 0 {
			return provider.MissingProperty("ipConfigurations")
		}
		for _, ip := range ips {
			if err := checkIPConfiguration(c, d, ip, &vnet); err != nil {
				return err
			}
		}
	}
	if primaries != 1 {
		return provider.InvalidParameter("networkInterfaceConfigurations",
			"Virtual Machine Scale Set %s must have exactly one network interface configuration marked as primary, it has %d.", d.Name, primaries)
	}
	return nil
}

func checkIPConfiguration(c *provider.Call, d *provider.Draft, ip body.Object, vnet *string) error {
	body.Default(ip, "properties.privateIPAddressVersion", "IPv4")
	subnet := body.String(ip, "properties.subnet.id")
	if subnet == "" {
		return provider.MissingProperty("ipConfigurations.subnet")
	}
	if _, err := c.RequireReference(subnet, d.ID, network.Subnets, d.Location); err != nil {
		return err
	}
	sid, _ := store.ParseID(subnet)
	if v := sid.Top().Key(); *vnet == "" {
		*vnet = v
	} else if v != *vnet {
		return provider.NetworkError(400, "NicsNotInSameVnet",
			"Network interface configurations of scale set %s are not in the same virtual network.", d.ID)
	}
	for _, ref := range body.Objects(ip, "properties.applicationSecurityGroups") {
		if _, err := c.RequireReference(body.String(ref, "id"), d.ID, network.AppGroups, d.Location); err != nil {
			return err
		}
	}
	for field, typ := range body.Sorted(map[string]string{"loadBalancerBackendAddressPools": "backendAddressPools",
		"loadBalancerInboundNatPools": "inboundNatPools"}) {
		for _, ref := range body.Objects(ip, "properties."+field) {
			id := body.String(ref, "id")
			lb, err := store.ParseID(id)
			if err != nil || !strings.EqualFold(lb.Type(), network.LoadBalancers+"/"+typ) {
				return provider.InvalidReference(id, d.ID)
			}
			balancer, err := c.RequireReference(lb.Top().String(), d.ID, network.LoadBalancers, d.Location)
			if err != nil {
				return err
			}
			if _, e := body.FindNamed(body.Objects(balancer.Body, "properties."+typ), lb.Name()); e == nil {
				return provider.InvalidReference(id, d.ID)
			}
		}
	}
	return nil
}

// prepareScaleSetExtension validates an extension of the model. Protected settings never come back.
func prepareScaleSetExtension(_ *provider.Call, d *provider.Draft) error {
	for _, k := range []string{"publisher", "type", "typeHandlerVersion"} {
		if body.String(d.New, "properties."+k) == "" {
			return provider.MissingProperty("extensionProfile.extensions." + k)
		}
	}
	body.Delete(d.New, "properties.protectedSettings")
	body.Default(d.New, "properties.autoUpgradeMinorVersion", false)
	body.Default(d.New, "properties.settings", body.Object{})
	return nil
}
