package server_test

import (
	"strings"
	"testing"
)

// TestScaleSetImageIsFixed changes parts of the image and of the OS disk of a scale set. The pool keeps its image, and grows without them.
func TestScaleSetImageIsFixed(t *testing.T) {
	const community = "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/"
	flatcar := obj{"name": "stable-gen2", "publisher": "kinvolk", "product": "flatcar-container-linux-free"}
	upstream := func(publisher, offer, sku, version string) obj {
		return obj{"publisher": publisher, "offer": offer, "sku": sku, "version": version}
	}
	market := upstream("cncf-upstream", "capi", "ubuntu-2204-gen1", "130.3.20240717")
	for name, test := range map[string]struct {
		reason        string
		from, to      obj
		plan          obj
		disk          string
		code, message string
	}{
		"same": {reason: "nothing changes", from: market, to: market},
		"letters of the publisher": {reason: "names of the Marketplace have no case", from: market,
			to: upstream("CNCF-Upstream", "capi", "ubuntu-2204-gen1", "130.3.20240717")},
		"version":        {reason: "it may change", from: market, to: upstream("cncf-upstream", "capi", "ubuntu-2204-gen1", "130.2.20240612")},
		"SKU":            {reason: "it may change without a plan", from: market, to: upstream("cncf-upstream", "capi", "ubuntu-1804-gen1", "latest")},
		"image of an ID": {reason: "it is of the same kind", from: obj{"communityGalleryImageId": community + "1.33.1"}, to: obj{"communityGalleryImageId": community + "1.34.0"}},
		"publisher": {reason: "it is fixed", from: market, to: upstream("Canonical", "capi", "ubuntu-2204-gen1", "latest"),
			code: "PropertyChangeNotAllowed", message: "Changing property 'imageReference.publisher' is not allowed."},
		"offer": {reason: "it is fixed", from: market, to: upstream("cncf-upstream", "capi-windows", "ubuntu-2204-gen1", "latest"),
			code: "PropertyChangeNotAllowed", message: "Changing property 'imageReference.offer' is not allowed."},
		"SKU with a plan": {reason: "it is fixed", plan: flatcar,
			from: upstream("kinvolk", "flatcar-container-linux-free", "stable-gen2", "latest"),
			to:   upstream("kinvolk", "flatcar-container-linux-free", "beta-gen2", "latest"),
			code: "PropertyChangeNotAllowed", message: "Changing property 'imageReference.sku' is not allowed."},
		"Marketplace to gallery": {reason: "the kind is fixed", from: market, to: obj{"communityGalleryImageId": community + "1.31.0"},
			code: "OperationNotAllowed", message: "The Image type for a Virtual Machine Scale Set may not be changed."},
		"gallery to Marketplace": {reason: "the kind is fixed", from: obj{"communityGalleryImageId": community + "1.31.0"}, to: market,
			code: "OperationNotAllowed", message: "The Image type for a Virtual Machine Scale Set may not be changed."},
		"storage account type": {reason: "it is fixed", from: market, to: market, disk: "StandardSSD_LRS",
			code: "PropertyChangeNotAllowed", message: "Changing property 'osDisk.managedDisk.storageAccountType' is not allowed."},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.createBase()
			build := func(capacity int, image obj, disk string) obj {
				return scaleSet(capacity, func(set, profile obj) {
					if test.plan != nil {
						set["plan"] = test.plan
					}
					storage := profile["storageProfile"].(obj)
					storage["imageReference"] = image
					if disk != "" {
						storage["osDisk"].(obj)["managedDisk"] = obj{"storageAccountType": disk}
					}
				})
			}
			a.mustSucceed("PUT", pool, build(1, test.from, ""))
			r := a.sendRequest("PUT", pool, build(2, test.to, test.disk))
			if r.errorCode() != test.code || !strings.Contains(r.errorMessage(), test.message) || test.code != "" && r.status != 409 {
				t.Errorf("%s: %d %v", test.reason, r.status, r.body)
			}
			if test.code == "" {
				return
			}
			got := a.sendRequest("GET", pool, nil)
			if n := got.valueAt("sku.capacity"); n != 1.0 {
				t.Errorf("capacity %v after a refusal", n)
			}
			for key, value := range test.from {
				if now := got.valueAt("properties.virtualMachineProfile.storageProfile.imageReference." + key); now != value {
					t.Errorf("%s is %v after a refusal, want %v", key, now, value)
				}
			}
		})
	}
}
