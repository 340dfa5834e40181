package pool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// fixedRemedy ends the message about each property that cannot change.
const fixedRemedy = "The scale set keeps its whole template and its zones, also for VMs that are added. Set the former value, or create another machine pool"

// CheckFixedProperties returns an error for each property that differs from the existing scale set and that Azure cannot change there. A
// PUT with one of them is refused as a whole, so the scale set has to keep its template and its zones.
//
// Publisher and offer, and the kind of image: "Image reference publisher and offer can only be set when you create the scale set."
// (armcompute, ImageReference), https://github.com/MicrosoftDocs/azure-docs/issues/89791. SKU of an image with a plan:
// https://github.com/Azure/azure-powershell/issues/11911. Storage account type: https://github.com/MicrosoftDocs/azure-docs/issues/48120.
// Operating system and priority: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-upgrade-policy.
// Ephemeral disk: Azure keeps settings that a PUT leaves out, and the option that makes a disk ephemeral has no other value.
// Zones: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-use-availability-zones.
func CheckFixedProperties(in Input) (field.ErrorList, error) {
	if !in.PoolFacts.ScaleSetExists {
		return nil, nil
	}
	var stored armcompute.VirtualMachineScaleSet
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return nil, arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	errs := checkFixedZones(in, stored.Zones)
	if stored.Properties == nil || stored.Properties.VirtualMachineProfile == nil || stored.Properties.VirtualMachineProfile.StorageProfile == nil {
		return errs, nil
	}
	p := buildProfile(in)
	wanted, err := vm.BuildScaleSetProfile(p)
	if err != nil {
		return nil, err
	}
	have := stored.Properties.VirtualMachineProfile
	template := field.NewPath("spec", "template")
	if err := checkFixedImage(p, have.StorageProfile.ImageReference, wanted.StorageProfile.ImageReference, stored.Plan != nil,
		template.Child("image")); err != nil {
		errs = append(errs, err)
	}
	return append(errs, checkFixedSettings(have, wanted, template)...), nil
}

// checkFixedSettings compares the settings of VMs that Azure cannot change in a scale set. A setting that one side leaves to Azure does not
// count.
func checkFixedSettings(have, want *armcompute.VirtualMachineScaleSetVMProfile, template *field.Path) field.ErrorList {
	var errs field.ErrorList
	disk := template.Child("osDisk")
	for _, setting := range []struct {
		path    *field.Path
		fault   string
		was, is string
		wanted  any
	}{
		{disk.Child("osType"), "the operating system of a scale set's VMs", osType(have), osType(want), osType(want)},
		{disk.Child("managedDisk", "storageAccountType"), "the storage account type of a scale set's OS disk", storageAccountType(have),
			storageAccountType(want), storageAccountType(want)},
		{disk.Child("diffDiskSettings"), "the kind of a scale set's OS disk", diskKind(have, true), diskKind(want, false), nil},
		{template.Child("spotVMOptions"), "the priority of a scale set's VMs", priority(have), priority(want), priority(want)},
	} {
		if setting.was == "" || setting.is == "" || strings.EqualFold(setting.was, setting.is) {
			continue
		}
		errs = append(errs, field.Invalid(setting.path, setting.wanted,
			fmt.Sprintf("Azure cannot change %s, which is %s. %s", setting.fault, setting.was, fixedRemedy)))
	}
	return errs
}

// checkFixedZones compares the zones of the MachinePool with those of the scale set, to which Azure can only add zones.
func checkFixedZones(in Input, stored []*string) field.ErrorList {
	if in.MachinePool == nil {
		return nil
	}
	var have []string
	for _, zone := range stored {
		have = append(have, plan.Dereference(zone))
	}
	slices.Sort(have)
	want, path := in.MachinePool.Spec.FailureDomains, field.NewPath("MachinePool", "spec", "failureDomains")
	removed := slices.DeleteFunc(slices.Clone(have), func(zone string) bool { return slices.Contains(want, zone) })
	switch {
	case len(removed) > 0:
		return field.ErrorList{field.Invalid(path, strings.Join(want, ", "), fmt.Sprintf("Azure cannot take a scale set out of a zone, and this one is in %s, of which %s is missing. %s",
			strings.Join(have, ", "), strings.Join(removed, ", "), fixedRemedy))}
	case len(have) == 0 && len(want) > 0:
		return field.ErrorList{field.Invalid(path, strings.Join(want, ", "), "Azure cannot move a scale set without zones into zones. "+fixedRemedy)}
	}
	return nil
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

func storageAccountType(profile *armcompute.VirtualMachineScaleSetVMProfile) string {
	disk := profile.StorageProfile.OSDisk
	if disk == nil || disk.ManagedDisk == nil {
		return ""
	}
	return string(plan.Dereference(disk.ManagedDisk.StorageAccountType))
}

func osType(profile *armcompute.VirtualMachineScaleSetVMProfile) string {
	if profile.StorageProfile.OSDisk == nil {
		return ""
	}
	return string(plan.Dereference(profile.StorageProfile.OSDisk.OSType))
}

// diskKind returns whether the OS disk is ephemeral. A managed one is not compared if onlyEphemeral is true.
func diskKind(profile *armcompute.VirtualMachineScaleSetVMProfile, onlyEphemeral bool) string {
	disk := profile.StorageProfile.OSDisk
	switch {
	case disk != nil && disk.DiffDiskSettings != nil && disk.DiffDiskSettings.Option != nil:
		return "ephemeral"
	case onlyEphemeral:
		return ""
	}
	return "managed"
}

// priority returns the priority of VMs. Azure's default is Regular.
func priority(profile *armcompute.VirtualMachineScaleSetVMProfile) string {
	return cmp.Or(string(plan.Dereference(profile.Priority)), string(armcompute.VirtualMachinePriorityTypesRegular))
}
