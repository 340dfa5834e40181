package compute

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// fitCapacity adds or removes instances until the set has its capacity. set is an editable copy that the caller stores afterwards.
func fitCapacity(c *provider.Call, set *store.Resource) error {
	var have []*store.Resource
	for _, r := range instancesOf(c, set.ID) {
		if !isLeaving(r) {
			have = append(have, r)
		}
	}
	want := body.Int(set.Body, "sku.capacity")
	for len(have) > want {
		i := surplusIndex(have, strings.EqualFold(firstRule(set), "OldestVM"))
		if i < 0 {
			break // all the others are protected
		}
		c.EraseTree(have[i].ID)
		have = slices.Delete(have, i, i+1)
	}
	for len(have) < want {
		r, err := addInstance(c, set, have)
		if err != nil {
			return err
		}
		have = append(have, r)
	}
	return nil
}

func firstRule(set *store.Resource) string {
	if rules := body.Strings(set.Body, "properties.scaleInPolicy.rules"); len(rules) > 0 {
		return rules[0]
	}
	return "Default"
}

// surplusIndex picks the instance that goes first: from the zone with the most instances, the one with the highest number, or the
// lowest when oldest. Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-scale-in-policy
func surplusIndex(have []*store.Resource, oldest bool) int {
	perZone := map[string]int{}
	for _, r := range have {
		perZone[zoneOf(r)]++
	}
	best := -1
	for i, r := range have {
		if isProtectedFromScaleIn(r) {
			continue
		}
		if best < 0 || perZone[zoneOf(r)] > perZone[zoneOf(have[best])] || perZone[zoneOf(r)] == perZone[zoneOf(have[best])] &&
			(compareAge(r, have[best]) > 0) != oldest {
			best = i
		}
	}
	return best
}

func zoneOf(r *store.Resource) string {
	if z := body.Strings(r.Body, "zones"); len(z) > 0 {
		return z[0]
	}
	return ""
}

// addInstance makes an instance by the model of the set, with its interfaces. It does not run yet.
func addInstance(c *provider.Call, set *store.Resource, have []*store.Resource) (*store.Resource, error) {
	if isFlexible(set.Body) {
		return addMachine(c, set, have)
	}
	if set.Secret == nil {
		set.Secret = body.Object{}
	}
	n := body.Int(set.Secret, "next")
	for _, known := range have {
		// A set that is copied from another Azure has its instances and no counter.
		n = max(n, numberOf(known)+1)
	}
	set.Secret["next"] = float64(n + 1)
	r := &store.Resource{
		ID: set.ID + "/virtualMachines/" + strconv.Itoa(n), Type: ScaleSetVMs, Location: set.Location,
		Body: body.Object{"properties": body.Object{"vmId": c.NewGUID(), "timeCreated": c.Now().Format("2006-01-02T15:04:05.0000000+00:00"),
			"provisioningState": "Creating"}},
		Secret: body.Object{},
	}
	if zone := emptiestZone(body.Strings(set.Body, "zones"), have); zone != "" {
		r.Body["zones"] = []any{zone}
	}
	if body.Bool(set.Secret, "managed") {
		r.Secret["managed"] = true
	}
	applyModel(set, r)
	if err := addInterfaces(c, set, r); err != nil {
		return nil, err
	}
	c.SaveResource(r)
	return c.Get(r.ID), nil
}

func emptiestZone(zones []string, have []*store.Resource) string {
	perZone := map[string]int{}
	for _, r := range have {
		perZone[zoneOf(r)]++
	}
	best := ""
	for _, z := range zones {
		if best == "" || perZone[z] < perZone[best] {
			best = z
		}
	}
	return best
}

// applyModel brings an instance to the model of its set.
func applyModel(set, r *store.Resource) {
	profile := body.Child(set.Body, profilePath)
	n := numberOf(r)
	r.Body["sku"] = body.Object{"name": body.String(set.Body, "sku.name"), "tier": body.String(set.Body, "sku.tier")}
	for _, k := range []string{"tags", "identity", "plan"} {
		delete(r.Body, k)
		if v := body.Child(set.Body, k); v != nil {
			r.Body[k] = body.Clone(v)
		}
	}
	for _, k := range []string{"osProfile", "storageProfile", "securityProfile", "diagnosticsProfile", "billingProfile"} {
		if v := body.Child(profile, k); v != nil {
			was := body.Child(r.Body, "properties."+k)
			body.Set(r.Body, "properties."+k, body.Clone(v))
			if k == "storageProfile" {
				body.Default(r.Body, "properties.storageProfile.osDisk.deleteOption", "Delete")
				body.Default(r.Body, "properties.storageProfile.dataDisks", []any{})
				nameDisks(set, r, was)
				keepAttached(r, was)
			}
		} else {
			body.Delete(r.Body, "properties."+k)
		}
	}
	for _, k := range []string{"priority", "evictionPolicy", "licenseType"} {
		if v := body.String(profile, k); v != "" {
			body.Set(r.Body, "properties."+k, v)
		}
	}
	body.Delete(r.Body, "properties.osProfile.computerNamePrefix")
	body.Set(r.Body, "properties.osProfile.computerName", body.String(profile, "osProfile.computerNamePrefix")+machineNumber(n))
	delete(r.Secret, customized)
	setInterfaceConfigurations(r, body.Get(profile, "networkProfile.networkInterfaceConfigurations"))
	for _, k := range []string{"customData", "userData", "model", "shape"} {
		delete(r.Secret, k)
		if v := body.String(set.Secret, k); v != "" {
			r.Secret[k] = v
		}
	}
}

// machineNumber returns an instance's number as it is written in its computer name: six digits of base 36.
func machineNumber(n int) string {
	digits := strconv.FormatInt(int64(n), 36)
	return strings.Repeat("0", max(0, 6-len(digits))) + digits
}

// nameDisks names the new disks of an instance; existing disks stay.
func nameDisks(set, r *store.Resource, was body.Object) {
	prefix := set.Name() + "_" + set.Name() + "_" + strconv.Itoa(numberOf(r))
	if isFlexible(set.Body) {
		prefix = r.Name()
	}
	unique := strings.ReplaceAll(body.String(r.Body, "properties.vmId"), "-", "")
	name := func(disk, old body.Object, kind string) {
		if n := body.String(old, "name"); n != "" {
			disk["name"] = n
			body.Set(disk, "managedDisk.id", body.String(old, "managedDisk.id"))
			return
		}
		disk["name"] = prefix + "_" + kind + "_1_" + unique
	}
	name(body.Child(r.Body, "properties.storageProfile.osDisk"), body.Child(was, "osDisk"), "OsDisk")
	for i, disk := range body.Objects(r.Body, "properties.storageProfile.dataDisks") {
		var old body.Object
		for _, o := range body.Objects(was, "dataDisks") {
			if body.Int(o, "lun") == body.Int(disk, "lun") {
				old = o
			}
		}
		delete(disk, "name")
		name(disk, old, fmt.Sprintf("disk%d", i+2))
	}
}

// addInterfaces makes the interfaces of an instance.
func addInterfaces(c *provider.Call, set, r *store.Resource) error {
	taken := map[netip.Addr]bool{}
	for _, cfg := range body.Objects(set.Body, profilePath+".networkProfile.networkInterfaceConfigurations") {
		nic, err := interfaceOf(c, r.ID+"/networkInterfaces/"+body.String(cfg, "name"), cfg, taken)
		if err != nil {
			return err
		}
		nic.Type, nic.Location = ScaleSetInterfaces, r.Location
		addPublicIPs(c, nic, cfg)
		c.SaveResource(nic)
	}
	return nil
}

// rulesOfPools returns the inbound NAT rules of an instance: those that the pools of its IP configuration have for its number. Source: recording
// Test_Insights_v1api_CreationAndDeletion, where the rule "pool.0" names the IP configuration of instance 0.
func rulesOfPools(c *provider.Call, interfaceID string, ip body.Object) []any {
	_, after, _ := strings.Cut(interfaceID, "/virtualMachines/")
	instance, _, _ := strings.Cut(after, "/")
	var rules []any
	for _, pool := range body.Objects(ip, "properties.loadBalancerInboundNatPools") {
		id := strings.Replace(body.String(pool, "id"), "/inboundNatPools/", "/inboundNatRules/", 1) + "." + instance
		if rule := c.FindItem(id); rule != nil && instance != "" {
			rules = append(rules, body.Object{"id": rule.ID})
		}
	}
	return rules
}

// interfaceOf makes an interface by its configuration, with addresses of its subnets.
func interfaceOf(c *provider.Call, id string, cfg body.Object, taken map[netip.Addr]bool) (*store.Resource, error) {
	p := body.Clone(body.Child(cfg, "properties"))
	for i, ip := range body.Objects(p, "ipConfigurations") {
		if rules := rulesOfPools(c, id, ip); len(rules) > 0 {
			body.Set(ip, "properties.loadBalancerInboundNatRules", rules)
		}
		for _, k := range []string{"loadBalancerInboundNatPools", "publicIPAddressConfiguration"} {
			body.Delete(ip, "properties."+k)
		}
		body.Default(ip, "properties.primary", i == 0)
		body.Set(ip, "properties.privateIPAllocationMethod", "Dynamic")
		body.Set(ip, "properties.provisioningState", store.Succeeded)
		if err := network.AllocateAddress(c, id+"/ipConfigurations/"+body.String(ip, "name"), ip, nil, taken); err != nil {
			return nil, err
		}
	}
	for k, v := range map[string]any{"provisioningState": store.Succeeded, "resourceGuid": c.NewGUID(), "vnetEncryptionSupported": false,
		"hostedWorkloads": []any{}, "auxiliaryMode": "None", "auxiliarySku": "None"} {
		body.Set(p, k, v)
	}
	return &store.Resource{ID: id, Body: body.Object{"properties": p}}, nil
}

// bootInstance lets an instance run on disks of its own.
func bootInstance(c *provider.Call, r *store.Resource) {
	if body.String(r.Body, "properties.storageProfile.osDisk.diffDiskSettings.option") == "" {
		makeDisks(c, r)
	}
	SetPower(c, r, "running", true)
	body.Default(r.Secret, "provisioned", c.Now().Format(time.RFC3339Nano))
}

// finishScaleSet lets instances appear, then boot, then wait for their extensions.
func finishScaleSet(c *provider.Call, op *store.Operation, set *store.Resource) error {
	if op.Data == nil {
		op.Data = body.Object{}
	}
	switch body.String(op.Data, "stage") {
	case "":
		err := fitCapacity(c, set)
		if err == nil && body.String(set.Body, "properties.upgradePolicy.mode") != "Manual" && !isFlexible(set.Body) {
			for _, r := range instancesOf(c, set.ID) {
				if !isProtectedFromSet(r) {
					upgradeInstance(c, set, c.Edit(r.ID))
				}
			}
		}
		c.SaveResource(set)
		if err != nil {
			return err
		}
		if len(instancesBeingCreated(c, set)) == 0 {
			return nil
		}
		op.Data["stage"] = "boot"
		return provider.Again(c.DrawDuration(provider.Seconds(28), 0.2))
	case "boot":
		for _, r := range instancesBeingCreated(c, set) {
			if body.String(r.Secret, "power") == "" {
				n := c.Edit(r.ID)
				bootInstance(c, n)
				c.SaveResource(n)
			}
		}
		op.Data["stage"] = "guests"
	}
	return awaitGuests(c, op, set)
}

func instancesBeingCreated(c *provider.Call, set *store.Resource) []*store.Resource {
	return slices.DeleteFunc(instancesOf(c, set.ID), func(r *store.Resource) bool {
		return body.String(r.Body, "properties.provisioningState") != "Creating"
	})
}

// awaitGuests ends the creation of instances as their extensions end. One that fails does not hold up the others.
func awaitGuests(c *provider.Call, op *store.Operation, set *store.Resource) error {
	var waiting error
	for _, r := range instancesBeingCreated(c, set) {
		failed, pending := guestResult(c, op, set, r)
		switch {
		case pending != nil:
			waiting = pending
			continue
		case failed != nil && op.Data["failure"] == nil:
			op.Data["failure"] = failed.InnerObject(false)
		}
		n := c.Edit(r.ID)
		state := map[bool]string{true: store.Succeeded, false: store.Failed}[failed == nil]
		body.Set(n.Body, "properties.provisioningState", state)
		c.SaveResource(n)
		endExtensions(c, r, state)
	}
	if waiting != nil {
		return waiting
	}
	if failure := body.Child(op.Data, "failure"); failure != nil {
		return provider.Errorf(0, body.String(failure, "code"), "%s", body.String(failure, "message"))
	}
	return nil
}

// guestResult returns the failure of an instance's extensions, or the result that is still pending.
func guestResult(c *provider.Call, op *store.Operation, set, r *store.Resource) (failed *provider.Error, pending error) {
	for _, e := range body.Objects(set.Body, profilePath+".extensionProfile.extensions") {
		err := AwaitGuest(c, body.String(r.Body, "properties.vmId"), &store.Resource{ID: r.ID + "/extensions/" + body.String(e, "name"), Body: e},
			op.Started)
		if ended, ok := err.(*provider.Error); ok {
			return ended, nil
		}
		if err != nil {
			pending = err
		}
	}
	return nil, pending
}

// upgradeInstance brings an instance to the latest model when it has another one; it boots anew if the model changes more than data and tags.
func upgradeInstance(c *provider.Call, set, r *store.Resource) {
	if r == nil || isLeaving(r) || upToDate(set, r) {
		return
	}
	boots := needsRestart(set, r)
	applyModel(set, r)
	applyInterfaceConfigurations(c, r)
	if boots {
		bootInstance(c, r)
	}
	c.SaveResource(r)
}

func upToDate(set, r *store.Resource) bool {
	return body.String(set.Secret, "model") == body.String(r.Secret, "model")
}

// ListAddresses lists the private addresses of an instance, the primary one first.
func ListAddresses(c *provider.Call, r *store.Resource) []string {
	var out []string
	for _, nic := range c.List(ScaleSetInterfaces, r.ID) {
		primary := body.Bool(nic.Body, "properties.primary")
		for _, ip := range body.Objects(nic.Body, "properties.ipConfigurations") {
			a := body.String(ip, "properties.privateIPAddress")
			if primary && body.Bool(ip, "properties.primary") {
				out = slices.Insert(out, 0, a)
			} else {
				out = append(out, a)
			}
		}
	}
	return out
}
