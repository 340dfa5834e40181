package server_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

const goodPassword = "Simulated-1"

// windowsMachine makes a machine of the fixture one with Windows.
func windowsMachine(change obj) func(p obj) {
	return func(p obj) {
		imageRef("id", gallery+"/images/windows/versions/1.0.0")(p)
		profile := obj{"computerName": "win-0", "adminUsername": "capi", "adminPassword": goodPassword, "customData": cloudInit,
			"windowsConfiguration": obj{"enableAutomaticUpdates": false}}
		for k, v := range change {
			profile[k] = v
		}
		p["osProfile"] = profile
	}
}

func changeOSProfile(change obj) func(p obj) {
	return func(p obj) {
		for k, v := range change {
			p["osProfile"].(obj)[k] = v
		}
	}
}

func machineOfSize(size string, changes ...func(p obj)) func(p obj) {
	return func(p obj) {
		p["hardwareProfile"] = obj{"vmSize": size}
		for _, change := range changes {
			change(p)
		}
	}
}

// confidentialMachine makes a machine of the fixture a confidential VM; change edits its security profile and that of its OS disk.
func confidentialMachine(encryption string, change func(security, disk obj)) func(p obj) {
	return machineOfSize("Standard_DC4as_v5", imageRef("id", gallery+"/images/cvm/versions/1.0.0"), func(p obj) {
		disk, security := obj{}, obj{"securityType": "ConfidentialVM", "uefiSettings": obj{"vTpmEnabled": true, "secureBootEnabled": true}}
		if encryption != "" {
			disk["securityEncryptionType"] = encryption
		}
		if change != nil {
			change(security, disk)
		}
		p["securityProfile"] = security
		osDisk(obj{"managedDisk": obj{"storageAccountType": "Premium_LRS", "securityProfile": disk}})(p)
	})
}

func makeSpot(more obj) func(p obj) {
	return func(p obj) {
		p["priority"] = "Spot"
		for k, v := range more {
			p[k] = v
		}
	}
}

func makeEphemeral(more obj) func(p obj) {
	return func(p obj) {
		osDisk(obj{"diskSizeGB": 50, "caching": "ReadOnly", "diffDiskSettings": obj{"option": "Local"}})(p)
		osDisk(more)(p)
	}
}

func TestOSProfilesAreRefused(t *testing.T) {
	long := strings.Repeat("a", 64)
	cases := map[string]refusal{
		"windows": {reason: "as it should be", change: windowsMachine(nil)},
		"windows, long name": {reason: "names of Windows have 15 characters", change: windowsMachine(obj{"computerName": "abcdefghijklmnop"}),
			code: "InvalidParameter", message: "more than 15 characters"},
		"windows, number": {reason: "names of Windows are no numbers", change: windowsMachine(obj{"computerName": "12345"}),
			code: "InvalidParameter", message: "entirely numeric"},
		"windows, character": {reason: "names of Windows have letters, digits and hyphens",
			change: windowsMachine(obj{"computerName": "win_0"}), code: "InvalidParameter", message: "Windows computer name"},
		"windows, user": {reason: "common names are refused", change: windowsMachine(obj{"adminUsername": "Administrator"}),
			code: "InvalidParameter", message: "Admin Username"},
		"windows, dot": {reason: "a user of Windows has no dot at the end", change: windowsMachine(obj{"adminUsername": "capi."}),
			code: "InvalidParameter", message: "Admin Username"},
		"windows, long user": {reason: "users of Windows have 20 characters",
			change: windowsMachine(obj{"adminUsername": "abcdefghijklmnopqrstu"}), code: "InvalidParameter", message: "the maximum is 20"},
		"windows, no password": {reason: "Windows has no SSH keys", change: windowsMachine(obj{"adminPassword": ""}), code: "InvalidParameter",
			message: "adminPassword"},
		"windows, password": {reason: "letters and a sign are two of four kinds",
			change: windowsMachine(obj{"adminPassword": "not-a-real-one"}), code: "InvalidParameter", message: "between 8-123 characters"},
		"windows, short": {reason: "passwords of Windows have 8 characters", change: windowsMachine(obj{"adminPassword": "Aa1-xyz"}),
			code: "InvalidParameter", message: "between 8-123 characters"},
		"windows, 124": {reason: "passwords of Windows have 123 characters at most",
			change: windowsMachine(obj{"adminPassword": "Aa1-" + strings.Repeat("x", 120)}), code: "InvalidParameter",
			message: "between 8-123 characters"},
		"windows, control": {reason: "control characters cannot be typed", change: windowsMachine(obj{"adminPassword": "Aa1-xyz\t0"}),
			code: "InvalidParameter", message: "Control characters"},
		"windows, well known": {reason: "some passwords are known to all", change: windowsMachine(obj{"adminPassword": "P@ssw0rd"}),
			code: "InvalidParameter", message: "not allowed"},
		"linux, name": {reason: "64 characters will do", change: changeOSProfile(obj{"computerName": long})},
		"linux, long name": {reason: "names of Linux have 64 characters", change: changeOSProfile(obj{"computerName": long + "a"}),
			code: "InvalidParameter", message: "64 characters"},
		"linux, character": {reason: "names of Linux have no spaces", change: changeOSProfile(obj{"computerName": "a b"}),
			code:    "InvalidParameter",
			message: "Linux host name"},
		"linux, user": {reason: "root exists already", change: changeOSProfile(obj{"adminUsername": "root"}), code: "InvalidParameter",
			message: "Admin Username"},
		"linux, long user": {reason: "users of Linux have 64 characters", change: changeOSProfile(obj{"adminUsername": long + "a"}),
			code: "InvalidParameter", message: "the maximum is 64"},
		"linux, password": {reason: "six characters will do", change: changeOSProfile(obj{"adminPassword": "Aa1-xy"})},
		"linux, simple password": {reason: "rules are for Linux, too", change: changeOSProfile(obj{"adminPassword": "abcdefg"}),
			code:    "InvalidParameter",
			message: "between 6-72 characters"},
	}
	a := newAzure(t)
	a.createBrought()
	for name, tc := range cases {
		a.tryRefusal(name, tc)
	}
	if a.mustSucceed("PUT", vmID, newVM("nic1", windowsMachine(nil))); a.sendRequest("GET", vmID,
		nil).valueAt("properties.osProfile.adminPassword") != nil {
		t.Error("the password came back")
	}
}

func TestDisksOfMachinesAreRefused(t *testing.T) {
	account := func(kind string) obj { return obj{"managedDisk": obj{"storageAccountType": kind}} }
	ultra := func(change obj) func(p obj) {
		return func(p obj) {
			disk := account("UltraSSD_LRS")
			for k, v := range change {
				disk[k] = v
			}
			dataDisk(disk)(p)
			p["additionalCapabilities"] = obj{"ultraSSDEnabled": true}
		}
	}
	cases := map[string]refusal{
		"ephemeral": {reason: "the cache has 50 GiB", change: makeEphemeral(nil)},
		"ephemeral, large": {reason: "the cache is smaller", change: makeEphemeral(obj{"diskSizeGB": 51}), code: "InvalidParameter",
			message: "greater than 50 GB is not allowed for VM size Standard_D2s_v3 when the DiffDiskPlacement is CacheDisk"},
		"ephemeral, resource": {reason: "the temporary disk is smaller still",
			change: makeEphemeral(obj{"diffDiskSettings": obj{"option": "Local", "placement": "ResourceDisk"}}), code: "InvalidParameter",
			message: "greater than 32 GB is not allowed for VM size Standard_D2s_v3 when the DiffDiskPlacement is ResourceDisk"},
		"ephemeral, small": {reason: "the temporary disk has place for that",
			change: makeEphemeral(obj{"diskSizeGB": 30, "diffDiskSettings": obj{"option": "Local", "placement": "ResourceDisk"}})},
		"ephemeral, NVMe": {reason: "the size has no NVMe disk",
			change: makeEphemeral(obj{"diffDiskSettings": obj{"option": "Local", "placement": "NvmeDisk"}}), code: "InvalidParameter",
			message: "NvmeDisk"},
		"ephemeral, option": {reason: "there is one option", change: makeEphemeral(obj{"diffDiskSettings": obj{"option": "Remote"}}),
			code: "InvalidParameter", message: "Local"},
		"ephemeral, caching": {reason: "nothing is written back", change: makeEphemeral(obj{"caching": "ReadWrite"}), code: "InvalidParameter",
			message: "ReadOnly"},
		"ephemeral, detach": {reason: "there is nothing to keep", change: makeEphemeral(obj{"deleteOption": "Detach"}), code: "InvalidParameter",
			message: "delete option"},
		"ephemeral, spot": {reason: "a deallocated VM would lose its disk",
			change: func(p obj) { makeEphemeral(nil)(p); makeSpot(obj{"evictionPolicy": "Deallocate"})(p) }, code: "InvalidParameter",
			message: "must be 'Delete'"},
		"ephemeral, spot, gone": {reason: "a deleted VM needs no disk",
			change: func(p obj) { makeEphemeral(nil)(p); makeSpot(obj{"evictionPolicy": "Delete"})(p) }},
		"OS disk, small": {reason: "the image has to fit", change: osDisk(obj{"diskSizeGB": 29}), code: "InvalidParameter",
			message: "smaller than the size of the corresponding disk in the VM image: 30 GB"},
		"OS disk, large": {reason: "OS disks have 4 TiB at most", change: osDisk(obj{"diskSizeGB": 4096}), code: "InvalidParameter",
			message: "must be between '1' and '4095' inclusive"},
		"OS disk, ultra": {reason: "nothing boots from an ultra disk", change: osDisk(account("UltraSSD_LRS")), code: "InvalidParameter",
			message: "data disks only"},
		"OS disk, premium v2": {reason: "nothing boots from a premium disk v2", change: osDisk(account("PremiumV2_LRS")),
			code: "InvalidParameter", message: "data disks only"},
		"OS disk, premium": {reason: "the size has no premium disks",
			change: machineOfSize("Standard_D2_v2", osDisk(account("Premium_LRS"))), code: "InvalidParameter",
			message: "does not support the storage account type Premium_LRS"},
		"OS disk, name": {reason: "a disk of the name exists", change: osDisk(obj{"name": "disk"}), code: "ConflictingUserInput",
			message: "Disk disk already exists in resource group RG"},
		"data disk, name": {reason: "a disk of the name exists", change: dataDisk(obj{"name": "disk"}), code: "ConflictingUserInput",
			message: "Disk disk already exists in resource group RG"},
		"data disk, large": {reason: "disks have 32 TiB at most", change: dataDisk(obj{"diskSizeGB": 32768}), code: "InvalidParameter",
			message: "between '1' and '32767'"},
		"data disk, LUN": {reason: "LUNs are 0 to 63", change: dataDisk(obj{"lun": 64}), code: "InvalidParameter",
			message: "between '0' and '63'"},
		"ultra": {reason: "in a zone and not cached", change: ultra(nil)},
		"ultra, cached": {reason: "ultra disks are not cached", change: ultra(obj{"caching": "ReadOnly"}), code: "InvalidParameter",
			message: "only 'None' caching"},
		"two zones": {reason: "a machine is in one zone", change: func(obj) {}, zones: []any{"1", "2"}, code: "ResourceTypeNotSupportMultiZones",
			message: "The provided zones are '1,2'"},
		"ultra, no zone": {reason: "ultra disks are in zones", change: ultra(nil), zones: []any{}, code: "InvalidParameter",
			message: "does not support ultra disks"},
		"too many": {reason: "the size has 4 data disks", change: func(p obj) {
			var disks []any
			for i := range 5 {
				disks = append(disks, obj{"lun": i, "createOption": "Empty", "diskSizeGB": 4})
			}
			p["storageProfile"].(obj)["dataDisks"] = disks
		}, code: "OperationNotAllowed", message: "maximum number of data disks allowed to be attached to a VM of this size is 4"},
	}
	a := newAzure(t)
	a.createBrought()
	for name, tc := range cases {
		a.tryRefusal(name, tc)
	}
	r := a.mustSucceed("PUT", vmID, newVM("nic1", makeEphemeral(obj{"caching": nil, "deleteOption": nil})))
	if disk := r.valueAt("properties.storageProfile.osDisk").(obj); disk["caching"] != "ReadOnly" || disk["deleteOption"] != "Delete" {
		t.Errorf("defaults of an ephemeral disk: %v", disk)
	}
}

func TestSecurityAndSpotAreRefused(t *testing.T) {
	trusted := func(change obj) obj {
		out := obj{"securityType": "TrustedLaunch", "uefiSettings": obj{"secureBootEnabled": true, "vTpmEnabled": true}}
		for k, v := range change {
			out[k] = v
		}
		return out
	}
	launch := func(image string) func(p obj) {
		return func(p obj) {
			p["securityProfile"] = trusted(nil)
			imageRef("id", gallery+"/images/"+image+"/versions/1.0.0")(p)
		}
	}
	cases := map[string]refusal{
		"trusted": {reason: "generation 2 with the feature", change: launch("linux")},
		"trusted, generation 1": {reason: "generation 1 has no UEFI", change: launch("gen1"), code: "BadRequest",
			message: "Use of TrustedLaunch setting is not supported for the provided image"},
		"trusted, feature": {reason: "the image is not made for it", change: launch("cvm"), code: "BadRequest",
			message: "Please select Trusted Launch Supported Gen2 OS Image"},
		"trusted, size": {reason: "the size cannot",
			change: machineOfSize("Standard_D2_v3", setProperty("securityProfile", trusted(nil)),
				osDisk(obj{"managedDisk": obj{"storageAccountType": "Standard_LRS"}})), code: "BadRequest",
			message: "with 'TrustedLaunch' security type"},
		"trusted, Marketplace": {reason: "the SKU is of generation 1", change: func(p obj) {
			p["securityProfile"] = trusted(nil)
			p["storageProfile"].(obj)["imageReference"] = obj{"publisher": "cncf-upstream", "offer": "capi", "sku": "ubuntu-2204-gen1",
				"version": "latest"}
		}, code: "BadRequest", message: "Gen2"},
		"type": {reason: "there are three types", change: setProperty("securityProfile", obj{"securityType": "Trusted"}),
			code: "InvalidParameter", message: "ConfidentialVM, Standard, TrustedLaunch"},
		"UEFI": {reason: "UEFI settings need a type",
			change: setProperty("securityProfile", obj{"uefiSettings": obj{"vTpmEnabled": true}}), code: "BadRequest", message: "UefiSettings"},
		"size, generation 1": {reason: "the size boots generation 2",
			change: machineOfSize("Standard_DC4as_v5", setProperty("securityProfile", obj{"securityType": "Standard"}),
				imageRef("id", gallery+"/images/gen1/versions/1.0.0")), code: "BadRequest", message: "cannot boot Hypervisor Generation '1'"},
		"confidential": {reason: "as it should be", change: confidentialMachine("VMGuestStateOnly", nil)},
		"confidential, whole": {reason: "with a key of its own",
			change: confidentialMachine("DiskWithVMGuestState",
				func(_, disk obj) { disk["diskEncryptionSet"] = newRef(comp + "/diskEncryptionSets/cvm") })},
		"confidential, key": {reason: "the key is for other disks",
			change: confidentialMachine("DiskWithVMGuestState",
				func(_, disk obj) { disk["diskEncryptionSet"] = newRef(comp + "/diskEncryptionSets/key") }), code: "InvalidParameter",
			message: "EncryptionAtRestWithCustomerKey"},
		"confidential, no key": {reason: "the key must exist",
			change: confidentialMachine("DiskWithVMGuestState",
				func(_, disk obj) { disk["diskEncryptionSet"] = newRef(comp + "/diskEncryptionSets/none") }), code: "NotFound", message: notInHere},
		"confidential, state key": {reason: "the guest's state alone has no key",
			change: confidentialMachine("VMGuestStateOnly",
				func(_, disk obj) { disk["diskEncryptionSet"] = newRef(comp + "/diskEncryptionSets/cvm") }),
			code: "InvalidParameter", message: "only allowed when 'securityEncryptionType' is 'DiskWithVMGuestState'"},
		"confidential, kind": {reason: "there are three kinds of encryption", change: confidentialMachine("Disk", nil),
			code: "InvalidParameter", message: "DiskWithVMGuestState, NonPersistedTPM, VMGuestStateOnly"},
		"confidential, none": {reason: "its OS disk is encrypted", change: confidentialMachine("", nil), code: "InvalidParameter",
			message: "securityEncryptionType"},
		"confidential, vTPM": {reason: "it has a vTPM",
			change: confidentialMachine("VMGuestStateOnly", func(s, _ obj) { s["uefiSettings"] = obj{"secureBootEnabled": true} }),
			code:   "InvalidParameter", message: "vTpmEnabled"},
		"confidential, boot": {reason: "an encrypted disk needs secure boot",
			change: confidentialMachine("DiskWithVMGuestState", func(s, _ obj) { s["uefiSettings"] = obj{"vTpmEnabled": true} }),
			code:   "InvalidParameter", message: "secureBootEnabled"},
		"confidential, image": {reason: "the image is not made for it", change: func(p obj) {
			confidentialMachine("VMGuestStateOnly", nil)(p)
			imageRef("id", gallery+"/images/linux/versions/1.0.0")(p)
		}, code: "BadRequest", message: "Confidential VM Supported"},
		"confidential, size": {reason: "the size cannot",
			change: func(p obj) { confidentialMachine("VMGuestStateOnly", nil)(p); machineOfSize("Standard_D2s_v3")(p) }, code: "BadRequest",
			message: "with 'ConfidentialVM' security type"},
		"confidential, not": {reason: "the size is for confidential VMs alone", change: machineOfSize("Standard_DC4as_v5"), code: "BadRequest",
			message: "with '<NULL>' security type"},
		"disk alone": {reason: "an ordinary VM has no encrypted state",
			change: osDisk(obj{"managedDisk": obj{"securityProfile": obj{"securityEncryptionType": "VMGuestStateOnly"}}}), code: "InvalidParameter",
			message: "only allowed for VMs with 'ConfidentialVM'"},
		"data disk": {reason: "data disks have no state",
			change: dataDisk(obj{"managedDisk": obj{"securityProfile": obj{"securityEncryptionType": "VMGuestStateOnly"}}}),
			code:   "InvalidParameter", message: "only OS disks"},

		"spot": {reason: "with a price", change: makeSpot(obj{"evictionPolicy": "Delete", "billingProfile": obj{"maxPrice": 0.05}})},
		"spot, policy": {reason: "there are two policies", change: makeSpot(obj{"evictionPolicy": "Stop"}), code: "InvalidParameter",
			message: "Deallocate, Delete"},
		"spot, price": {reason: "nothing is for free", change: makeSpot(obj{"billingProfile": obj{"maxPrice": 0}}), code: "InvalidParameter",
			message: "greater than zero"},
		"spot, size": {reason: "burstable sizes are not for spot", change: machineOfSize("Standard_B2s", makeSpot(nil)), code: "BadRequest",
			message: "Standard_B2s"},
		"spot, set": {reason: "sets promise what spot VMs cannot",
			change: makeSpot(obj{"availabilitySet": newRef(comp + "/availabilitySets/as")}), zones: []any{}, code: "BadRequest",
			message: "availability set"},
		"policy without spot": {reason: "only spot VMs are evicted", change: setProperty("evictionPolicy", "Delete"), code: "InvalidParameter",
			message: "only on Azure Spot"},
		"price without spot": {reason: "only spot VMs have a price", change: setProperty("billingProfile", obj{"maxPrice": 0.05}),
			code: "InvalidParameter", message: "only on Azure Spot"},
		"interfaces": {reason: "the size has two interfaces",
			change: setProperty("networkProfile",
				obj{"networkInterfaces": newRefs(net+"/networkInterfaces/nic1", net+"/networkInterfaces/nic2", net+"/networkInterfaces/nic3")}),
			code: "OperationNotAllowed", message: "The number of network interfaces is 3 and the maximum allowed is 2"},
		"interfaces, no primary": {reason: "one of two interfaces is the primary one",
			change: setProperty("networkProfile", obj{"networkInterfaces": newRefs(net+"/networkInterfaces/nic1", net+"/networkInterfaces/nic2")}),
			code:   "VirtualMachineMustHaveOneNetworkInterfaceAsPrimary", message: "set as the primary"},
	}
	a := newAzure(t)
	a.createBrought()
	for name, tc := range cases {
		a.tryRefusal(name, tc)
	}
}

func TestUnregisteredFeature(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.FeaturesOff = []string{"Microsoft.Compute/EncryptionAtHost"} })
	a.createBrought()
	a.tryRefusal("encryption at host", refusal{
		reason: "the subscription has to ask for it", change: setProperty("securityProfile", obj{"encryptionAtHost": true}),
		code:    "InvalidParameter",
		message: "the 'Microsoft.Compute/EncryptionAtHost' feature is not enabled for this subscription",
	})
}

func TestWhatIsNotToBeHad(t *testing.T) {
	fast := func(p obj) {
		machineOfSize("Standard_B2s")(p)
		p["networkProfile"] = obj{"networkInterfaces": newRefs(net + "/networkInterfaces/fast")}
	}
	a := newAzure(t, func(o *server.Options) {
		o.Quota = map[string]int{"standardDSv3Family": 3, "eastus/cores": 1, "standardBSFamily": 10, "lowPriorityCores": 1}
	})
	a.createBrought()
	accelerated := newNIC("cp", nil)
	accelerated["properties"].(obj)["enableAcceleratedNetworking"] = true
	a.mustSucceed("PUT", net+"/networkInterfaces/fast", accelerated)
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", dataDisk(obj{"name": "of-vm0"})))
	cases := map[string]refusal{
		"quota": {reason: "two cores of three are in use", code: "OperationNotAllowed",
			message: "exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: " +
				"westus3, Current Limit: 3, Current Usage: 2, Additional Required: 2, (Minimum) New Limit Required: 4."},
		"spot quota": {reason: "spot VMs have a quota of their own", change: makeSpot(nil), code: "OperationNotAllowed",
			message: "approved LowPriorityCores quota. Additional details - Deployment Model: Resource Manager, Location: westus3, Current " +
				"Limit: 1, Current Usage: 0, Additional Required: 2, (Minimum) New Limit Required: 2."},
		"restricted": {reason: "the subscription may not use the size in the zone", change: machineOfSize("Standard_NC6s_v3"),
			code: "SkuNotAvailable", message: "Capacity Restrictions: Standard_NC6s_v3' is currently not available in location 'westus3'"},
		"accelerated": {reason: "the size has no accelerated networking", change: fast, code: "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
			message: "Standard_B2s"},
	}
	for name, tc := range cases {
		a.tryRefusal(name, tc)
	}
	body := newVM("nic1", machineOfSize("Standard_B2s"))
	body["identity"] = obj{"type": "UserAssigned",
		"userAssignedIdentities": obj{groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/none": obj{}}}
	if r := a.sendRequest("PUT", vmID, body); r.status != 400 || r.errorCode() != "FailedIdentityOperation" ||
		!strings.Contains(r.errorMessage(), "userAssignedIdentities/none") {
		t.Errorf("a missing identity: %d %s %s", r.status, r.errorCode(), r.errorMessage())
	}
}
