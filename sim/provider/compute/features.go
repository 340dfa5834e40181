package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// checkFeatures refuses features that the size, the subscription or another property excludes.
func checkFeatures(c *provider.Call, d *provider.Draft, z Size) error {
	for _, check := range []func(*provider.Call, *provider.Draft, Size) error{checkSecurity, checkConfidential, checkEphemeral, checkAccounts,
		checkSpot} {
		if err := check(c, d, z); err != nil {
			return err
		}
	}
	return nil
}

// checkSecurity checks encryption at host and the security type.
func checkSecurity(c *provider.Call, d *provider.Draft, z Size) error {
	sec := "properties.securityProfile."
	if body.Bool(d.New, sec+"encryptionAtHost") {
		if !z.HostEncrypt {
			return provider.InvalidParameter("securityProfile.encryptionAtHost", "The VM size '%s' does not support encryption at host.", z.Name)
		}
		// Source: https://learn.microsoft.com/azure/virtual-machines/linux/disks-enable-host-based-encryption-cli#prerequisites
		if !c.IsFeatureRegistered("Microsoft.Compute/EncryptionAtHost") {
			return provider.InvalidParameter("securityProfile.encryptionAtHost",
				"The property 'securityProfile.encryptionAtHost' is not valid because the 'Microsoft.Compute/EncryptionAtHost' feature is not enabled for this subscription.")
		}
	}
	kind := body.String(d.New, sec+"securityType")
	unsupported := func(kind string) error {
		return provider.Errorf(400, "BadRequest",
			"The VM size '%s' is not supported for creation of VMs and Virtual Machine Scale Set with '%s' security type.", z.Name, kind)
	}
	switch {
	case kind != "" && kind != "ConfidentialVM" && kind != "TrustedLaunch" && kind != "Standard":
		return provider.InvalidParameter("securityProfile.securityType",
			"The value '%s' of parameter 'securityProfile.securityType' is invalid. Allowed values are ConfidentialVM, Standard, TrustedLaunch.",
			kind)
	case kind == "ConfidentialVM" && z.Confidential == "", kind == "TrustedLaunch" && z.NoTrusted:
		return unsupported(kind)
	case kind == "" && z.Confidential != "" && !body.Bool(d.Secret, "managed"):
		return unsupported("<NULL>")
	case kind == "" && body.Child(d.New, sec+"uefiSettings") != nil:
		return provider.Errorf(400, "BadRequest", "Use of 'UefiSettings' is not supported when 'securityType' is not set.")
	}
	return nil
}

// checkConfidential checks the settings of a confidential VM that depend on each other: the encryption of its OS disk
// and UEFI settings.
//
// Sources: the SDK models of VMDiskSecurityProfile and DiskSecurityTypes, and
// https://learn.microsoft.com/azure/confidential-computing/confidential-vm-overview. The codes are Compute's generic
// ones.
func checkConfidential(_ *provider.Call, d *provider.Draft, _ Size) error {
	const at, sec = "osDisk.managedDisk.securityProfile", "properties.securityProfile."
	sp := "properties.storageProfile."
	for _, disk := range body.Objects(d.New, sp+"dataDisks") {
		if body.Has(disk, "managedDisk.securityProfile") {
			return provider.InvalidParameter("dataDisk.managedDisk.securityProfile",
				"Parameter 'dataDisk.managedDisk.securityProfile' is not allowed: only OS disks have a security profile.")
		}
	}
	encryption := body.String(d.New, sp+at+".securityEncryptionType")
	if body.String(d.New, sec+"securityType") != "ConfidentialVM" {
		if body.Has(d.New, sp+at) {
			return provider.InvalidParameter(at, "Parameter '%s' is only allowed for VMs with 'ConfidentialVM' security type.", at)
		}
		return nil
	}
	whole := encryption == "DiskWithVMGuestState"
	switch {
	case encryption == "":
		return provider.MissingProperty(at + ".securityEncryptionType")
	case !whole && encryption != "VMGuestStateOnly" && encryption != "NonPersistedTPM":
		return provider.InvalidParameter(at+".securityEncryptionType",
			"The value '%s' of parameter '%s.securityEncryptionType' is invalid. Allowed values are DiskWithVMGuestState, NonPersistedTPM, VMGuestStateOnly.", encryption, at)
	case !body.Bool(d.New, sec+"uefiSettings.vTpmEnabled"):
		return provider.InvalidParameter("securityProfile.uefiSettings.vTpmEnabled",
			"'vTpmEnabled' must be true for VMs with 'ConfidentialVM' security type.")
	case whole && !body.Bool(d.New, sec+"uefiSettings.secureBootEnabled"):
		return provider.InvalidParameter("securityProfile.uefiSettings.secureBootEnabled",
			"'secureBootEnabled' must be true when 'securityEncryptionType' is 'DiskWithVMGuestState'.")
	case whole && body.Bool(d.New, sec+"encryptionAtHost"):
		return provider.InvalidParameter("securityProfile.encryptionAtHost",
			"Encryption at host cannot be enabled when 'securityEncryptionType' is 'DiskWithVMGuestState'.")
	case !whole && body.Has(d.New, sp+at+".diskEncryptionSet"):
		return provider.InvalidParameter(at+".diskEncryptionSet",
			"A disk encryption set is only allowed when 'securityEncryptionType' is 'DiskWithVMGuestState'.")
	}
	return nil
}

// checkEphemeral checks and defaults an OS disk on the host.
// Source: https://learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks, and the SDK models of DiffDiskSettings and OSDisk.
func checkEphemeral(_ *provider.Call, d *provider.Draft, z Size) error {
	os := body.Child(d.New, "properties.storageProfile.osDisk")
	if body.Child(os, "diffDiskSettings") == nil {
		return nil
	}
	if option := body.String(os, "diffDiskSettings.option"); option != "Local" {
		return provider.InvalidParameter("osDisk.diffDiskSettings.option",
			"The value '%s' of parameter 'osDisk.diffDiskSettings.option' is invalid. Allowed values are Local.", option)
	}
	if !z.Ephemeral {
		return provider.InvalidParameter("osDisk.diffDiskSettings", "OS disk of Ephemeral VM is not supported for VM size %s.", z.Name)
	}
	body.Default(os, "caching", "ReadOnly")
	body.Default(os, "deleteOption", "Delete")
	if caching := body.String(os, "caching"); caching != "ReadOnly" {
		return provider.InvalidParameter("osDisk.caching",
			"The value '%s' of parameter 'osDisk.caching' is invalid: OS disk of Ephemeral VM supports only 'ReadOnly' caching.", caching)
	}
	if !strings.EqualFold(body.String(os, "deleteOption"), "Delete") {
		return provider.InvalidParameter("osDisk.deleteOption",
			"The delete option of the OS disk of Ephemeral VM cannot be changed: it is 'Delete'.")
	}
	place := body.String(os, "diffDiskSettings.placement")
	if place == "" {
		place = "CacheDisk"
	}
	room, ok := map[string]int{"CacheDisk": z.CacheGB(), "ResourceDisk": z.TempGB()}[place]
	if !ok {
		return provider.InvalidParameter("osDisk.diffDiskSettings.placement", "The VM size '%s' does not support the DiffDiskPlacement '%s'.",
			z.Name, place)
	}
	size := body.Int(os, "diskSizeGB")
	if size == 0 {
		size = imageSizeGB
	}
	if size > room && !body.Bool(d.Secret, "managed") {
		return provider.InvalidParameter("osDisk.diskSizeGB",
			"OS disk of Ephemeral VM with size greater than %d GB is not allowed for VM size %s when the DiffDiskPlacement is %s.", room, z.Name,
			place)
	}
	return nil
}

// checkAccounts checks the storage account types of disks.
// Source: https://learn.microsoft.com/azure/virtual-machines/disks-types
func checkAccounts(_ *provider.Call, d *provider.Draft, z Size) error {
	const at = "managedDisk.storageAccountType"
	p := "properties."
	premium := func(disk body.Object) error {
		kind := body.String(disk, at)
		if !strings.HasPrefix(kind, "Premium") || z.Premium {
			return nil
		}
		return provider.InvalidParameter(at,
			"Requested operation cannot be performed because the VM size %s does not support the storage account type %s of disk '%s'. Consider updating the VM to a size that supports Premium storage.", z.Name, kind, body.String(disk, "name"))
	}
	os := body.Child(d.New, p+"storageProfile.osDisk")
	if kind := body.String(os, at); kind == "UltraSSD_LRS" || kind == "PremiumV2_LRS" {
		return provider.InvalidParameter("osDisk."+at,
			"The value '%s' of parameter 'osDisk.%s' is invalid: disks of this type can be used as data disks only.", kind, at)
	}
	if err := premium(os); err != nil {
		return err
	}
	for _, disk := range body.Objects(d.New, p+"storageProfile.dataDisks") {
		kind, caching := body.String(disk, at), body.String(disk, "caching")
		if kind == "UltraSSD_LRS" && !body.Bool(d.New, p+"additionalCapabilities.ultraSSDEnabled") {
			return provider.InvalidParameter(at,
				"StorageAccountType UltraSSD_LRS can be used only when additionalCapabilities.ultraSSDEnabled is set.")
		}
		if (kind == "UltraSSD_LRS" || kind == "PremiumV2_LRS") && caching != "" && caching != "None" {
			return provider.InvalidParameter("dataDisk.caching",
				"The value '%s' of parameter 'dataDisk.caching' is invalid: disks with storage account type %s support only 'None' caching.", caching,
				kind)
		}
		if err := premium(disk); err != nil {
			return err
		}
	}
	if body.Bool(d.New, p+"additionalCapabilities.ultraSSDEnabled") && (!z.Ultra || len(body.Strings(d.New, "zones")) == 0) {
		return provider.InvalidParameter("additionalCapabilities.ultraSSDEnabled", "The VM size '%s' with zones %v does not support ultra disks.",
			z.Name, body.Strings(d.New, "zones"))
	}
	return nil
}

// checkSpot checks priority, eviction policy and price.
// Source: https://learn.microsoft.com/azure/virtual-machines/spot-vms#limitations, and the SDK model of BillingProfile; the codes
// are Compute's generic ones.
func checkSpot(_ *provider.Call, d *provider.Draft, z Size) error {
	p := "properties."
	policy, price := body.String(d.New, p+"evictionPolicy"), body.Get(d.New, p+"billingProfile.maxPrice")
	if !strings.EqualFold(body.String(d.New, p+"priority"), "Spot") {
		switch {
		case policy != "":
			return provider.InvalidParameter("evictionPolicy", "The eviction policy can be set only on Azure Spot virtual machines.")
		case price != nil:
			return provider.InvalidParameter("billingProfile.maxPrice", "The max price can be set only on Azure Spot virtual machines.")
		}
		return nil
	}
	amount, _ := price.(float64)
	switch {
	case policy != "" && policy != "Deallocate" && policy != "Delete":
		return provider.InvalidParameter("evictionPolicy",
			"The value '%s' of parameter 'evictionPolicy' is invalid. Allowed values are Deallocate, Delete.", policy)
	case price != nil && amount != -1 && amount <= 0:
		return provider.InvalidParameter("billingProfile.maxPrice",
			"The value '%v' of parameter 'billingProfile.maxPrice' is invalid: it must be greater than zero, or -1.", price)
	case !z.OffersSpot() && !body.Bool(d.Secret, "managed"):
		return provider.Errorf(400, "BadRequest", "The VM size '%s' is not supported for Azure Spot virtual machines.", z.Name)
	case body.Has(d.New, p+"availabilitySet"):
		return provider.Errorf(400, "BadRequest", "An Azure Spot virtual machine cannot be in an availability set.")
	case policy == "Deallocate" && body.Has(d.New, p+"storageProfile.osDisk.diffDiskSettings") && !body.Bool(d.Secret, "managed"):
		return provider.InvalidParameter("evictionPolicy",
			"The eviction policy of an Azure Spot virtual machine with an Ephemeral OS disk must be 'Delete'.")
	}
	return nil
}
