package compute

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// echoed lists the properties that a disk shows while it is being created, besides those that were sent.
var echoed = []string{"id", "name", "type"}

func diskType() *provider.Type {
	return &provider.Type{
		Name: Disks, Style: provider.Disk, EdgeZones: true, AcceptedStatus: 202, RetryAfter: 2, DeleteRetryAfter: -1, StateNew: "Updating",
		Echoes:    echoed,
		Create:    provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(1.5)},
		Delete:    provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(1)},
		PutMerges: true,
		Works:     true,
		Immutable: []string{"zones"},
		Since:     map[string]string{"properties.publicNetworkAccess": "2021-04-01"}, // recordings of 2020-09-30; SDK module armcompute
		ReadOnlyPaths: []string{"managedBy", "properties.uniqueId", "properties.timeCreated", "properties.diskState", "properties.diskSizeBytes",
			"properties.tier"},
		Prepare: prepareDisk, Patch: prepareDisk, PatchLRO: provider.Timing{LRO: provider.Seconds(1)},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if owner := body.String(it.Body, "managedBy"); owner != "" {
				return provider.Errorf(409, "OperationNotAllowed", "Disk %s is attached to VM %s.", it.Name, owner)
			}
			return nil
		},
		Actions: map[string]*provider.Action{
			"begingetaccess": {Timing: provider.Timing{LRO: provider.Seconds(1)},
				Finish: func(_ *provider.Call, op *store.Operation, r *store.Resource) error {
					op.Result = body.Object{"accessSAS": "https://md-simulated.blob.core.windows.net/" + r.Name()}
					return nil
				}},
			"endgetaccess": {Timing: provider.Timing{LRO: provider.Seconds(1)}},
		},
	}
}

func prepareDisk(c *provider.Call, d *provider.Draft) error {
	if body.String(d.New, "properties.creationData.createOption") == "" {
		return provider.MissingProperty("disk.creationData.createOption")
	}
	size := body.Int(d.New, "properties.diskSizeGB")
	if was := body.Int(d.Old, "properties.diskSizeGB"); was > size && size > 0 {
		return provider.Errorf(409, "OperationNotAllowed", "Shrinking disk from %d GiB to %d GiB is not allowed.", was, size)
	}
	if size == 0 && body.String(d.New, "properties.creationData.createOption") == "Empty" {
		return provider.MissingProperty("disk.diskSizeGB")
	}
	if err := checkDisk(c, d); err != nil {
		return err
	}
	diskDefaults(c, d.New, d.Old)
	return nil
}

// checkDisk checks the placement, source and encryption key of a disk.
func checkDisk(c *provider.Call, d *provider.Draft) error {
	if err := checkSingleZone(d, "disks"); err != nil {
		return err
	}
	if err := checkZoneNames(d.ID, d.Location, body.Strings(d.New, "zones")); err != nil {
		return err
	}
	if d.Old == nil {
		if id := body.String(d.New, "properties.creationData.sourceResourceId"); id != "" && c.FindItem(id) == nil {
			return notHere(id)
		}
		for _, k := range []string{"imageReference", "galleryImageReference"} {
			if ref := body.Child(d.New, "properties.creationData."+k); body.String(ref, "id") != "" &&
				!strings.Contains(strings.ToLower(body.String(ref, "id")), "/publishers/") {
				if _, err := findImage(c, ref, d.Location); err != nil {
					return err
				}
			}
		}
	}
	if access := c.FindItem(body.String(d.New, "properties.diskAccessId")); access != nil &&
		body.String(access.Body, "properties.provisioningState") != store.Succeeded {
		// Also of one that is still being created: recording Test_Compute_DiskAccess_20240302_CRUD.
		return provider.Errorf(http.StatusBadRequest, "Conflict",
			"DiskAccess resource '%s' is in failed state. Please try recreating the DiskAccess resource and retry the operation.", access.ID)
	}
	const path = "properties.encryption.diskEncryptionSetId"
	if id := body.String(d.New, path); id != "" && isReplaced(d, path) {
		if _, err := findReferred(c, id, EncryptionSets, "encryption.diskEncryptionSet", d.Location); err != nil {
			return err
		}
	}
	return nil
}

func diskDefaults(c *provider.Call, n, old body.Object) {
	p := "properties."
	body.Default(n, "sku.name", "Standard_LRS")
	name := body.String(n, "sku.name")
	tier, _, _ := strings.Cut(name, "_")
	body.Set(n, "sku.tier", strings.TrimSuffix(tier, "SSD"))
	for path, fresh := range map[string]func() string{p + "uniqueId": c.NewGUID,
		p + "timeCreated": func() string { return c.Now().Format("2006-01-02T15:04:05.0000000+00:00") }} {
		if v := body.String(old, path); v != "" {
			body.Set(n, path, v)
		} else {
			body.Set(n, path, fresh())
		}
	}
	size := body.Int(n, p+"diskSizeGB")
	body.Set(n, p+"diskSizeBytes", float64(size)*1024*1024*1024)
	operations, megabytes := diskLimits(tier, name, size)
	for key, most := range map[string]int{"diskIOPSReadWrite": operations, "diskMBpsReadWrite": megabytes} {
		if body.Default(n, p+key, most); tier != "UltraSSD" && tier != "PremiumV2" {
			body.Set(n, p+key, most) // it grows with the disk
		}
	}
	if body.Delete(n, p+"tier"); tier == "Premium" {
		body.Set(n, p+"tier", premiumTier(size).name)
	}
	body.Default(n, p+"encryption", body.Object{"type": "EncryptionAtRestWithPlatformKey"})
	body.Default(n, p+"networkAccessPolicy", "AllowAll")
	body.Default(n, p+"publicNetworkAccess", "Enabled")
	body.Default(n, p+"diskState", "Unattached")
	if m := body.String(old, "managedBy"); m != "" {
		n["managedBy"] = m
		body.Set(n, p+"diskState", "Attached")
	}
}

// imageSizeGB is the size of every image.
const imageSizeGB = 30

// premiumTiers are the performance tiers of premium disks: the largest size in GiB, and the limits in operations and
// megabytes per second.
//
// Source: https://learn.microsoft.com/azure/virtual-machines/disks-scalability-targets
var premiumTiers = []performance{
	{4, "P1", 120, 25}, {8, "P2", 120, 25}, {16, "P3", 120, 25}, {32, "P4", 120, 25}, {64, "P6", 240, 50}, {128, "P10", 500, 100},
	{256, "P15", 1100, 125},
	{512, "P20", 2300, 150}, {1024, "P30", 5000, 200}, {2048, "P40", 7500, 250}, {4096, "P50", 7500, 250}, {8192, "P60", 16000, 500},
	{16384, "P70", 18000, 750},
	{math.MaxInt, "P80", 20000, 900},
}

type performance struct {
	upTo                  int
	name                  string
	operations, megabytes int
}

func premiumTier(gib int) performance {
	return premiumTiers[slices.IndexFunc(premiumTiers, func(t performance) bool { return gib <= t.upTo })]
}

// diskLimits returns the limits of a disk in operations and megabytes per second. Owners choose those of ultra disks
// and Premium SSD v2; these are their defaults. Source as of premiumTiers.
func diskLimits(tier, sku string, gib int) (operations, megabytes int) {
	switch {
	case tier == "Premium":
		t := premiumTier(gib)
		return t.operations, t.megabytes
	case strings.HasPrefix(sku, "Standard_") && gib > 8192:
		return 2000, 500
	case strings.HasPrefix(sku, "Standard_") && gib > 4096:
		return 1300, 300
	case strings.HasPrefix(sku, "Standard_"):
		return 500, 60
	}
	return 500, 100
}

// makeDisks creates the disks a VM's definition asks for and attaches those it names.
func makeDisks(c *provider.Call, vm *store.Resource) {
	sp := "properties.storageProfile."
	id, _ := store.ParseID(vm.ID)
	place := func(def body.Object, size int, create body.Object) {
		if def == nil {
			return
		}
		diskID := body.String(def, "managedDisk.id")
		if diskID == "" {
			diskID = id.Scope + "/providers/" + Disks + "/" + body.String(def, "name")
		}
		d := c.Edit(diskID)
		if d == nil {
			if n := body.Int(def, "diskSizeGB"); n > 0 {
				size = n
			}
			b := body.Object{"location": vm.Location,
				"properties": body.Object{"creationData": create, "diskSizeGB": float64(size), "provisioningState": store.Succeeded},
				"sku":        body.Object{"name": body.String(def, "managedDisk.storageAccountType")}}
			for _, set := range []string{"managedDisk.diskEncryptionSet.id", "managedDisk.securityProfile.diskEncryptionSet.id"} {
				if id := body.String(def, set); id != "" {
					body.Set(b, "properties.encryption", body.Object{"type": encryptionOf(c, id), "diskEncryptionSetId": id})
				}
			}
			for _, k := range []string{"zones", "tags", "extendedLocation"} {
				if v, ok := vm.Body[k]; ok && v != nil {
					b[k] = v
				}
			}
			if os := body.String(def, "osType"); os != "" {
				body.Set(b, "properties.osType", os)
				body.Set(b, "properties.hyperVGeneration", "V2")
			}
			diskDefaults(c, b, nil)
			d = &store.Resource{ID: diskID, Type: Disks, Location: vm.Location, Body: body.Clone(b)}
		}
		if n := body.Int(def, "diskSizeGB"); n > body.Int(d.Body, "properties.diskSizeGB") {
			body.Set(d.Body, "properties.diskSizeGB", float64(n))
			diskDefaults(c, d.Body, d.Body)
		}
		d.Body["managedBy"] = vm.ID
		body.Set(d.Body, "properties.diskState", "Attached")
		c.SaveResource(d)
		body.Set(def, "managedDisk.id", d.ID)
		body.Set(def, "diskSizeGB", body.Int(d.Body, "properties.diskSizeGB"))
	}
	if !strings.EqualFold(vm.Type, ScaleSetVMs) || body.String(vm.Body, sp+"osDisk.diffDiskSettings.option") == "" {
		place(body.Child(vm.Body, sp+"osDisk"), imageSizeGB,
			body.Object{"createOption": "FromImage", "imageReference": body.Object{"id": imageID(c, vm)}})
	}
	kept := map[string]bool{}
	for _, def := range body.Objects(vm.Body, sp+"dataDisks") {
		place(def, 32, body.Object{"createOption": "Empty"})
		kept[store.Key(body.String(def, "managedDisk.id"))] = true
	}
	kept[store.Key(body.String(vm.Body, sp+"osDisk.managedDisk.id"))] = true
	if body.String(vm.Secret, "power") == "" {
		return // a new VM has nothing to detach
	}
	for _, r := range c.List(Disks, "/subscriptions/"+id.Subscription) {
		if store.SameID(body.String(r.Body, "managedBy"), vm.ID) && !kept[store.Key(r.ID)] {
			releaseDisk(c, r.ID, false) // taken out of the definition: detached
		}
	}
}

// encryptionOf returns the type that a disk encryption set gives to the disks that use it.
func encryptionOf(c *provider.Call, setID string) string {
	if set := c.Get(setID); set != nil && body.String(set.Body, "properties.encryptionType") != confidentialKey {
		return body.String(set.Body, "properties.encryptionType")
	}
	return "EncryptionAtRestWithPlatformKey" // that of a confidential VM is in the disk's security profile
}

func imageID(c *provider.Call, vm *store.Resource) string {
	img := body.Child(vm.Body, "properties.storageProfile.imageReference")
	for _, k := range []string{"id", "communityGalleryImageId", "sharedGalleryImageId"} {
		if id := body.String(img, k); id != "" {
			return id
		}
	}
	id, _ := store.ParseID(vm.ID)
	return "/Subscriptions/" + id.Subscription + "/Providers/Microsoft.Compute/Locations/" + vm.Location + "/Publishers/" + body.String(img,
		"publisher") + "/ArtifactTypes/VMImage/Offers/" + body.String(img, "offer") +
		"/Skus/" + body.String(img, "sku") + "/Versions/" + body.String(img, "exactVersion")
}

// releaseDisk detaches a disk, or removes it.
func releaseDisk(c *provider.Call, id string, remove bool) {
	if id == "" {
		return
	}
	if remove {
		c.EraseTree(id)
		return
	}
	if d := c.Edit(id); d != nil {
		delete(d.Body, "managedBy")
		body.Set(d.Body, "properties.diskState", "Unattached")
		c.SaveResource(d)
	}
}

func availabilitySetType() *provider.Type {
	return &provider.Type{
		Name: AvailabilitySets, Style: provider.Sync, NoState: false, AcceptedStatus: 200,
		Create: provider.Timing{HTTP: 2800 * time.Millisecond}, Delete: provider.Timing{HTTP: 800 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.virtualMachines", "properties.statuses"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			body.Default(d.New, "sku.name", "Classic")
			body.Default(d.New, "properties.platformUpdateDomainCount", 5)
			body.Default(d.New, "properties.platformFaultDomainCount", 3)
			if n := body.Int(d.New, "properties.platformFaultDomainCount"); n < 1 || n > 3 {
				return provider.InvalidParameter("platformFaultDomainCount", "The specified fault domain count %d must fall in the range 1 to 3.", n)
			}
			for _, k := range []string{"properties.platformFaultDomainCount", "properties.platformUpdateDomainCount"} {
				if d.Old != nil && body.Int(d.Old, k) != body.Int(d.New, k) {
					return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.",
						strings.TrimPrefix(k, "properties.")).WithTarget(strings.TrimPrefix(k, "properties."))
				}
			}
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			if vms := vmsOf(c, it.ID, "availabilitySet"); len(vms) > 0 || c.Method != http.MethodPut {
				// Answers to PUTs of empty ones have no list, those to GETs do: recording Test_Compute_AvailabilitySet_v20241101_CRUD.
				body.Set(it.Body, "properties.virtualMachines", vms)
			}
			body.Delete(it.Body, "properties.provisioningState")
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if vms := vmsOf(c, it.ID, "availabilitySet"); len(vms) > 0 {
				return provider.Errorf(409, "OperationNotAllowed",
					"Availability Set '%s' cannot be deleted. Before deleting an Availability Set please ensure that it does not contain any VM.", it.Name)
			}
			return nil
		},
	}
}

func vmsOf(c *provider.Call, id, field string) []any {
	out := []any{}
	for _, ref := range c.Referrers(id) {
		if r := c.Get(ref.From); ref.Field == field && r != nil && strings.EqualFold(r.Type, VirtualMachines) {
			out = append(out, body.Object{"id": r.ID})
		}
	}
	return out
}

func placementGroupType() *provider.Type {
	return &provider.Type{
		Name: PlacementGroups, Style: provider.Sync,
		Create: provider.Timing{HTTP: provider.Seconds(1)}, Delete: provider.Timing{HTTP: provider.Seconds(1)},
		ReadOnlyPaths: []string{"properties.virtualMachines", "properties.virtualMachineScaleSets", "properties.availabilitySets"},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			body.Default(d.New, "properties.proximityPlacementGroupType", "Standard")
			return nil
		},
		View: func(c *provider.Call, it *provider.Item) {
			lists := map[string][]any{"virtualMachines": {}, "availabilitySets": {}, "virtualMachineScaleSets": {}}
			for _, ref := range c.Referrers(it.ID) {
				if id, err := store.ParseID(ref.From); err == nil && ref.Field == "proximityPlacementGroup" && len(id.Types) == 1 {
					lists[id.Types[0]] = append(lists[id.Types[0]], body.Object{"id": ref.From})
				}
			}
			for k, v := range lists {
				body.Set(it.Body, "properties."+k, v)
			}
			body.Delete(it.Body, "properties.provisioningState")
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if refs := c.Referrers(it.ID); len(refs) > 0 {
				return provider.Errorf(409, "OperationNotAllowed", "Proximity Placement Group '%s' cannot be deleted because it is in use by %s.",
					it.Name, refs[0].From)
			}
			return nil
		},
	}
}
