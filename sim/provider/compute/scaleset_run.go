package compute

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// ScaleSet describes a scale set that a provider runs for a service of its own.
type ScaleSet struct {
	ID       store.ID
	Location string
	Size     string
	Capacity int
	Zones    []string
	Tags     map[string]string
	// Identities are IDs of user-assigned identities.
	Identities []string

	ComputerNamePrefix string // "": the name of the set
	OSType             string // Linux or Windows
	Priority           string // Regular or Spot; "": Regular
	EvictionPolicy     string // of spot instances: Delete or Deallocate
	MaxPrice           float64
	Image              map[string]any // imageReference
	OSDiskSizeGB       int            // 0: the image's
	EphemeralOSDisk    bool
	CustomData         string // base64

	SubnetID            string
	SecurityGroupID     string
	BackendPools        []string // IDs of backend address pools
	AcceleratedNetworks bool
	IPForwarding        bool
}

func (s ScaleSet) newBody() body.Object {
	name := s.ID.Name()
	osDisk := body.Object{"createOption": "FromImage", "osType": s.OSType}
	if s.OSDiskSizeGB > 0 {
		osDisk["diskSizeGB"] = s.OSDiskSizeGB
	}
	if s.EphemeralOSDisk {
		osDisk["diffDiskSettings"], osDisk["caching"] = body.Object{"option": "Local"}, "ReadOnly"
	}
	prefix := s.ComputerNamePrefix
	if prefix == "" {
		prefix = name
	}
	osProfile := body.Object{"computerNamePrefix": prefix, "adminUsername": "azureuser"}
	if s.OSType == "Windows" {
		osProfile["adminPassword"], osProfile["windowsConfiguration"] = "Unused-1", body.Object{}
	} else {
		osProfile["linuxConfiguration"] = body.Object{"disablePasswordAuthentication": true,
			"ssh": body.Object{"publicKeys": []any{body.Object{"path": "/home/azureuser/.ssh/authorized_keys", "keyData": "ssh-rsa unused"}}}}
	}
	if s.CustomData != "" {
		osProfile["customData"] = s.CustomData
	}
	ip := body.Object{"primary": true, "subnet": body.Object{"id": s.SubnetID}}
	if len(s.BackendPools) > 0 {
		pools := []any{}
		for _, id := range s.BackendPools {
			pools = append(pools, body.Object{"id": id})
		}
		ip["loadBalancerBackendAddressPools"] = pools
	}
	nic := body.Object{"primary": true, "enableAcceleratedNetworking": s.AcceleratedNetworks, "enableIPForwarding": s.IPForwarding,
		"ipConfigurations": []any{body.Object{"name": "ipconfig1", "properties": ip}}}
	if s.SecurityGroupID != "" {
		nic["networkSecurityGroup"] = body.Object{"id": s.SecurityGroupID}
	}
	profile := body.Object{
		"osProfile": osProfile, "storageProfile": body.Object{"osDisk": osDisk, "imageReference": s.Image},
		"networkProfile":   body.Object{"networkInterfaceConfigurations": []any{body.Object{"name": name, "properties": nic}}},
		"extensionProfile": body.Object{"extensions": []any{}},
	}
	if s.Priority != "" && s.Priority != "Regular" {
		profile["priority"], profile["evictionPolicy"] = s.Priority, s.EvictionPolicy
		profile["billingProfile"] = body.Object{"maxPrice": s.MaxPrice}
	}
	out := body.Object{
		"location": s.Location, "sku": body.Object{"name": s.Size, "capacity": s.Capacity},
		"properties": body.Object{"upgradePolicy": body.Object{"mode": "Manual"}, "singlePlacementGroup": false, "overprovision": false,
			"virtualMachineProfile": profile},
	}
	if len(s.Zones) > 0 {
		out["zones"] = s.Zones
	}
	if len(s.Tags) > 0 {
		out["tags"] = s.Tags
	}
	if len(s.Identities) > 0 {
		users := body.Object{}
		for _, id := range s.Identities {
			users[id] = body.Object{}
		}
		out["identity"] = body.Object{"type": "UserAssigned", "userAssignedIdentities": users}
	}
	return body.Clone(out)
}

// ApplyScaleSet makes or changes a scale set. Its instances follow Capacity at once, the caller has the latency; new ones run by
// the model given, old ones until UpgradeInstances by the model they were made of. Errors are those of a PUT: size, zone, quota,
// missing references, a full subnet. Nothing is stored then, except instances that still found an address.
func ApplyScaleSet(c *provider.Call, s ScaleSet) error {
	call := *c
	call.Method, call.ID, call.Type, call.Internal = "PUT", s.ID, c.TypeOf(ScaleSets), true
	old := c.Get(s.ID.String())
	d := &provider.Draft{ID: s.ID.String(), Name: s.ID.Name(), Location: s.Location, New: s.newBody(), Secret: body.Object{}}
	if old != nil {
		d.ID, d.Name, d.Old, d.Secret = old.ID, old.Name(), old.Body, body.Clone(old.Secret)
	}
	d.Secret["managed"] = true
	users := body.Child(d.New, "identity.userAssignedIdentities")
	for id := range users {
		if it := c.FindItem(id); it != nil {
			users[id] = body.Object{"principalId": body.String(it.Body, "properties.principalId"),
				"clientId": body.String(it.Body, "properties.clientId")}
		}
	}
	if err := prepareScaleSet(&call, d); err != nil {
		return err
	}
	body.Set(d.New, "properties.provisioningState", store.Succeeded)
	set := &store.Resource{ID: d.ID, Type: ScaleSets, Location: s.Location, Body: d.New, Secret: d.Secret}
	c.SaveResource(set)
	err := fitCapacity(&call, set)
	for _, r := range instancesOf(c, set.ID) {
		n := c.Edit(r.ID)
		if body.String(n.Secret, "power") == "" {
			bootInstance(&call, n)
			body.Set(n.Body, "properties.provisioningState", store.Succeeded)
		}
		n.Body["tags"] = body.Clone(body.Child(set.Body, "tags"))
		if n.Body["tags"] == nil {
			delete(n.Body, "tags")
		}
		c.SaveResource(n)
	}
	c.SaveResource(set)
	return err
}

// RemoveScaleSet takes a scale set away with its instances, interfaces and disks. A missing one is no error.
func RemoveScaleSet(c *provider.Call, id store.ID) { c.EraseTree(id.String()) }

// RemoveInstances takes instances away, by their instance IDs, and lowers the capacity by as many.
func RemoveInstances(c *provider.Call, id store.ID, instanceIDs ...string) {
	for _, n := range instanceIDs {
		c.EraseTree(id.String() + "/virtualMachines/" + n)
	}
}

// UpgradeInstances brings instances, all when none is named, to the model of their set; those that run boot anew.
func UpgradeInstances(c *provider.Call, id store.ID, instanceIDs ...string) {
	set := c.Get(id.String())
	for _, r := range editSelected(c, id, instanceIDs) {
		upgradeInstance(c, set, r)
	}
}

// PowerInstances starts ("running"), stops ("stopped") or deallocates ("deallocated") instances, all when none is named.
func PowerInstances(c *provider.Call, id store.ID, power string, instanceIDs ...string) {
	for _, r := range editSelected(c, id, instanceIDs) {
		if was := body.String(r.Secret, "power"); was != power {
			SetPower(c, r, power, power == "running")
			c.SaveResource(r)
		}
	}
}

// editSelected are editable copies of the instances named.
func editSelected(c *provider.Call, id store.ID, instanceIDs []string) []*store.Resource {
	var out []*store.Resource
	if len(instanceIDs) == 0 {
		for _, r := range instancesOf(c, id.String()) {
			out = append(out, c.Edit(r.ID))
		}
		return out
	}
	for _, n := range instanceIDs {
		if r := c.Edit(id.String() + "/virtualMachines/" + n); r != nil {
			out = append(out, r)
		}
	}
	return out
}
