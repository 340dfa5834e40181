package compute

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// imagePath is the path of the image of a scale set's VMs.
const imagePath = profilePath + ".storageProfile.imageReference"

// imageIDs are the kinds of images that are not in the Marketplace.
var imageIDs = []string{"id", "communityGalleryImageId", "sharedGalleryImageId"}

// checkImageChange refuses changes of the image and of the OS disk that Azure allows only at the creation of a scale set.
//
// Sources: "Image reference publisher and offer can only be set when you create the scale set." (armcompute, ImageReference); code and text
// for a Marketplace image that becomes a custom one: https://github.com/MicrosoftDocs/azure-docs/issues/89791 and
// https://github.com/MicrosoftDocs/azure-docs/issues/92371, whose status is that of https://github.com/MicrosoftDocs/azure-docs/issues/32800;
// the SKU of an image with a plan: https://github.com/Azure/azure-powershell/issues/11911; the storage account type:
// https://github.com/MicrosoftDocs/azure-docs/issues/48120, with the text that the schema of Terraform's azurerm cites. No recording
// has a change between images that are not in the Marketplace: it is allowed here.
func checkImageChange(d *provider.Draft) error {
	was, image := body.Child(d.Old, imagePath), body.Child(d.New, imagePath)
	if was != nil && image != nil {
		fromMarketplace := body.String(was, "publisher") != ""
		for _, key := range imageIDs {
			if fromMarketplace && body.String(image, key) != "" {
				return imageTypeChange()
			}
		}
		if !fromMarketplace && body.String(image, "publisher") != "" {
			return imageTypeChange()
		}
		dropReplacedIDs(was, image)
		fixed := []string{"publisher", "offer"}
		if body.Child(d.Old, "plan") != nil {
			fixed = append(fixed, "sku")
		}
		for _, key := range fixed {
			if err := changeOnceOnly(d, "imageReference."+key); err != nil {
				return err
			}
		}
	}
	return changeOnceOnly(d, "osDisk.managedDisk.storageAccountType")
}

func imageTypeChange() error {
	return provider.Errorf(409, "OperationNotAllowed", "The Image type for a Virtual Machine Scale Set may not be changed.")
}

// changeOnceOnly refuses another value of a property of the storage profile that has one. Azure names it without its parents.
func changeOnceOnly(d *provider.Draft, path string) error {
	const parent = "virtualMachineProfile.storageProfile."
	if was := body.Get(d.Old, "properties."+parent+path); was != nil {
		body.Default(d.New, "properties."+parent+path, was)
	}
	if changeNotAllowed(d, parent+path) != nil {
		return propertyChange(path)
	}
	return nil
}

// dropReplacedIDs removes the former ID that a PUT has merged with one of another kind.
func dropReplacedIDs(was, image body.Object) {
	for _, key := range imageIDs {
		if body.String(image, key) == "" || body.String(was, key) != "" {
			continue
		}
		for _, other := range imageIDs {
			if other != key && body.String(image, other) == body.String(was, other) {
				body.Delete(image, other)
			}
		}
	}
}
