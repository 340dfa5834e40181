package vm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Names of capabilities in the SKU catalog:
// https://learn.microsoft.com/en-us/rest/api/compute/resource-skus/list
const (
	capabilityAccelerated  = "AcceleratedNetworkingEnabled"
	capabilityConfidential = "ConfidentialComputingType"
	capabilityEncryption   = "EncryptionAtHostSupported"
	capabilityEphemeral    = "EphemeralOSDiskSupported"
	capabilityPlacements   = "SupportedEphemeralOSDiskPlacements"
	capabilityMaxDisks     = "MaxDataDiskCount"
	capabilityMaxNICs      = "MaxNetworkInterfaces"
	capabilityPremium      = "PremiumIO"
	capabilitySpot         = "LowPriorityCapable"
	capabilityNoTrusted    = "TrustedLaunchDisabled"
	capabilityUltra        = "UltraSSDAvailable"
)

// newCapabilityError returns the error for a field that asks for a feature which the size lacks. The message has the catalog's name of the
// capability.
func newCapabilityError(path *field.Path, size, feature, capability string) *field.Error {
	return field.Forbidden(path,
		fmt.Sprintf("VM size %s does not support %s (capability %s): choose another size or remove the field", size, feature, capability))
}

// newLimitError returns the error for a list with more items than the size allows.
func newLimitError(path *field.Path, size, items string, has, limit int, capability string) *field.Error {
	return field.Invalid(path, has,
		fmt.Sprintf("VM size %s allows at most %d %s (capability %s): remove some or choose another size", size, limit, items, capability))
}

// lacksCapability returns true if the catalog has "False" for the capability. A catalog without an entry leaves the
// decision to Azure.
func lacksCapability(size *plan.VMSize, capability string) bool {
	return strings.EqualFold(size.Capabilities[capability], "False")
}

// capabilityLimit returns the number in the catalog. ok is false if there is none.
func capabilityLimit(size *plan.VMSize, capability string) (n int, ok bool) {
	n, err := strconv.Atoi(size.Capabilities[capability])
	return n, err == nil
}

func checkDisks(p Profile, path *field.Path) field.ErrorList {
	size := p.Size
	errs := checkEphemeral(p, path.Child("osDisk", "diffDiskSettings"))
	if most, ok := capabilityLimit(size, capabilityMaxDisks); ok && len(p.DataDisks) > most {
		errs = append(errs, newLimitError(path.Child("dataDisks"), p.VMSize, "data disks", len(p.DataDisks), most, capabilityMaxDisks))
	}
	if lacksCapability(size, capabilityPremium) {
		if isPremium(p.OSDisk.ManagedDisk) {
			errs = append(errs, newCapabilityError(path.Child("osDisk", "managedDisk", "storageAccountType"), p.VMSize, "premium disks",
				capabilityPremium))
		}
		for i, disk := range p.DataDisks {
			if isPremium(disk.ManagedDisk) {
				errs = append(errs, newCapabilityError(path.Child("dataDisks").Index(i).Child("managedDisk", "storageAccountType"), p.VMSize,
					"premium disks", capabilityPremium))
			}
		}
	}
	return append(errs, checkUltra(p, path)...)
}

func checkEphemeral(p Profile, path *field.Path) field.ErrorList {
	settings, size := p.OSDisk.DiffDiskSettings, p.Size
	switch {
	case settings == nil:
		return nil
	case !size.HasCapability(capabilityEphemeral):
		return field.ErrorList{newCapabilityError(path, p.VMSize, "an ephemeral OS disk", capabilityEphemeral)}
	case settings.Placement == nil || size.Capabilities[capabilityPlacements] == "":
		return nil
	}
	places := strings.Split(size.Capabilities[capabilityPlacements], ",")
	if slices.ContainsFunc(places, func(place string) bool {
		return strings.EqualFold(strings.TrimSpace(place), string(*settings.Placement))
	}) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("placement"), *settings.Placement,
		fmt.Sprintf("VM size %s supports an ephemeral OS disk only on %s (capability %s): choose one of these, another size, or remove the field",
			p.VMSize, strings.Join(places, ", "), capabilityPlacements))}
}

func isPremium(disk *infrav1.ManagedDiskParameters) bool {
	return disk != nil && strings.HasPrefix(disk.StorageAccountType, "Premium")
}

func checkUltra(p Profile, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	wantsUltra := hasUltraDisk(p)
	if capabilities := p.AdditionalCapabilities; capabilities != nil && capabilities.UltraSSDEnabled != nil {
		if !*capabilities.UltraSSDEnabled && wantsUltra {
			errs = append(errs, field.Invalid(path.Child("additionalCapabilities", "ultraSSDEnabled"), false,
				"a data disk is of type UltraSSD_LRS, which needs it: set it to true or leave it out"))
		}
		wantsUltra = wantsUltra || *capabilities.UltraSSDEnabled
	}
	if !wantsUltra || canUseUltraDisks(p) {
		return errs
	}
	return append(errs, newCapabilityError(path.Child("dataDisks"), p.VMSize, "ultra disks "+describePlace(p.Place), capabilityUltra))
}

// describePlace returns the place of the VM in words.
func describePlace(place Place) string {
	switch len(place.Zones) {
	case 0:
		return "in region " + place.Region
	case 1:
		return "in zone " + place.Zones[0] + " of region " + place.Region
	default:
		return "in zones " + strings.Join(place.Zones, ", ") + " of region " + place.Region
	}
}

// DescribeRequest returns the size and the place of the VM in words, for errors about quota and capacity. Azure's own
// messages contain them in some cases only.
func DescribeRequest(p Profile) string {
	asked := "VM size " + p.VMSize
	if p.Size != nil {
		asked += fmt.Sprintf(" (%d vCPUs)", p.Size.VCPUs)
	}
	if p.SpotVMOptions != nil {
		asked += " as a spot VM"
	}
	return asked + " " + describePlace(p.Place)
}

// canUseUltraDisks returns true if the size supports ultra disks wherever the VM may be placed: in each of its zones, or
// in the region without a zone.
func canUseUltraDisks(p Profile) bool {
	if p.Size.HasCapability(capabilityUltra) {
		return true
	}
	has := func(zone string) bool { return p.Size.ZoneCapabilities[zone][capabilityUltra] == "True" }
	if len(p.Place.Zones) == 0 {
		return slices.ContainsFunc(slices.Collect(maps.Keys(p.Size.ZoneCapabilities)), has)
	}
	return !slices.ContainsFunc(p.Place.Zones, func(zone string) bool { return !has(zone) })
}

// checkInterfaces checks the number of interfaces, and accelerated networking if the spec asks for it.
func checkInterfaces(p Profile, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	interfaces := ListInterfaces(p.VirtualMachineProfile)
	if most, ok := capabilityLimit(p.Size, capabilityMaxNICs); ok && len(interfaces) > most {
		errs = append(errs, newLimitError(path, p.VMSize, "network interfaces", len(interfaces), most, capabilityMaxNICs))
	}
	for i, nic := range interfaces {
		if isTrue(nic.AcceleratedNetworking) && !p.Size.HasCapability(capabilityAccelerated) {
			errs = append(errs, newCapabilityError(path.Index(i).Child("acceleratedNetworking"), p.VMSize, "accelerated networking",
				capabilityAccelerated))
		}
	}
	return errs
}

func checkSpot(p Profile, path *field.Path) field.ErrorList {
	if p.SpotVMOptions != nil && lacksCapability(p.Size, capabilitySpot) {
		return field.ErrorList{newCapabilityError(path, p.VMSize, "spot VMs", capabilitySpot)}
	}
	return nil
}
