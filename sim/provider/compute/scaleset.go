package compute

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types of scale sets. Instances are ScaleSetVMs with uniform orchestration, and VirtualMachines with flexible one.
const (
	ScaleSets          = "Microsoft.Compute/virtualMachineScaleSets"
	ScaleSetExtensions = ScaleSets + "/extensions"
	ScaleSetInterfaces = ScaleSetVMs + "/networkInterfaces"
)

const profilePath = "properties.virtualMachineProfile"

// scaleSetTypes returns the scale set, the types that Azure keeps inside it, and its instances with their interfaces.
func scaleSetTypes() []*provider.Type {
	set := &provider.Type{
		Name: ScaleSets, Style: provider.Compute, Etag: provider.Counter, EtagSince: etagSince, EdgeZones: true, PutMerges: true, Works: true,
		RetryAfter: 10,
		Create:     provider.Timing{HTTP: 2500 * time.Millisecond, LRO: provider.Seconds(8)},
		Update:     provider.Timing{HTTP: 1500 * time.Millisecond, LRO: provider.Seconds(6)},
		Delete:     provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(25)}, Read: provider.Timing{HTTP: 250 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.uniqueId", "properties.timeCreated", profilePath + ".timeCreated"},
		// The pages of the REST API, "Minimum api-version", the changelog of the SDK module armcompute, and recordings of 2020-12-01 and 2022-03-01.
		Since: map[string]string{
			"properties.timeCreated": "2021-11-01", profilePath + ".timeCreated": "2023-09-01",
			profilePath + ".storageProfile.diskControllerType":                         "2022-08-01",
			profilePath + ".osProfile.linuxConfiguration.enableVMAgentPlatformUpdates": "2021-11-01",
			profilePath + ".osProfile.linuxConfiguration.patchSettings.assessmentMode": "2021-03-01",
			profilePath + ".storageProfile.dataDisks[].deleteOption":                   "2021-03-01",
		},
		NameRule: scaleSetName, Prepare: prepareScaleSet, Finish: finishScaleSet,
		Patch: prepareScaleSet, PatchLRO: provider.Timing{LRO: provider.Seconds(6)},
		Deleted: flexibleDeleted, View: viewScaleSet,
		Actions: scaleSetActions(),
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"instanceview": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(scaleSetView(c, it.Resource)), nil
			},
			"skus": func(_ *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(scaleSetSKUs(it)), nil
			},
			"networkinterfaces": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				out := []any{}
				for _, r := range c.List(ScaleSetInterfaces, it.ID) {
					out = append(out, c.RenderResource(r))
				}
				return provider.OK(out), nil
			},
			"publicipaddresses": publicIPAddresses,
			"osupgradehistory":  func(*provider.Call, *provider.Item) (*provider.Reply, error) { return provider.OK([]any{}), nil },
		},
	}
	extension := &provider.Type{
		Name: ScaleSetExtensions, Style: provider.Compute, Untracked: true, NoState: true, RetryAfter: 10,
		Inline: profilePath + ".extensionProfile.extensions", KeepOmitted: func(string) bool { return true },
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(10)},
		Delete: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(10)}, Read: provider.Timing{HTTP: 250 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.provisioningState"},
		Prepare:       prepareScaleSetExtension,
	}
	own := func(id store.ID) []string { return []string{id.String()} }
	instance := &provider.Type{
		Name: ScaleSetVMs, Style: provider.Compute, Etag: provider.Counter, EtagSince: etagSince, PutMerges: true, Serial: own,
		Create: provider.Timing{HTTP: 1500 * time.Millisecond, LRO: provider.Seconds(8)},
		Delete: provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(30)}, Read: provider.Timing{HTTP: 250 * time.Millisecond},
		Prepare: prepareInstance, Finish: finishInstance, View: viewInstance, StartDelete: leaveScaleSet, Deleted: instanceDeleted,
		Actions: instanceActions(), ListMore: flexibleInstances, Missing: missingInstance,
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"instanceview": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(instanceViewOf(c, it.Resource)), nil
			},
		},
	}
	nic := &provider.Type{
		Name: ScaleSetInterfaces, Style: provider.Network, Etag: provider.Weak, Untracked: true, ReadOnly: true, View: viewInstanceInterface,
	}
	cfg := &provider.Type{
		Name: ScaleSetInterfaces + "/ipConfigurations", Style: provider.Network, Etag: provider.Weak, Untracked: true,
		Inline: "properties.ipConfigurations", ReadOnly: true,
	}
	return []*provider.Type{set, extension, instance, nic, cfg, scaleSetPublicIPType()}
}

// missingInstance returns the answer for an instance that does not exist. Those of uniform scale sets have numbers.
func missingInstance(c *provider.Call) *provider.Error {
	set := c.Get(c.ID.Parent().String())
	flexible := set != nil && strings.EqualFold(body.String(set.Body, "properties.orchestrationMode"), "Flexible")
	if _, err := strconv.Atoi(c.ID.Name()); err != nil && !flexible {
		return provider.InvalidParameter("instanceId", "Virtual Machine Scale Set VM instanceId must be a number.")
	}
	return provider.Errorf(404, "NotFound", "The entity was not found in this Azure location.")
}

// ListInstances lists the instances of a scale set by their number. Those on their way out are included.
func ListInstances(c *provider.Call, id store.ID) []*store.Resource {
	return instancesOf(c, id.String())
}

func instancesOf(c *provider.Call, setID string) []*store.Resource {
	list := c.List(ScaleSetVMs, setID)
	for _, ref := range c.Referrers(setID) {
		if r := c.Get(ref.From); r != nil && ref.Field == "virtualMachineScaleSet" && body.Bool(r.Secret, madeBySet) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, compareAge)
	return list
}

// compareAge sorts instances by their number, and those that have none by when they were made.
func compareAge(a, b *store.Resource) int {
	return cmp.Or(cmp.Compare(numberOf(a), numberOf(b)),
		cmp.Compare(body.String(a.Body, "properties.timeCreated"), body.String(b.Body, "properties.timeCreated")), cmp.Compare(a.ID, b.ID))
}

// editInstance returns the editable copy of an instance by its name in POSTs: its number, or the name of its machine.
func editInstance(c *provider.Call, set *store.Resource, name string) *store.Resource {
	if r := c.Edit(set.ID + "/virtualMachines/" + name); r != nil {
		return r
	}
	for _, r := range instancesOf(c, set.ID) {
		if strings.EqualFold(r.Name(), name) {
			return c.Edit(r.ID)
		}
	}
	return nil
}

// setOf returns the ID of the scale set that made an instance.
func setOf(r *store.Resource) string {
	if id := body.String(r.Body, "properties.virtualMachineScaleSet.id"); id != "" {
		return id
	}
	id, _ := store.ParseID(r.ID)
	return id.Parent().String()
}

// HasGuest reports whether a user's operating system runs in a VM or scale-set instance. Instances of a scale set
// that a provider runs for a service of its own have none: the service is responsible for their contents.
func HasGuest(r *store.Resource) bool {
	return body.String(r.Secret, "power") != "" && !body.Bool(r.Secret, "managed")
}

func numberOf(r *store.Resource) int {
	n, _ := strconv.Atoi(r.Name())
	return n
}

func isLeaving(r *store.Resource) bool {
	return body.String(r.Body, "properties.provisioningState") == "Deleting"
}

// leaveScaleSet lowers the capacity as soon as the deletion of an instance is accepted.
func leaveScaleSet(c *provider.Call, r *store.Resource) {
	n := c.Edit(r.ID)
	if n.Secret == nil {
		n.Secret = body.Object{}
	}
	if body.Bool(n.Secret, "left") {
		return
	}
	n.Secret["left"] = true
	c.SaveResource(n)
	lowerCapacity(c, r)
}

func lowerCapacity(c *provider.Call, instance *store.Resource) {
	if set := c.Edit(setOf(instance)); set != nil {
		body.Set(set.Body, "sku.capacity", max(0, body.Int(set.Body, "sku.capacity")-1))
		c.SaveResource(set)
	}
}

// instanceDeleted cleans up after an instance has been deleted in any way.
func instanceDeleted(c *provider.Call, r *store.Resource) {
	if !body.Bool(r.Secret, "left") {
		lowerCapacity(c, r)
	}
	for _, disk := range append([]body.Object{body.Child(r.Body, "properties.storageProfile.osDisk")},
		body.Objects(r.Body, "properties.storageProfile.dataDisks")...) {
		releaseDisk(c, body.String(disk, "managedDisk.id"), !strings.EqualFold(body.String(disk, "deleteOption"), "Detach"))
	}
	c.SetMeta(GuestKey(body.String(r.Body, "properties.vmId")), nil)
}

func scaleSetView(c *provider.Call, set *store.Resource) body.Object {
	at := set.Changed.Format("2006-01-02T15:04:05.0000000+00:00")
	state := strings.ToLower(body.String(set.Body, "properties.provisioningState"))
	counts, order := map[string]int{}, []string{}
	for _, r := range instancesOf(c, set.ID) {
		view := InstanceView(c, r)
		for _, s := range body.Objects(view, "statuses") {
			code := body.String(s, "code")
			if counts[code]++; counts[code] == 1 {
				order = append(order, code)
			}
		}
	}
	summary := []any{}
	for _, code := range order {
		summary = append(summary, body.Object{"code": code, "count": counts[code]})
	}
	return body.Object{"virtualMachine": body.Object{"statusesSummary": summary}, "orchestrationServices": []any{},
		"statuses": []any{body.Object{"code": "ProvisioningState/" + state, "level": "Info", "displayStatus": "Provisioning " + state,
			"time": at}}}
}
