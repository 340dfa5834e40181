package compute

import (
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func virtualMachineType() *provider.Type {
	return &provider.Type{
		Name: VirtualMachines, Style: provider.Compute, Etag: provider.Counter, EtagSince: etagSince, EdgeZones: true, PutMerges: true,
		RetryAfter: 10, UpdateRetryAfter: -1,
		Create: provider.Timing{HTTP: 3500 * time.Millisecond, LRO: provider.Seconds(36)},
		Update: provider.Timing{HTTP: 1500 * time.Millisecond, LRO: provider.Seconds(11)},
		Delete: provider.Timing{HTTP: 600 * time.Millisecond, LRO: provider.Seconds(27), Spread: 0.2},
		Read:   provider.Timing{HTTP: 420 * time.Millisecond},
		ReadOnlyPaths: []string{"resources", "properties.vmId", "properties.instanceView", "properties.timeCreated",
			"properties.storageProfile.imageReference.exactVersion", "properties.virtualMachineScaleSet.instanceView"},
		Since: machineSince, NameRule: vmName, Prepare: prepareVM, Finish: finishVM, View: viewVM, StartDelete: leaveFlexible,
		Deleted: vmDeleted,
		Patch:   patchVM, PatchLRO: provider.Timing{LRO: provider.Seconds(8)},
		Actions: vmActions(),
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"instanceview": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(InstanceView(c, it.Resource)), nil
			},
			"vmsizes": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return vmSizes(c, it.Location, nil)
			},
		},
		ListFilter: isInSet, CheckFilter: checkSetFilter,
	}
}

// machineSince is from the pages of the REST API, "Minimum api-version", and from recordings of 2020-12-01 and 2022-03-01.
var machineSince = map[string]string{
	"properties.timeCreated": "2021-11-01", "properties.storageProfile.diskControllerType": "2022-08-01",
	"properties.storageProfile.osDisk.deleteOption":                        "2021-03-01",
	"properties.storageProfile.dataDisks[].deleteOption":                   "2021-03-01",
	"properties.osProfile.linuxConfiguration.patchSettings.assessmentMode": "2021-03-01",
}

var vmNameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$`)

func vmName(name string) *provider.Error {
	if vmNameForm.MatchString(name) {
		return nil
	}
	return provider.Errorf(400, "InvalidParameter",
		"The Virtual Machine name is invalid: '%s'. It can have letters, digits, '.', '_' and '-', must begin with a letter or digit, and be at most 64 characters long.", name).WithTarget("vmName")
}

// changeNotAllowed refuses another value for a property that has one. path is below properties; Azure's targets leave "properties" out.
func changeNotAllowed(d *provider.Draft, path string) error {
	was, is := body.Get(d.Old, "properties."+path), body.Get(d.New, "properties."+path)
	if d.Old == nil || was == nil || body.Equal(was, is) {
		return nil
	}
	if a, ok := was.(string); ok {
		if b, ok := is.(string); ok && strings.EqualFold(a, b) {
			body.Set(d.New, "properties."+path, a)
			return nil
		}
	}
	return propertyChange(path)
}

func propertyChange(path string) error {
	return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", path).WithTarget(path)
}

// addingNotAllowed refuses a value for a property that a machine was created without. Other properties can be added later, such as a
// proximity placement group: https://learn.microsoft.com/azure/virtual-machines/linux/proximity-placement-groups
func addingNotAllowed(d *provider.Draft) error {
	if d.Old == nil {
		return nil
	}
	if len(body.Strings(d.Old, "zones")) == 0 && len(body.Strings(d.New, "zones")) > 0 {
		return propertyChange("zones")
	}
	for _, path := range []string{"availabilitySet.id", "priority"} {
		is := body.String(d.New, "properties."+path)
		if body.String(d.Old, "properties."+path) == "" && is != "" && !strings.EqualFold(is, "Regular") {
			return propertyChange(path)
		}
	}
	return nil
}

func prepareVM(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	for _, path := range []string{"osProfile.computerName", "osProfile.adminUsername", "storageProfile.osDisk.name",
		"storageProfile.osDisk.createOption", "storageProfile.osDisk.osType", "storageProfile.imageReference.id",
		"storageProfile.imageReference.publisher",
		"storageProfile.imageReference.offer", "storageProfile.imageReference.sku", "storageProfile.imageReference.version",
		"storageProfile.imageReference.communityGalleryImageId", "storageProfile.imageReference.sharedGalleryImageId",
		"availabilitySet.id", "proximityPlacementGroup.id", "priority", "virtualMachineScaleSet.id"} {
		if err := changeNotAllowed(d, path); err != nil {
			return err
		}
	}
	if d.Old != nil && body.Get(d.Old, "zones") != nil && !body.Equal(d.Old["zones"], d.New["zones"]) {
		return propertyChange("zones")
	}
	if err := addingNotAllowed(d); err != nil {
		return err
	}
	if err := checkSingleZone(d, "virtualMachines"); err != nil {
		return err
	}
	size := body.String(d.New, p+"hardwareProfile.vmSize")
	if size == "" {
		return provider.MissingProperty("vmSize")
	}
	spot := strings.EqualFold(body.String(d.New, p+"priority"), "Spot")
	add := 1
	if d.Old != nil && strings.EqualFold(body.String(d.Old, p+"hardwareProfile.vmSize"), size) {
		add = 0
	}
	z, err := CheckSize(c, d.ID, size, d.Location, body.Strings(d.New, "zones"), add, spot)
	if err != nil {
		return err
	}
	body.Set(d.New, p+"hardwareProfile.vmSize", z.Name)
	if len(body.Strings(d.New, "zones")) > 0 && body.String(d.New, p+"availabilitySet.id") != "" {
		return provider.Errorf(400, "BadRequest",
			"Virtual Machine cannot be created in an availability zone and in an availability set at the same time.")
	}
	if spot {
		body.Default(d.New, p+"evictionPolicy", "Deallocate")
		body.Default(d.New, p+"billingProfile", body.Object{"maxPrice": -1.0})
	}
	for _, check := range []func(*provider.Call, *provider.Draft, Size) error{checkFeatures, prepareStorage, prepareOSProfile,
		prepareNetworkProfile, checkPlacement, checkFlexible, checkReservation} {
		if err := check(c, d, z); err != nil {
			return err
		}
	}
	d.Keep(p+"vmId", c.NewGUID)
	d.Keep(p+"timeCreated", func() string { return c.Now().Format("2006-01-02T15:04:05.0000000+00:00") })
	return nil
}

func patchVM(c *provider.Call, d *provider.Draft) error { return prepareVM(c, d) }

// finishVM lets the hardware appear: disks are made and the VM runs.
func finishVM(c *provider.Call, op *store.Operation, r *store.Resource) error {
	if r.Secret == nil {
		r.Secret = body.Object{}
	}
	makeDisks(c, r)
	if body.String(r.Secret, "power") == "" {
		r.Secret["power"], r.Secret["bootID"] = "running", c.NewGUID()
		r.Secret["provisioned"] = c.Now().Format(time.RFC3339Nano)
	}
	return nil
}

// vmDeleted deletes the resources with deleteOption Delete and detaches the others.
func vmDeleted(c *provider.Call, r *store.Resource) {
	if body.Bool(r.Secret, madeBySet) && !body.Bool(r.Secret, "left") {
		lowerCapacity(c, r)
	}
	never := body.String(r.Secret, "power") == ""
	for _, ref := range body.Objects(r.Body, "properties.networkProfile.networkInterfaces") {
		nic := c.Get(body.String(ref, "id"))
		if nic == nil {
			continue
		}
		if strings.EqualFold(body.String(ref, "properties.deleteOption"), "Delete") {
			c.EraseTree(nic.ID)
			for _, cfg := range body.Objects(nic.Body, "properties.ipConfigurations") {
				if strings.EqualFold(body.String(cfg, "properties.publicIPAddress.properties.deleteOption"), "Delete") {
					c.EraseTree(body.String(cfg, "properties.publicIPAddress.id"))
				}
			}
		} else if never {
			c.SetMeta(network.ReservationKey(nic.ID), network.Reservation{VM: r.ID, Until: c.Now().Add(c.ScaleDuration(180 * time.Second))})
		} else {
			c.SetMeta(network.HardwareKey(nic.ID), true)
		}
	}
	disks := append([]body.Object{body.Child(r.Body, "properties.storageProfile.osDisk")},
		body.Objects(r.Body, "properties.storageProfile.dataDisks")...)
	for _, disk := range disks {
		releaseDisk(c, body.String(disk, "managedDisk.id"), strings.EqualFold(body.String(disk, "deleteOption"), "Delete"))
	}
	c.SetMeta(GuestKey(body.String(r.Body, "properties.vmId")), nil)
}
