package compute

import (
	"encoding/base64"
	"fmt"
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
		Name: VirtualMachines, Style: provider.Compute, Etag: provider.Counter, PutMerges: true, RetryAfter: 10, UpdateRetryAfter: -1,
		Create: provider.Timing{HTTP: ms(3500), LRO: sec(36)}, Update: provider.Timing{HTTP: ms(1500), LRO: sec(11)}, Delete: provider.Timing{HTTP: ms(600), LRO: sec(27), Spread: 0.2}, Read: provider.Timing{HTTP: ms(420)},
		ReadOnlyPaths: []string{"resources", "properties.vmId", "properties.instanceView", "properties.timeCreated", "properties.storageProfile.imageReference.exactVersion", "properties.virtualMachineScaleSet.instanceView"},
		NameRule:      vmName, Prepare: prepareVM, Finish: finishVM, View: viewVM, StartDelete: leaveFlexible, Deleted: vmDeleted,
		Patch: patchVM, PatchLRO: provider.Timing{LRO: sec(8)},
		Actions: vmActions(),
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"instanceview": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return provider.OK(InstanceView(c, it.Resource)), nil
			},
			"vmsizes": func(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
				return vmSizes(c, it.Location, nil)
			},
		},
		ListFilter: func(c *provider.Call, r *store.Resource) bool {
			// cloud-provider-azure lists the instances of a flexible scale set this way.
			_, rest, ok := strings.Cut(c.Query.Get("$filter"), "virtualMachineScaleSet/id' eq '")
			if !ok {
				return true
			}
			id, _, _ := strings.Cut(rest, "'")
			return store.Same(body.String(r.Body, "properties.virtualMachineScaleSet.id"), id)
		},
	}
}

var vmNameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$`)

func vmName(name string) *provider.Error {
	if vmNameForm.MatchString(name) {
		return nil
	}
	return provider.Errorf(400, "InvalidParameter", "The Virtual Machine name is invalid: '%s'. It can have letters, digits, '.', '_' and '-', must begin with a letter or digit, and be at most 64 characters long.", name).WithTarget("vmName")
}

// p is a path below properties; Azure's targets leave "properties" out.
func changed(d *provider.Draft, path string) error {
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
	return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", path).WithTarget(path)
}

func prepareVM(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	for _, path := range []string{"osProfile.computerName", "osProfile.adminUsername", "storageProfile.osDisk.name", "storageProfile.osDisk.createOption", "storageProfile.osDisk.osType", "storageProfile.imageReference.id", "storageProfile.imageReference.publisher",
		"storageProfile.imageReference.offer", "storageProfile.imageReference.sku", "storageProfile.imageReference.version", "storageProfile.imageReference.communityGalleryImageId", "storageProfile.imageReference.sharedGalleryImageId",
		"availabilitySet.id", "proximityPlacementGroup.id", "priority", "virtualMachineScaleSet.id"} {
		if err := changed(d, path); err != nil {
			return err
		}
	}
	if d.Old != nil && body.Get(d.Old, "zones") != nil && !body.Equal(d.Old["zones"], d.New["zones"]) {
		return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property 'zones' is not allowed.").WithTarget("zones")
	}
	size := body.String(d.New, p+"hardwareProfile.vmSize")
	if size == "" {
		return provider.Missing("vmSize")
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
		return provider.Errorf(400, "BadRequest", "Virtual Machine cannot be created in an availability zone and in an availability set at the same time.")
	}
	if spot {
		body.Default(d.New, p+"evictionPolicy", "Deallocate")
		body.Default(d.New, p+"billingProfile", body.Object{"maxPrice": -1.0})
	}
	for _, check := range []func(*provider.Call, *provider.Draft, Size) error{checkFeatures, prepareStorage, prepareOSProfile, prepareNetworkProfile, checkPlacement} {
		if err := check(c, d, z); err != nil {
			return err
		}
	}
	keep(d, p+"vmId", c.GUID)
	keep(d, p+"timeCreated", func() string { return c.Now().Format("2006-01-02T15:04:05.0000000+00:00") })
	return nil
}

// checkFeatures refuses what the size cannot do.
func checkFeatures(_ *provider.Call, d *provider.Draft, z Size) error {
	p := "properties."
	if body.Bool(d.New, p+"securityProfile.encryptionAtHost") && !z.HostEncrypt {
		return provider.InvalidParameter("securityProfile.encryptionAtHost", "The VM size '%s' does not support encryption at host.", z.Name)
	}
	switch kind := body.String(d.New, p+"securityProfile.securityType"); {
	case strings.EqualFold(kind, "ConfidentialVM") && z.Confidential == "":
		return provider.Errorf(400, "BadRequest", "The VM size '%s' is not supported for creation of VMs with 'ConfidentialVM' security type.", z.Name)
	case strings.EqualFold(kind, "TrustedLaunch") && z.NoTrusted:
		return provider.Errorf(400, "BadRequest", "The VM size '%s' is not supported for creation of VMs with 'TrustedLaunch' security type.", z.Name)
	case kind == "" && body.Child(d.New, p+"securityProfile.uefiSettings") != nil:
		return provider.Errorf(400, "BadRequest", "Use of 'UefiSettings' is not supported when 'securityType' is not set.")
	}
	if body.String(d.New, p+"storageProfile.osDisk.diffDiskSettings.option") != "" && !z.Ephemeral {
		return provider.InvalidParameter("osDisk.diffDiskSettings", "OS disk of Ephemeral VM is not supported for VM size %s.", z.Name)
	}
	for _, disk := range body.Objects(d.New, p+"storageProfile.dataDisks") {
		kind := body.String(disk, "managedDisk.storageAccountType")
		if kind == "UltraSSD_LRS" && !body.Bool(d.New, p+"additionalCapabilities.ultraSSDEnabled") {
			return provider.InvalidParameter("managedDisk.storageAccountType", "StorageAccountType UltraSSD_LRS can be used only when additionalCapabilities.ultraSSDEnabled is set.")
		}
		if strings.HasPrefix(kind, "Premium") && !z.Premium {
			return provider.InvalidParameter("managedDisk.storageAccountType", "Requested operation cannot be performed because the VM size %s does not support the storage account type %s of disk '%s'. Consider updating the VM to a size that supports Premium storage.", z.Name, kind, body.String(disk, "name"))
		}
	}
	if body.Bool(d.New, p+"additionalCapabilities.ultraSSDEnabled") && (!z.Ultra || len(body.Strings(d.New, "zones")) == 0) {
		return provider.InvalidParameter("additionalCapabilities.ultraSSDEnabled", "The VM size '%s' with zones %v does not support ultra disks.", z.Name, body.Strings(d.New, "zones"))
	}
	return nil
}

func prepareStorage(c *provider.Call, d *provider.Draft, z Size) error {
	sp := "properties.storageProfile."
	body.Default(d.New, sp+"osDisk.createOption", "FromImage")
	attach := strings.EqualFold(body.String(d.New, sp+"osDisk.createOption"), "Attach")
	img := body.Child(d.New, sp+"imageReference")
	switch {
	case attach:
		if body.String(d.New, sp+"osDisk.osType") == "" {
			return provider.Missing("osDisk.osType")
		}
	case img == nil:
		return provider.Missing("imageReference")
	case body.String(img, "id") == "" && body.String(img, "communityGalleryImageId") == "" && body.String(img, "sharedGalleryImageId") == "":
		for _, k := range []string{"publisher", "offer", "sku", "version"} {
			if body.String(img, k) == "" {
				return provider.InvalidParameter("imageReference."+k, "The value of parameter imageReference.%s is invalid.", k)
			}
		}
		exact := body.String(img, "version")
		if exact == "latest" {
			exact = "131.1.20250110"
		}
		img["exactVersion"] = exact
	}
	keep(d, sp+"osDisk.name", func() string {
		if n := body.String(d.New, sp+"osDisk.name"); n != "" {
			return n
		}
		return d.Name + "_OsDisk_1_" + strings.ReplaceAll(c.GUID(), "-", "")
	})
	if !attach {
		body.Default(d.New, sp+"osDisk.diskSizeGB", imageSizeGB)
	}
	body.Default(d.New, sp+"osDisk.caching", "ReadWrite")
	body.Default(d.New, sp+"osDisk.deleteOption", "Detach")
	account := "Standard_LRS"
	if z.Premium {
		account = "Premium_LRS"
	}
	body.Default(d.New, sp+"osDisk.managedDisk.storageAccountType", account)
	windows := body.Child(d.New, "properties.osProfile.windowsConfiguration") != nil
	if body.String(d.New, sp+"osDisk.osType") == "" {
		body.Set(d.New, sp+"osDisk.osType", map[bool]string{true: "Windows", false: "Linux"}[windows])
	}
	body.Default(d.New, sp+"dataDisks", []any{})
	body.Default(d.New, sp+"diskControllerType", "SCSI")
	luns := map[int]bool{}
	disks := body.Objects(d.New, sp+"dataDisks")
	if len(disks) > z.MaxDisks {
		return provider.Errorf(409, "OperationNotAllowed", "The maximum number of data disks allowed to be attached to a VM of this size is %d.", z.MaxDisks).WithTarget("dataDisks")
	}
	for i, disk := range disks {
		lun := body.Int(disk, "lun")
		if luns[lun] {
			return provider.InvalidParameter("dataDisks.lun", "A disk at LUN %d already exists.", lun)
		}
		luns[lun] = true
		for _, was := range body.Objects(d.Old, sp+"dataDisks") {
			// What the definition leaves out stays as it is, as long as it is the same disk.
			if name := body.String(disk, "name"); body.Int(was, "lun") == lun && (name == "" || strings.EqualFold(name, body.String(was, "name"))) {
				merged := body.Clone(was)
				body.Overlay(merged, disk)
				body.Overlay(disk, merged)
			}
		}
		body.Default(disk, "lun", 0)
		body.Default(disk, "createOption", "Empty")
		body.Default(disk, "caching", "None")
		body.Default(disk, "deleteOption", "Detach")
		if strings.EqualFold(body.String(disk, "createOption"), "Attach") {
			id := body.String(disk, "managedDisk.id")
			r := c.Get(id)
			if r == nil {
				return provider.Errorf(404, "NotFound", "Resource %s not found.", id).WithTarget("dataDisk.managedDisk.id")
			}
			if owner := body.String(r.Body, "managedBy"); owner != "" && !store.Same(owner, d.ID) {
				return provider.Errorf(409, "AttachDiskWhileBeingDetached", "Cannot attach data disk '%s' to VM '%s' because the disk is attached to %s.", r.Name(), d.Name, owner)
			}
			body.Default(disk, "name", r.Name())
			continue
		}
		body.Default(disk, "managedDisk.storageAccountType", account)
		if body.String(disk, "name") == "" {
			body.Set(disk, "name", fmt.Sprintf("%s_DataDisk_%d_%s", d.Name, i, strings.ReplaceAll(c.GUID(), "-", "")))
		}
		if body.Int(disk, "diskSizeGB") == 0 {
			return provider.Missing("dataDisk.diskSizeGB")
		}
	}
	return nil
}

const customDataLimit = 87380

func prepareOSProfile(_ *provider.Call, d *provider.Draft, _ Size) error {
	osp := "properties.osProfile."
	// userData may be read back with $expand=userData; everything else here never comes back.
	for path, key := range map[string]string{osp + "customData": "customData", "properties.userData": "userData"} {
		data := body.String(d.New, path)
		body.Delete(d.New, path)
		if data == "" {
			continue
		}
		if _, err := base64.StdEncoding.DecodeString(data); err != nil || len(data) > customDataLimit {
			return provider.InvalidParameter(key, "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.", customDataLimit)
		}
		if old := body.String(d.Secret, key); d.Old != nil && key == "customData" && old != data {
			return provider.Errorf(409, "PropertyChangeNotAllowed", "Changing property 'osProfile.customData' is not allowed.").WithTarget("osProfile.customData")
		}
		d.Secret[key] = data
	}
	hadPassword := body.String(d.New, osp+"adminPassword") != ""
	body.Delete(d.New, osp+"adminPassword")
	if body.Child(d.New, "properties.osProfile") == nil {
		if strings.EqualFold(body.String(d.New, "properties.storageProfile.osDisk.createOption"), "FromImage") && d.Old == nil {
			return provider.Missing("osProfile")
		}
		return nil
	}
	if body.String(d.New, osp+"adminUsername") == "" {
		return provider.Missing("adminUsername")
	}
	body.Default(d.New, osp+"computerName", d.Name)
	body.Default(d.New, osp+"secrets", []any{})
	body.Default(d.New, osp+"allowExtensionOperations", true)
	body.Default(d.New, osp+"requireGuestProvisionSignal", true)
	if body.String(d.New, "properties.storageProfile.osDisk.osType") == "Windows" {
		body.Default(d.New, osp+"windowsConfiguration.provisionVMAgent", true)
		body.Default(d.New, osp+"windowsConfiguration.enableAutomaticUpdates", true)
		if n := body.String(d.New, osp+"computerName"); len(n) > 15 {
			return provider.InvalidParameter("computerName", "Windows computer name cannot be more than 15 characters long, be entirely numeric, or contain the following characters: ` ~ ! @ # $ %% ^ & * ( ) = + _ [ ] { } \\ | ; : . ' \" , < > / ?.")
		}
		return nil
	}
	ssh := body.Objects(d.New, osp+"linuxConfiguration.ssh.publicKeys")
	if body.Bool(d.New, osp+"linuxConfiguration.disablePasswordAuthentication") && len(ssh) == 0 {
		return provider.InvalidParameter("linuxConfiguration.ssh.publicKeys", "Authentication using either SSH or by user name and password must be enabled in Linux profile.")
	}
	if d.Old == nil && !hadPassword && len(ssh) == 0 {
		return provider.InvalidParameter("adminPassword", "Authentication using either SSH or by user name and password must be enabled in Linux profile.")
	}
	for _, k := range ssh {
		if data := body.String(k, "keyData"); !strings.HasPrefix(data, "ssh-") && !strings.HasPrefix(data, "ecdsa-") {
			return provider.InvalidParameter("linuxConfiguration.ssh.publicKeys.keyData", "The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.")
		}
	}
	body.Default(d.New, osp+"linuxConfiguration.disablePasswordAuthentication", false)
	body.Default(d.New, osp+"linuxConfiguration.provisionVMAgent", true)
	body.Default(d.New, osp+"linuxConfiguration.patchSettings", body.Object{"patchMode": "ImageDefault", "assessmentMode": "ImageDefault"})
	return nil
}

func prepareNetworkProfile(c *provider.Call, d *provider.Draft, z Size) error {
	refs := body.Objects(d.New, "properties.networkProfile.networkInterfaces")
	if len(refs) == 0 {
		return provider.InvalidParameter("networkProfile", "Virtual Machine %s must have at least one network interface.", d.ID)
	}
	if len(refs) > z.MaxNICs {
		return provider.Errorf(400, "OperationNotAllowed", "The number of network interfaces for virtual machine %s exceeds the maximum allowed for the virtual machine size %s. The number of network interfaces is %d and the maximum allowed is %d.", d.Name, z.Name, len(refs), z.MaxNICs)
	}
	vnet := ""
	for _, ref := range refs {
		id := body.String(ref, "id")
		nic, err := c.Need(id, d.ID, network.Interfaces, d.Location)
		if err != nil {
			return err
		}
		for _, r := range c.Referrers(nic.ID) {
			if other := c.Get(r.From); r.Field == "networkInterfaces" && other != nil && !store.Same(other.ID, d.ID) {
				return provider.NetworkError(400, "NicInUse", "Network Interface %s is used by existing resource %s. In order to delete the network interface, it must be dissociated from the resource. To learn more, see aka.ms/deletenic.", nic.ID, other.ID)
			}
		}
		var held network.Reservation
		if c.Meta(network.ReservationKey(nic.ID), &held) && held.Until.After(c.Now()) && !store.Same(held.VM, d.ID) {
			return provider.NetworkError(400, "NicReservedForAnotherVm", "Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please provide another nic(s) or retry after 180 seconds. Reserved VM: %s", held.VM)
		}
		if body.Bool(nic.Body, "properties.enableAcceleratedNetworking") && !z.Accelerated {
			return provider.NetworkError(400, "VMSizeIsNotPermittedToEnableAcceleratedNetworking", "VM size %s is not permitted to enable accelerated networking on network interface %s.", z.Name, nic.ID)
		}
		for _, cfg := range body.Objects(nic.Body, "properties.ipConfigurations") {
			sid, _ := store.ParseID(body.String(cfg, "properties.subnet.id"))
			if v := sid.Top().Key(); vnet == "" {
				vnet = v
			} else if v != vnet {
				return provider.NetworkError(400, "NicsNotInSameVnet", "Network interfaces of virtual machine %s are not in the same virtual network.", d.ID)
			}
		}
	}
	if len(refs) == 1 {
		body.Default(refs[0], "properties.primary", true)
	}
	return nil
}

func checkPlacement(c *provider.Call, d *provider.Draft, _ Size) error {
	for path, typ := range map[string]string{"availabilitySet": AvailabilitySets, "proximityPlacementGroup": PlacementGroups} {
		if id := body.String(d.New, "properties."+path+".id"); id != "" {
			if it := c.Find(id); it == nil {
				return provider.Errorf(404, "NotFound", "Resource %s not found.", id).WithTarget(path)
			} else if !strings.EqualFold(it.Resource.Type, typ) {
				return provider.InvalidParameter(path+".id", "Resource %s is not of type %s.", id, typ)
			}
		}
	}
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
		r.Secret["power"], r.Secret["bootID"] = "running", c.GUID()
		r.Secret["provisioned"] = c.Now().Format(time.RFC3339Nano)
	}
	return nil
}

// vmDeleted takes along what has deleteOption Delete and frees the rest.
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
			c.Erase(nic.ID)
			for _, cfg := range body.Objects(nic.Body, "properties.ipConfigurations") {
				if strings.EqualFold(body.String(cfg, "properties.publicIPAddress.properties.deleteOption"), "Delete") {
					c.Erase(body.String(cfg, "properties.publicIPAddress.id"))
				}
			}
		} else if never {
			c.SetMeta(network.ReservationKey(nic.ID), network.Reservation{VM: r.ID, Until: c.Now().Add(c.Scale(180 * time.Second))})
		}
	}
	disks := append([]body.Object{body.Child(r.Body, "properties.storageProfile.osDisk")}, body.Objects(r.Body, "properties.storageProfile.dataDisks")...)
	for _, disk := range disks {
		releaseDisk(c, body.String(disk, "managedDisk.id"), strings.EqualFold(body.String(disk, "deleteOption"), "Delete"))
	}
	c.SetMeta(GuestKey(body.String(r.Body, "properties.vmId")), nil)
}
