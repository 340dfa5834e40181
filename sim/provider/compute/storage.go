package compute

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func prepareStorage(c *provider.Call, d *provider.Draft, z Size) error {
	sp := "properties.storageProfile."
	body.Default(d.New, sp+"osDisk.createOption", "FromImage")
	attached := strings.EqualFold(body.String(d.New, sp+"osDisk.createOption"), "Attach")
	img := body.Child(d.New, sp+"imageReference")
	switch {
	case attached:
		if body.String(d.New, sp+"osDisk.osType") == "" {
			return provider.MissingProperty("osDisk.osType")
		}
		if err := checkAttachable(c, d, body.Child(d.New, sp+"osDisk"), "osDisk"); err != nil {
			return err
		}
	case img == nil:
		return provider.MissingProperty("imageReference")
	case body.String(img, "id") == "" && body.String(img, "communityGalleryImageId") == "" && body.String(img, "sharedGalleryImageId") == "":
		exact := body.String(img, "version")
		if exact == "latest" {
			exact = "131.1.20250110"
		}
		img["exactVersion"] = exact
	}
	d.Keep(sp+"osDisk.name", func() string {
		if n := body.String(d.New, sp+"osDisk.name"); n != "" {
			return n
		}
		return d.Name + "_OsDisk_1_" + strings.ReplaceAll(c.NewGUID(), "-", "")
	})
	if !attached {
		body.Default(d.New, sp+"osDisk.diskSizeGB", imageSizeGB)
		if err := checkDiskSize("osDisk.diskSizeGB", body.Int(d.New, sp+"osDisk.diskSizeGB"), 1, maxOSDiskGB); err != nil {
			return err
		}
		if n := body.Int(d.New, sp+"osDisk.diskSizeGB"); n < imageSizeGB && d.Old == nil {
			return provider.InvalidParameter("osDisk.diskSizeGB",
				"The specified disk size %d GB is smaller than the size of the corresponding disk in the VM image: %d GB.", n, imageSizeGB)
		}
	}
	if err := checkOSDiskName(c, d); err != nil {
		return err
	}
	if err := checkGrowth(c, body.Child(d.Old, sp+"osDisk"), body.Child(d.New, sp+"osDisk"), "osDisk"); err != nil {
		return err
	}
	body.Default(d.New, sp+"osDisk.caching", "ReadWrite")
	body.Default(d.New, sp+"osDisk.deleteOption", "Detach")
	account := accountType(z)
	body.Default(d.New, sp+"osDisk.managedDisk.storageAccountType", account)
	if isReplaced(d, sp+"osDisk.managedDisk.diskEncryptionSet.id") ||
		isReplaced(d, sp+"osDisk.managedDisk.securityProfile.diskEncryptionSet.id") {
		if err := checkEncryptionSet(c, d, body.Child(d.New, sp+"osDisk"), "osDisk"); err != nil {
			return err
		}
	}
	if err := checkImage(c, d, z); err != nil {
		return err
	}
	windows := body.Child(d.New, "properties.osProfile.windowsConfiguration") != nil
	if body.String(d.New, sp+"osDisk.osType") == "" {
		body.Set(d.New, sp+"osDisk.osType", map[bool]string{true: "Windows", false: "Linux"}[windows])
	}
	body.Default(d.New, sp+"dataDisks", []any{})
	body.Default(d.New, sp+"diskControllerType", "SCSI")
	return prepareDataDisks(c, d, z, account)
}

// accountType returns the kind of storage that disks of a VM of this size have by default.
func accountType(z Size) string {
	if z.Premium {
		return "Premium_LRS"
	}
	return "Standard_LRS"
}

// Sizes of disks in GiB. Source: https://learn.microsoft.com/azure/virtual-machines/managed-disks-overview. The
// answer for a size out of range is Compute's for numbers.
const (
	maxOSDiskGB = 4095
	maxDiskGB   = 32767
	maxUltraGB  = 65536
)

func checkDiskSize(path string, n, low, high int) error {
	if n >= low && n <= high {
		return nil
	}
	return provider.InvalidParameter(path,
		"The value '%d' of parameter '%s' is out of range. Value '%[1]d' must be between '%[3]d' and '%[4]d' inclusive.", n, path, low, high)
}

// checkOSDiskName refuses a new VM whose OS disk would have the name of an existing disk.
func checkOSDiskName(c *provider.Call, d *provider.Draft) error {
	if d.Old != nil || !strings.EqualFold(body.String(d.New, "properties.storageProfile.osDisk.createOption"), "FromImage") {
		return nil
	}
	return nameFree(c, d, body.String(d.New, "properties.storageProfile.osDisk.name"))
}

func nameFree(c *provider.Call, d *provider.Draft, name string) error {
	id, err := store.ParseID(d.ID)
	if err != nil || name == "" || !strings.EqualFold(id.Type(), VirtualMachines) {
		return nil
	}
	if disk := c.Get(id.Scope + "/providers/" + Disks + "/" + name); disk != nil {
		return provider.Errorf(409, "ConflictingUserInput", "Disk %s already exists in resource group %s. Only CreateOption.Attach is supported.",
			disk.Name(), strings.ToUpper(id.ResourceGroup)).WithTarget(disk.ID)
	}
	return nil
}

func prepareDataDisks(c *provider.Call, d *provider.Draft, z Size, account string) error {
	sp := "properties.storageProfile."
	luns := map[int]bool{}
	// The disk driver marks those that it detaches, and leaves them in the list: DetachDisk in pkg/provider/azure_controller_standard.go of
	// sigs.k8s.io/cloud-provider-azure v1.36.5.
	disks := slices.DeleteFunc(body.Objects(d.New, sp+"dataDisks"), func(disk body.Object) bool { return body.Bool(disk, "toBeDetached") })
	body.Set(d.New, sp+"dataDisks", disks)
	disks = body.Objects(d.New, sp+"dataDisks")
	if len(disks) > z.MaxDisks {
		return provider.Errorf(409, "OperationNotAllowed", "The maximum number of data disks allowed to be attached to a VM of this size is %d.",
			z.MaxDisks).WithTarget("dataDisks")
	}
	for i, disk := range disks {
		lun := body.Int(disk, "lun")
		if lun < 0 || lun > 63 {
			return checkDiskSize("dataDisk.lun", lun, 0, 63)
		}
		if luns[lun] {
			return provider.InvalidParameter("dataDisks.lun", "A disk at LUN %d already exists.", lun)
		}
		luns[lun] = true
		known := false
		for _, was := range body.Objects(d.Old, sp+"dataDisks") {
			// Properties missing from the definition keep their values, as long as it is the same disk.
			if name := body.String(disk, "name"); body.Int(was, "lun") == lun && (name == "" || strings.EqualFold(name, body.String(was, "name"))) {
				merged := body.Clone(was)
				body.Overlay(merged, disk)
				body.Overlay(disk, merged)
				known = true
			}
		}
		body.Default(disk, "lun", 0)
		body.Default(disk, "createOption", "Empty")
		body.Default(disk, "caching", "None")
		body.Default(disk, "deleteOption", "Detach")
		if strings.EqualFold(body.String(disk, "createOption"), "Attach") {
			if err := checkAttachable(c, d, disk, "dataDisk"); err != nil {
				return err
			}
			continue
		}
		if err := newDataDisk(c, d, disk, known, account, i); err != nil {
			return err
		}
	}
	return nil
}

// checkAttachable checks a disk that exists.
func checkAttachable(c *provider.Call, d *provider.Draft, disk body.Object, path string) error {
	it, err := findReferred(c, body.String(disk, "managedDisk.id"), Disks, path+".managedDisk", d.Location)
	if err != nil {
		return err
	}
	if err := checkDiskFree(c, d, it); err != nil {
		return err
	}
	body.Default(disk, "name", it.Name)
	return checkGrowth(c, formerDisk(d, disk), disk, path)
}

// formerDisk returns the definition that a machine has of a disk, or nil.
func formerDisk(d *provider.Draft, disk body.Object) body.Object {
	disks := append(body.Objects(d.Old, dataDisksPath), body.Child(d.Old, "properties.storageProfile.osDisk"))
	if i := withDisk(disks, body.String(disk, "managedDisk.id")); i >= 0 {
		return disks[i]
	}
	return nil
}

// newDataDisk checks and completes a disk that Azure creates with the VM; known means that Azure has created it
// already.
func newDataDisk(c *provider.Call, d *provider.Draft, disk body.Object, known bool, account string, i int) error {
	body.Default(disk, "managedDisk.storageAccountType", account)
	name := body.String(disk, "name")
	if name == "" {
		body.Set(disk, "name", fmt.Sprintf("%s_DataDisk_%d_%s", d.Name, i, strings.ReplaceAll(c.NewGUID(), "-", "")))
	}
	size, most := body.Int(disk, "diskSizeGB"), maxDiskGB
	if size == 0 {
		return provider.MissingProperty("dataDisk.diskSizeGB")
	}
	if body.String(disk, "managedDisk.storageAccountType") == "UltraSSD_LRS" {
		most = maxUltraGB
	}
	if err := checkDiskSize("dataDisk.diskSizeGB", size, 1, most); err != nil {
		return err
	}
	if known {
		return checkGrowth(c, formerDisk(d, disk), disk, "dataDisk")
	}
	if err := nameFree(c, d, name); err != nil {
		return err
	}
	return checkEncryptionSet(c, d, disk, "dataDisk")
}
