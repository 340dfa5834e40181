package pool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// fixedRemedy ends the message about each property that cannot change.
const fixedRemedy = "The scale set keeps its whole template, also for VMs that are added. Set the former value, or create another machine pool"

// CheckFixedProperties returns an error for each property of the template that differs from the existing scale set and that Azure cannot
// change there. A PUT with one of them is refused as a whole, so the scale set has to keep its template.
//
// Publisher and offer, and the kind of image: "Image reference publisher and offer can only be set when you create the scale set."
// (armcompute, ImageReference), https://github.com/MicrosoftDocs/azure-docs/issues/89791. SKU of an image with a plan:
// https://github.com/Azure/azure-powershell/issues/11911. Storage account type: https://github.com/MicrosoftDocs/azure-docs/issues/48120.
func CheckFixedProperties(in Input) (field.ErrorList, error) {
	if !in.PoolFacts.ScaleSetExists {
		return nil, nil
	}
	var stored armcompute.VirtualMachineScaleSet
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return nil, arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	if stored.Properties == nil || stored.Properties.VirtualMachineProfile == nil || stored.Properties.VirtualMachineProfile.StorageProfile == nil {
		return nil, nil
	}
	p := buildProfile(in)
	wanted, err := vm.BuildScaleSetProfile(p)
	if err != nil {
		return nil, err
	}
	have, want := stored.Properties.VirtualMachineProfile.StorageProfile, wanted.StorageProfile
	template := field.NewPath("spec", "template")
	var errs field.ErrorList
	if err := checkFixedImage(p, have.ImageReference, want.ImageReference, stored.Plan != nil, template.Child("image")); err != nil {
		errs = append(errs, err)
	}
	if was, is := storageAccountType(have.OSDisk), storageAccountType(want.OSDisk); was != "" && is != "" && !strings.EqualFold(was, is) {
		errs = append(errs, field.Invalid(template.Child("osDisk", "managedDisk", "storageAccountType"), is,
			fmt.Sprintf("Azure cannot change the storage account type of a scale set's OS disk, which is %s. %s", was, fixedRemedy)))
	}
	return errs, nil
}

// checkFixedImage compares the image of the spec with that of the scale set. It returns nil if Azure accepts the change.
func checkFixedImage(p vm.Profile, have, want *armcompute.ImageReference, hasPlan bool, path *field.Path) *field.Error {
	if have == nil || want == nil {
		return nil
	}
	var value any
	if p.VirtualMachineProfile.Image == nil {
		path, value = field.NewPath("MachinePool", "spec", "template", "spec", "version"), p.Version
	} else {
		value = describeImage(want)
	}
	invalid := func(property string) *field.Error {
		return field.Invalid(path, value, fmt.Sprintf("Azure cannot change the %s of a scale set's image from %s to %s. %s", property,
			describeImage(have), describeImage(want), fixedRemedy))
	}
	if isInMarketplace(have) != isInMarketplace(want) {
		return invalid("kind")
	}
	for _, property := range []struct {
		name       string
		have, want *string
		isMutable  bool
	}{
		{"publisher", have.Publisher, want.Publisher, false},
		{"offer", have.Offer, want.Offer, false},
		{"SKU", have.SKU, want.SKU, !hasPlan},
	} {
		if !property.isMutable && !strings.EqualFold(plan.Dereference(property.have), plan.Dereference(property.want)) {
			return invalid(property.name)
		}
	}
	return nil
}

func isInMarketplace(image *armcompute.ImageReference) bool {
	return plan.Dereference(image.Publisher) != ""
}

// describeImage returns the kind and the name of an image.
func describeImage(image *armcompute.ImageReference) string {
	if isInMarketplace(image) {
		return fmt.Sprintf("Marketplace image %s:%s:%s:%s", plan.Dereference(image.Publisher), plan.Dereference(image.Offer), plan.Dereference(image.SKU),
			plan.Dereference(image.Version))
	}
	return "image " + plan.Dereference(image.ID) + plan.Dereference(image.CommunityGalleryImageID) + plan.Dereference(image.SharedGalleryImageID)
}

func storageAccountType(disk *armcompute.VirtualMachineScaleSetOSDisk) string {
	if disk == nil || disk.ManagedDisk == nil {
		return ""
	}
	return string(plan.Dereference(disk.ManagedDisk.StorageAccountType))
}
