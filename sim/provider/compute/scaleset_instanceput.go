package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	// customized marks an instance whose model is not only that of its scale set, see the SDK's ModelDefinitionApplied.
	customized = "customized"
	// networkSecret has the interface configurations of an instance, apart from its body: its interfaces hold the references.
	networkSecret = "interfaceConfigurations"

	interfaceConfigurations = "properties.networkProfileConfiguration.networkInterfaceConfigurations"
	dataDisksPath           = "properties.storageProfile.dataDisks"
)

// prepareInstance lets a PUT change the settings that an instance has of its own: protection, the pools and groups of its interfaces, and
// attached disks. Its tags are those of the scale set: recordings of sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1,
// virtualmachinescalesetvmclient, show no others after a PUT with tags.
// cloud-provider-azure and its disk driver send these: EnsureHostInPool in pkg/provider/azure_vmss.go and AttachDisk in
// azure_controller_vmss.go of sigs.k8s.io/cloud-provider-azure v1.36.5.
func prepareInstance(c *provider.Call, d *provider.Draft) error {
	if d.Old == nil {
		return provider.Errorf(404, "InstanceNotFound",
			"The instance '%s' does not exist. Instances are made by raising the capacity of the scale set.", d.Name)
	}
	sent, location := body.Clone(d.Sent), d.New["location"]
	for k := range d.New {
		delete(d.New, k)
	}
	for k, v := range body.Clone(d.Old) {
		d.New[k] = v
	}
	d.New["location"] = location
	if policy := body.Child(sent, "properties.protectionPolicy"); policy != nil {
		body.Set(d.New, "properties.protectionPolicy", policy)
	}
	if cfgs := body.Objects(sent, interfaceConfigurations); len(cfgs) > 0 {
		if err := prepareInstanceNetwork(c, d, cfgs); err != nil {
			return err
		}
	}
	if disks := body.Get(sent, dataDisksPath); disks != nil {
		body.Set(d.New, dataDisksPath, disks)
		if err := prepareInstanceDisks(c, d); err != nil {
			return err
		}
	}
	return nil
}

// prepareInstanceNetwork checks the interface configurations of one instance. Azure documents nothing of interfaces that come or go by such a
// PUT; that it refuses them is an assumption.
func prepareInstanceNetwork(c *provider.Call, d *provider.Draft, cfgs []body.Object) error {
	vnet := ""
	have := c.List(ScaleSetInterfaces, d.ID)
	if len(cfgs) != len(have) {
		return provider.InvalidParameter("networkInterfaceConfigurations", "The instance '%s' has %d network interfaces, and the request has %d.",
			d.Name, len(have), len(cfgs))
	}
	for _, cfg := range cfgs {
		nic := c.Get(d.ID + "/networkInterfaces/" + body.String(cfg, "name"))
		if nic == nil {
			return provider.InvalidParameter("networkInterfaceConfigurations", "The instance '%s' has no network interface '%s'.", d.Name,
				body.String(cfg, "name"))
		}
		for _, ip := range body.Objects(cfg, "properties.ipConfigurations") {
			if _, known := body.FindNamed(body.Objects(nic.Body, "properties.ipConfigurations"), body.String(ip, "name")); known == nil {
				return provider.InvalidParameter("ipConfigurations", "The network interface '%s' of instance '%s' has no IP configuration '%s'.",
					nic.Name(), d.Name, body.String(ip, "name"))
			}
			if err := checkIPConfiguration(c, d, ip, &vnet); err != nil {
				return err
			}
		}
	}
	d.Secret[networkSecret], d.Secret[customized] = toStoredList(cfgs), true
	return nil
}

// toStoredList returns a list of objects in the form that bodies are stored in.
func toStoredList(cfgs []body.Object) any {
	wrap := body.Object{}
	body.Set(wrap, "value", cfgs)
	return wrap["value"]
}

// prepareInstanceDisks checks the data disks of one instance as those of a VM.
func prepareInstanceDisks(c *provider.Call, d *provider.Draft) error {
	z, ok := FindSize(body.String(d.New, "sku.name"))
	if !ok {
		return provider.MissingProperty("sku.name")
	}
	d.Secret[customized] = true
	return prepareDataDisks(c, d, z, accountType(z))
}

// finishInstance attaches and detaches disks, and puts the interfaces of an instance into their pools and groups.
func finishInstance(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	if body.String(r.Secret, "power") != "" {
		makeDisks(c, r)
	}
	applyInterfaceConfigurations(c, r)
	return nil
}

// setInterfaceConfigurations notes the interface configurations that an instance has from now on.
func setInterfaceConfigurations(r *store.Resource, cfgs any) {
	if r.Secret == nil {
		r.Secret = body.Object{}
	}
	r.Secret[networkSecret] = body.Clone(body.Object{"value": cfgs})["value"]
}

// applyInterfaceConfigurations brings the interfaces of an instance in line with its configurations. Addresses stay.
func applyInterfaceConfigurations(c *provider.Call, r *store.Resource) {
	for _, cfg := range body.Objects(r.Secret, networkSecret) {
		nic := c.Edit(r.ID + "/networkInterfaces/" + body.String(cfg, "name"))
		if nic == nil {
			continue
		}
		was := body.Clone(nic.Body)
		copySettings(nic.Body, cfg, "networkSecurityGroup", "enableAcceleratedNetworking", "enableIPForwarding", "disableTcpStateTracking",
			"dnsSettings")
		all := body.Objects(nic.Body, "properties.ipConfigurations")
		for _, ip := range body.Objects(cfg, "properties.ipConfigurations") {
			if _, have := body.FindNamed(all, body.String(ip, "name")); have != nil {
				copySettings(have, ip, "loadBalancerBackendAddressPools", "applicationGatewayBackendAddressPools", "applicationSecurityGroups")
			}
		}
		if !body.Equal(was, nic.Body) {
			c.SaveResource(nic)
		}
	}
}

// copySettings gives an object the properties of another one, and takes those away that the other has not.
func copySettings(to, from body.Object, keys ...string) {
	for _, key := range keys {
		if value := body.Get(from, "properties."+key); value != nil {
			body.Set(to, "properties."+key, value)
		} else {
			body.Delete(to, "properties."+key)
		}
	}
}

// keepAttached leaves the disks on an instance that were attached to it and are not of its model. That an upgrade of the model leaves them is
// an assumption.
func keepAttached(r *store.Resource, was body.Object) {
	disks := body.Objects(r.Body, dataDisksPath)
	taken := map[int]bool{}
	for _, disk := range disks {
		taken[body.Int(disk, "lun")] = true
	}
	for _, disk := range body.Objects(was, "dataDisks") {
		if strings.EqualFold(body.String(disk, "createOption"), "Attach") && !taken[body.Int(disk, "lun")] {
			disks = append(disks, disk)
		}
	}
	body.Set(r.Body, dataDisksPath, disks)
}
