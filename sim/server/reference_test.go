package server_test

import (
	"strings"
	"testing"
)

const (
	gallery   = comp + "/galleries/g"
	vmID      = comp + "/virtualMachines/vm1"
	notInHere = "The entity was not found in this Azure location."
)

// createBrought creates the resources that machines refer to: each kind in westus3, and most of them in eastus, too.
func (a *azure) createBrought() {
	a.t.Helper()
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic1", newNIC("cp", nil))
	for region, suffix := range map[string]string{"westus3": "", "eastus": "-east"} {
		at := func(o obj) obj {
			o["location"] = region
			return o
		}
		key := func(kind string) obj {
			return at(obj{"properties": obj{"encryptionType": kind, "activeKey": obj{"keyUrl": "https://kv.vault.azure.net/keys/k/1"}}})
		}
		a.mustSucceed("PUT", comp+"/diskEncryptionSets/key"+suffix, key("EncryptionAtRestWithCustomerKey"))
		a.mustSucceed("PUT", comp+"/diskEncryptionSets/cvm"+suffix, key("ConfidentialVmEncryptedWithCustomerKey"))
		a.mustSucceed("PUT", comp+"/images/img"+suffix,
			at(obj{"properties": obj{"hyperVGeneration": "V2", "storageProfile": obj{"osDisk": obj{"osType": "Linux", "osState": "Generalized"}}}}))
		a.mustSucceed("PUT", comp+"/availabilitySets/as"+suffix, at(obj{"sku": obj{"name": "Aligned"}}))
		a.mustSucceed("PUT", comp+"/proximityPlacementGroups/ppg"+suffix, at(obj{}))
		a.mustSucceed("PUT", comp+"/virtualMachineScaleSets/flex"+suffix,
			at(obj{"zones": []any{"1"}, "properties": obj{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}}))
		a.mustSucceed("PUT", comp+"/capacityReservationGroups/crg"+suffix, at(obj{"zones": []any{"1"}}))
		a.mustSucceed("PUT", comp+"/capacityReservationGroups/crg"+suffix+"/capacityReservations/d2s",
			at(obj{"sku": obj{"name": "Standard_D2s_v3", "capacity": 2}, "zones": []any{"1"}}))
		a.mustSucceed("PUT", comp+"/disks/disk"+suffix,
			at(obj{"zones": []any{"1"}, "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}}))
	}
	a.mustSucceed("PUT", comp+"/virtualMachineScaleSets/regional",
		obj{"location": "westus3", "properties": obj{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}})
	a.mustSucceed("PUT", comp+"/virtualMachineScaleSets/uniform", scaleSet(0, nil))
	a.mustSucceed("PUT", gallery,
		obj{"location": "westus3",
			"properties": obj{"sharingProfile": obj{"permissions": "Community", "communityGalleryInfo": obj{"publicNamePrefix": "Ours"}}}})
	a.createImage("linux", obj{"features": []any{obj{"name": "SecurityType", "value": "TrustedLaunchSupported"}}})
	a.mustSucceed("PUT", gallery+"/images/linux/versions/2.0.0",
		obj{"location": "westus3", "properties": obj{"publishingProfile": obj{"targetRegions": []any{obj{"name": "East US"}}}}})
	a.createImage("cvm", obj{"features": []any{obj{"name": "SecurityType", "value": "ConfidentialVmSupported"}}})
	a.createImage("gen1", obj{"hyperVGeneration": "V1"})
	a.createImage("arm", obj{"architecture": "Arm64"})
	a.createImage("windows", obj{"osType": "Windows"})
	a.createImage("special", obj{"osState": "Specialized"})
}

// createImage makes an image definition of the gallery with version 1.0.0.
func (a *azure) createImage(name string, change obj) {
	a.t.Helper()
	p := obj{"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2",
		"identifier": obj{"publisher": "p", "offer": "o", "sku": name}}
	for k, v := range change {
		p[k] = v
	}
	a.mustSucceed("PUT", gallery+"/images/"+name, obj{"location": "westus3", "properties": p})
	a.mustSucceed("PUT", gallery+"/images/"+name+"/versions/1.0.0", obj{"location": "westus3"})
}

func imageRef(key, value string) func(p obj) {
	return func(p obj) { p["storageProfile"].(obj)["imageReference"] = obj{key: value} }
}

func osDisk(change obj) func(p obj) {
	return func(p obj) {
		disk := p["storageProfile"].(obj)["osDisk"].(obj)
		for k, v := range change {
			disk[k] = v
		}
	}
}

func dataDisk(change obj) func(p obj) {
	return func(p obj) {
		disk := obj{"lun": 1, "createOption": "Empty", "diskSizeGB": 16}
		for k, v := range change {
			disk[k] = v
		}
		p["storageProfile"].(obj)["dataDisks"] = []any{disk}
	}
}

func diskSetKey(set string) obj {
	return obj{"managedDisk": obj{"diskEncryptionSet": newRef(comp + "/diskEncryptionSets/" + set)}}
}

func setProperty(key string, value any) func(p obj) { return func(p obj) { p[key] = value } }

// refusal is a row about a virtual machine. Without a code the machine is taken.
type refusal struct {
	reason  string
	change  func(p obj)
	zones   []any
	code    string
	message string // contained in the answer's
}

func (a *azure) tryRefusal(name string, tc refusal) {
	a.t.Helper()
	body := newVM("nic1", tc.change)
	if tc.zones != nil {
		body["zones"] = tc.zones
	}
	r := a.sendRequest("PUT", vmID, body)
	if r.errorCode() != tc.code || !strings.Contains(r.errorMessage(), tc.message) || tc.code == "" && r.status != 201 {
		a.t.Errorf("%s: %s: got %d %s %q, want %q with %q", name, tc.reason, r.status, r.errorCode(), r.errorMessage(), tc.code, tc.message)
	}
	if got := a.sendRequest("GET", vmID, nil).status; tc.code != "" && got != 404 {
		a.t.Errorf("%s: a refused VM was stored", name)
	}
	a.mustSucceed("DELETE", vmID, nil)
	for _, disk := range []string{"etcd", "data"} {
		a.mustSucceed("DELETE", comp+"/disks/"+disk, nil)
	}
}

// marketRef has the machine boot from an image of the Marketplace.
func marketRef(publisher, offer, sku, version string) func(obj) {
	return setProperty("storageProfile",
		obj{"imageReference": obj{"publisher": publisher, "offer": offer, "sku": sku, "version": version},
			"osDisk": obj{"createOption": "FromImage"}})
}

func TestReferencesOfMachines(t *testing.T) {
	crg := func(name string) func(p obj) {
		return setProperty("capacityReservation", obj{"capacityReservationGroup": newRef(comp + "/capacityReservationGroups/" + name)})
	}
	flex := func(name string) func(p obj) {
		return setProperty("virtualMachineScaleSet", newRef(comp+"/virtualMachineScaleSets/"+name))
	}
	both := func(changes ...func(p obj)) func(p obj) {
		return func(p obj) {
			for _, change := range changes {
				change(p)
			}
		}
	}
	cases := map[string]refusal{
		"key":           {reason: "a key of the region", change: osDisk(diskSetKey("key"))},
		"no key":        {reason: "the key must exist", change: osDisk(diskSetKey("none")), code: "NotFound", message: notInHere},
		"key elsewhere": {reason: "keys are regional", change: osDisk(diskSetKey("key-east")), code: "NotFound", message: notInHere},
		"key, no ID": {reason: "Resource Manager reads IDs before Compute does",
			change: osDisk(obj{"managedDisk": obj{"diskEncryptionSet": newRef("key")}}), code: "LinkedInvalidPropertyId",
			message: "properties.osDisk.managedDisk.diskEncryptionSet.id"},
		"key of another type": {reason: "a disk is no key",
			change: osDisk(obj{"managedDisk": obj{"diskEncryptionSet": newRef(comp + "/disks/disk")}}), code: "InvalidParameter",
			message: "diskEncryptionSets"},
		"key for others": {reason: "confidential keys are for confidential VMs", change: osDisk(diskSetKey("cvm")),
			code: "InvalidParameter", message: "ConfidentialVmEncryptedWithCustomerKey"},
		"data key":    {reason: "data disks have keys, too", change: dataDisk(diskSetKey("key"))},
		"no data key": {reason: "the key must exist", change: dataDisk(diskSetKey("none")), code: "NotFound", message: notInHere},
		"attach": {reason: "a disk of the region",
			change: dataDisk(obj{"createOption": "Attach", "managedDisk": newRef(comp + "/disks/disk")})},
		"attach from elsewhere": {reason: "disks are regional",
			change: dataDisk(obj{"createOption": "Attach", "managedDisk": newRef(comp + "/disks/disk-east")}), code: "NotFound", message: notInHere},

		"image":    {reason: "a managed image of the region", change: imageRef("id", comp+"/images/img")},
		"no image": {reason: "the image must exist", change: imageRef("id", comp+"/images/none"), code: "NotFound", message: notInHere},
		"image elsewhere": {reason: "managed images are regional", change: imageRef("id", comp+"/images/img-east"), code: "NotFound",
			message: notInHere},
		"image, no ID": {reason: "a text that is no ID is no image", change: imageRef("id", "img"), code: "InvalidParameter",
			message: "imageReference.id"},
		"image of a disk": {reason: "a disk is no image", change: imageRef("id", comp+"/disks/disk"), code: "InvalidParameter",
			message: "imageReference.id"},
		"version": {reason: "a version in the region", change: imageRef("id", gallery+"/images/linux/versions/1.0.0")},
		"latest":  {reason: "a definition stands for its latest version", change: imageRef("id", gallery+"/images/linux")},
		"no version": {reason: "the version must exist", change: imageRef("id", gallery+"/images/linux/versions/9.0.0"),
			code: "GalleryImageNotFound", message: "versions/9.0.0 is not available in westus3 region"},
		"not replicated": {reason: "the version must be in the region", change: imageRef("id", gallery+"/images/linux/versions/2.0.0"),
			code: "GalleryImageNotFound", message: "replicate to this region"},
		"no gallery": {reason: "the gallery must exist", change: imageRef("id", comp+"/galleries/none/images/linux/versions/1.0.0"),
			code: "GalleryImageNotFound"},
		"shared": {reason: "by the unique name of a gallery",
			change: imageRef("sharedGalleryImageId", "/SharedGalleries/"+sub+"-G/Images/linux/Versions/1.0.0")},
		"not shared": {reason: "no such gallery is shared",
			change: imageRef("sharedGalleryImageId", "/SharedGalleries/"+sub+"-H/Images/linux/Versions/1.0.0"), code: "GalleryImageNotFound"},
		"shared, form": {reason: "a shared image has an ID of its own form", change: imageRef("sharedGalleryImageId", gallery+"/images/linux"),
			code: "InvalidParameter", message: "sharedGalleryImageId"},
		"no community": {reason: "no such community gallery exists",
			change: imageRef("communityGalleryImageId", "/CommunityGalleries/ClusterAPI/Images/capi-ubun2-2404/Versions/1.33.1"),
			code:   "GalleryImageNotFound"},
		"no such image": {reason: "the community gallery has no such image",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-9999/Versions/1.33.1"),
			code: "GalleryImageNotFound"},
		"Azure Linux": {reason: "Cluster API publishes it beside Ubuntu",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-azurelinux-3/Versions/1.33.1")},
		"no such release": {reason: "Kubernetes has no such release, so no image has the version",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.99.0"),
			code: "GalleryImageNotFound"},
		"no such patch": {reason: "a minor release has some fifteen patches",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.33.99"),
			code: "GalleryImageNotFound"},
		"Flatcar": {reason: "the name has the release of Kubernetes, the version that of Flatcar",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/flatcar4capi-742ef0cb-dcaa-4ecb-9cb0-bfd2e43dccc0/Images/flatcar-stable-amd64-capi-v1.33.1/Versions/4152.2.1")},
		"no such Flatcar": {reason: "Flatcar has no such version",
			change: imageRef("communityGalleryImageId",
				"/CommunityGalleries/flatcar4capi-742ef0cb-dcaa-4ecb-9cb0-bfd2e43dccc0/Images/flatcar-stable-amd64-capi-v1.33.1/Versions/1.33.1"),
			code: "GalleryImageNotFound"},
		"in the market": {reason: "cncf-upstream published it",
			change: marketRef("cncf-upstream", "capi", "ubuntu-2204-gen1", "130.3.20240717")},
		"not in the market": {reason: "cncf-upstream never published it",
			change: marketRef("cncf-upstream", "capi", "ubuntu-2204-gen1", "131.1.20250110"), code: "PlatformImageNotFound",
			message: "The platform image 'cncf-upstream:capi:ubuntu-2204-gen1:131.1.20250110' is not available"},
		"latest in the market": {reason: "every image has a latest version",
			change: marketRef("cncf-upstream", "capi", "ubuntu-2204-gen1", "latest")},
		"Ubuntu of another day": {reason: "Canonical has more versions than are listed here",
			change: marketRef("Canonical", "ubuntu-24_04-lts", "server", "24.04.202502210")},
		"Ubuntu of no day": {reason: "Canonical's versions have a date",
			change: marketRef("Canonical", "ubuntu-24_04-lts", "server", "24.04.20259999"), code: "PlatformImageNotFound"},
		"Ubuntu of the future": {reason: "it is not built yet", change: marketRef("Canonical", "ubuntu-24_04-lts", "server", "24.04.20990101"),
			code: "PlatformImageNotFound"},
		"Ubuntu by no version": {reason: "Canonical's versions begin with the release",
			change: marketRef("Canonical", "ubuntu-24_04-lts", "server", "1.0.0"), code: "PlatformImageNotFound"},
		"a publisher with a space": {reason: "recorded", change: marketRef("this publisher", "does not", "exist", "latest"), code: "InvalidParameter",
			message: "The value of parameter imageReference.publisher is invalid."},
		"another publisher's version": {reason: "nothing is known of other images", change: marketRef("acme", "rockets", "big", "1.0.0")},
		"community, form": {reason: "a community image has an ID of its own form",
			change: imageRef("communityGalleryImageId", "/ClusterAPI/capi-ubun2-2404"), code: "InvalidParameter",
			message: "communityGalleryImageId"},
		"marketplace": {reason: "versions have three numbers",
			change: setProperty("storageProfile",
				obj{"imageReference": obj{"publisher": "p", "offer": "o", "sku": "s", "version": "1.33"}, "osDisk": obj{"createOption": "FromImage"}}),
			code: "InvalidParameter", message: "imageReference.version"},
		"windows image": {reason: "the system must be the image's",
			change: both(imageRef("id", gallery+"/images/windows/versions/1.0.0"), osDisk(obj{"osType": "Linux"})), code: "InvalidParameter",
			message: "the image is for Windows"},
		"special image": {reason: "a specialised image has its users", change: imageRef("id", gallery+"/images/special/versions/1.0.0"),
			code: "InvalidParameter", message: "'osProfile' is not allowed"},
		"arm image": {reason: "the size is of another architecture", change: imageRef("id", gallery+"/images/arm/versions/1.0.0"),
			code: "BadRequest", message: "CPU Architecture 'Arm64'"},

		"set elsewhere": {reason: "availability sets are regional",
			change: setProperty("availabilitySet", newRef(comp+"/availabilitySets/as-east")),
			zones:  []any{}, code: "NotFound", message: notInHere},
		"group": {reason: "a proximity placement group of the region",
			change: setProperty("proximityPlacementGroup", newRef(comp+"/proximityPlacementGroups/ppg"))},
		"no group": {reason: "the proximity placement group must exist",
			change: setProperty("proximityPlacementGroup", newRef(comp+"/proximityPlacementGroups/none")), code: "NotFound", message: notInHere},
		"flexible":     {reason: "a scale set of the region that has the zone", change: flex("flex")},
		"no scale set": {reason: "the scale set must exist", change: flex("none"), code: "NotFound", message: notInHere},
		"set far away": {reason: "scale sets are regional", change: flex("flex-east"), code: "NotFound", message: notInHere},
		"uniform": {reason: "uniform scale sets make their machines themselves", change: flex("uniform"), code: "InvalidParameter",
			message: "orchestration mode 'Uniform'"},
		"zone of set": {reason: "the scale set is in zone 1 only", change: flex("flex"), zones: []any{"2"}, code: "BadRequest",
			message: "which is in zones '1'"},
		"regional set": {reason: "a zonal VM cannot be in a regional scale set", change: flex("regional"), code: "BadRequest",
			message: "cannot be added"},
		"two sets": {reason: "a VM is in one kind of set",
			change: both(flex("regional"), setProperty("availabilitySet", newRef(comp+"/availabilitySets/as"))), zones: []any{}, code: "BadRequest",
			message: "at the same time"},
		"reservation": {reason: "a reservation for size and zone", change: crg("crg")},
		"no group there": {reason: "the reservation group must exist", change: crg("none"),
			code: "NotFound", message: notInHere},
		"group far away": {reason: "reservations are regional", change: crg("crg-east"), code: "NotFound", message: notInHere},
		"zone of group": {reason: "nothing is reserved in zone 2", change: crg("crg"), zones: []any{"2"}, code: "InvalidParameter",
			message: "in zones '2'"},
		"size of group": {reason: "nothing is reserved for the size",
			change: both(crg("crg"), setProperty("hardwareProfile", obj{"vmSize": "Standard_D4s_v3"})), code: "InvalidParameter",
			message: "Standard_D4s_v3"},
		"spot in group": {reason: "spot VMs use unreserved capacity", change: both(crg("crg"), setProperty("priority", "Spot")),
			code: "BadRequest", message: "Spot"},
		"group in a group": {reason: "a proximity placement group excludes reservations",
			change: both(crg("crg"), setProperty("proximityPlacementGroup", newRef(comp+"/proximityPlacementGroups/ppg"))), code: "BadRequest",
			message: "proximity placement group"},
	}
	a := newAzure(t)
	a.createBrought()
	for name, tc := range cases {
		a.tryRefusal(name, tc)
	}
}

func TestCommunityGallery(t *testing.T) {
	a := newAzure(t)
	a.createBrought()
	names, _ := a.sendRequest("GET", gallery, nil).valueAt("properties.sharingProfile.communityGalleryInfo.publicNames").([]any)
	if len(names) != 1 {
		t.Fatalf("public names %v", names)
	}
	a.tryRefusal("community",
		refusal{reason: "a gallery is found by its public name",
			change: imageRef("communityGalleryImageId", "/CommunityGalleries/"+names[0].(string)+"/Images/linux/Versions/1.0.0")})
}

// TestWhatMachinesUseStays tests that nothing goes that something refers to.
func TestWhatMachinesUseStays(t *testing.T) {
	a := newAzure(t)
	a.createBrought()
	a.mustSucceed("PUT", vmID, newVM("nic1", func(p obj) {
		osDisk(diskSetKey("key"))(p)
		p["capacityReservation"] = obj{"capacityReservationGroup": newRef(comp + "/capacityReservationGroups/crg")}
	}))
	if id := a.sendRequest("GET", comp+"/capacityReservationGroups/crg",
		nil).valueAt("properties.virtualMachinesAssociated.0.id"); id != vmID {
		t.Errorf("the group shows the VM %v", id)
	}
	if kind := a.sendRequest("GET", a.sendRequest("GET", vmID, nil).valueAt("properties.storageProfile.osDisk.managedDisk.id").(string),
		nil).valueAt("properties.encryption.type"); kind != "EncryptionAtRestWithCustomerKey" {
		t.Errorf("the disk is encrypted by %v", kind)
	}
	for id, code := range map[string]string{
		comp + "/diskEncryptionSets/key":             "OperationNotAllowed",
		comp + "/capacityReservationGroups/crg":      "OperationNotAllowed",
		comp + "/capacityReservationGroups/crg-east": "OperationNotAllowed", // has a reservation
		gallery:                   "CannotDeleteResource",
		gallery + "/images/linux": "CannotDeleteResource",
	} {
		if r := a.sendRequest("DELETE", id, nil); r.errorCode() != code {
			t.Errorf("DELETE %s: %d %s, want %s", id, r.status, r.errorCode(), code)
		}
	}
	a.mustSucceed("DELETE", comp+"/diskEncryptionSets/cvm", nil)
	// The source of a machine may be deleted, and a PUT of the machine is still accepted.
	body := a.sendRequest("GET", vmID, nil).body
	a.mustSucceed("DELETE", comp+"/capacityReservationGroups/crg/capacityReservations/d2s", nil)
	if r := a.sendRequest("PUT", vmID, body); r.status != 200 {
		t.Errorf("PUT of an existing resource: %d %s", r.status, r.errorMessage())
	}
}

func TestDisksAreRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		zones  []any
		change obj
		code   string
	}{
		"key": {reason: "a key of the region", change: obj{"encryption": obj{"diskEncryptionSetId": comp + "/diskEncryptionSets/key"}}},
		"no key": {reason: "the key must exist", change: obj{"encryption": obj{"diskEncryptionSetId": comp + "/diskEncryptionSets/none"}},
			code: "NotFound"},
		"far away": {reason: "keys are regional", change: obj{"encryption": obj{"diskEncryptionSetId": comp + "/diskEncryptionSets/key-east"}},
			code: "NotFound"},
		"no image": {reason: "the version must exist",
			change: obj{"creationData": obj{"createOption": "FromImage", "galleryImageReference": newRef(gallery + "/images/linux/versions/3.0.0")}},
			code:   "GalleryImageNotFound"},
		"no copy": {reason: "the source must exist",
			change: obj{"creationData": obj{"createOption": "Copy", "sourceResourceId": comp + "/disks/none"}}, code: "NotFound"},
		"zone": {reason: "regions have three zones at most", zones: []any{"4"}, code: "InvalidAvailabilityZone"},
	}
	a := newAzure(t)
	a.createBrought()
	for name, tc := range cases {
		p := obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 32}
		for k, v := range tc.change {
			p[k] = v
		}
		r := a.sendRequest("PUT", comp+"/disks/new", obj{"location": "westus3", "zones": tc.zones, "properties": p})
		if r.errorCode() != tc.code {
			t.Errorf("%s: %s: got %d %s, want %q", name, tc.reason, r.status, r.errorCode(), tc.code)
		}
		a.mustSucceed("DELETE", comp+"/disks/new", nil)
	}
}

func TestReferencesToAnotherRegion(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	east := func(o obj) obj {
		o["location"] = "eastus"
		return o
	}
	a.mustSucceed("PUT", net+"/networkSecurityGroups/nsg-east", east(obj{}))
	a.mustSucceed("PUT", net+"/routeTables/rt-east", east(obj{}))
	a.mustSucceed("PUT", net+"/publicIPAddresses/pip-east", east(publicIP("east")))
	a.mustSucceed("PUT", net+"/publicIPPrefixes/prefix-east", east(obj{"properties": obj{"prefixLength": 28}}))
	a.mustSucceed("PUT", net+"/natGateways/nat-east", east(obj{}))
	a.mustSucceed("PUT", net+"/applicationSecurityGroups/asg-east", east(obj{}))
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet-east",
		east(obj{"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
			"subnets": []any{obj{"name": "cp", "properties": obj{"addressPrefix": "10.0.0.0/24"}}}}}))
	subnet := func(field, id string) obj {
		return obj{"properties": obj{"addressPrefix": "10.9.0.0/24", field: newRef(net + id)}}
	}
	frontend := func(p obj) obj {
		return obj{"location": "westus3", "sku": obj{"name": "Standard"},
			"properties": obj{"frontendIPConfigurations": []any{obj{"name": "fe", "properties": p}}}}
	}
	withGroup := newNIC("cp", nil)
	withGroup["properties"].(obj)["networkSecurityGroup"] = newRef(net + "/networkSecurityGroups/nsg-east")
	for name, tc := range map[string]struct {
		path string
		body obj
	}{
		"security group of a subnet": {"/virtualNetworks/vnet/subnets/new",
			subnet("networkSecurityGroup", "/networkSecurityGroups/nsg-east")},
		"route table of a subnet": {"/virtualNetworks/vnet/subnets/new", subnet("routeTable", "/routeTables/rt-east")},
		"NAT gateway of a subnet": {"/virtualNetworks/vnet/subnets/new", subnet("natGateway", "/natGateways/nat-east")},
		"address of a NAT gateway": {"/natGateways/new",
			obj{"location": "westus3", "properties": obj{"publicIpAddresses": newRefs(net + "/publicIPAddresses/pip-east")}}},
		"prefix of a NAT gateway": {"/natGateways/new",
			obj{"location": "westus3", "properties": obj{"publicIpPrefixes": newRefs(net + "/publicIPPrefixes/prefix-east")}}},
		"address of a load balancer": {"/loadBalancers/new",
			frontend(obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip-east")})},
		"prefix of a load balancer": {"/loadBalancers/new",
			frontend(obj{"publicIPPrefix": newRef(net + "/publicIPPrefixes/prefix-east")})},
		"subnet of a load balancer": {"/loadBalancers/new",
			frontend(obj{"subnet": newRef(net + "/virtualNetworks/vnet-east/subnets/cp")})},
		"security group of an interface": {"/networkInterfaces/new", withGroup},
		"address of an interface": {"/networkInterfaces/new",
			newNIC("cp", obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip-east")})},
		"subnet of an interface": {"/networkInterfaces/new",
			newNIC("cp", obj{"subnet": newRef(net + "/virtualNetworks/vnet-east/subnets/cp")})},
		"application security group of interface": {"/networkInterfaces/new",
			newNIC("cp", obj{"applicationSecurityGroups": newRefs(net + "/applicationSecurityGroups/asg-east")})},
	} {
		if r := a.sendRequest("PUT", net+tc.path, tc.body); r.status != 400 || !strings.HasPrefix(r.errorCode(), "InvalidResourceReference") ||
			!strings.Contains(r.errorMessage(), "same region") {
			t.Errorf("%s: %d %s %s", name, r.status, r.errorCode(), r.errorMessage())
		}
	}
	zones := frontend(obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/cp")})
	zones["properties"].(obj)["frontendIPConfigurations"].([]any)[0].(obj)["zones"] = []any{"5"}
	if r := a.sendRequest("PUT", net+"/loadBalancers/new", zones); !strings.HasPrefix(r.errorCode(), "AvailabilityZoneNotSupported") {
		t.Errorf("zone of a frontend: %d %s", r.status, r.errorCode())
	}
}
