package machine

import (
	"fmt"
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

// unable says that a size lacks a capability, which it names as the catalog does.
func unable(path *field.Path, size, what, capability string) *field.Error {
	return field.Invalid(path, size, fmt.Sprintf("VM size %s cannot %s (capability %s): choose another size or remove the field", size, what, capability))
}

// denies tells whether the catalog says that the size has not the capability. A catalog that is silent about it leaves the
// answer to Azure.
func denies(size *plan.VMSize, capability string) bool {
	return strings.EqualFold(size.Capabilities[capability], "False")
}

// atMost is the number that the catalog bounds; ok is false when it says none.
func atMost(size *plan.VMSize, capability string) (n int, ok bool) {
	n, err := strconv.Atoi(size.Capabilities[capability])
	return n, err == nil
}

func checkDisks(in plan.MachineInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec, size := in.AzureMachine.Spec, in.MachineFacts.VMSize
	errs = append(errs, checkEphemeral(spec, size, path.Child("osDisk", "diffDiskSettings"))...)
	if most, ok := atMost(size, capabilityMaxDisks); ok && len(spec.DataDisks) > most {
		errs = append(errs, unable(path.Child("dataDisks"), spec.VMSize, fmt.Sprintf("have %d data disks, but %d at most", len(spec.DataDisks), most), capabilityMaxDisks))
	}
	if denies(size, capabilityPremium) {
		if premium(spec.OSDisk.ManagedDisk) {
			errs = append(errs, unable(path.Child("osDisk", "managedDisk", "storageAccountType"), spec.VMSize, "use premium disks", capabilityPremium))
		}
		for i, disk := range spec.DataDisks {
			if premium(disk.ManagedDisk) {
				errs = append(errs, unable(path.Child("dataDisks").Index(i).Child("managedDisk", "storageAccountType"), spec.VMSize, "use premium disks", capabilityPremium))
			}
		}
	}
	return append(errs, checkUltra(in, path)...)
}

func checkEphemeral(spec infrav1.AzureMachineSpec, size *plan.VMSize, path *field.Path) field.ErrorList {
	settings := spec.OSDisk.DiffDiskSettings
	switch {
	case settings == nil:
		return nil
	case !size.Has(capabilityEphemeral):
		return field.ErrorList{unable(path, spec.VMSize, "have an ephemeral OS disk", capabilityEphemeral)}
	case settings.Placement == nil || size.Capabilities[capabilityPlacements] == "":
		return nil
	}
	places := strings.Split(size.Capabilities[capabilityPlacements], ",")
	if slices.ContainsFunc(places, func(place string) bool {
		return strings.EqualFold(strings.TrimSpace(place), string(*settings.Placement))
	}) {
		return nil
	}
	return field.ErrorList{unable(path.Child("placement"), spec.VMSize,
		fmt.Sprintf("have an ephemeral OS disk on its %s, but on %s", *settings.Placement, strings.Join(places, ", ")), capabilityPlacements)}
}

func premium(disk *infrav1.ManagedDiskParameters) bool {
	return disk != nil && strings.HasPrefix(disk.StorageAccountType, "Premium")
}

func checkUltra(in plan.MachineInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec := in.AzureMachine.Spec
	wantsUltra := hasUltraDisk(spec)
	if capabilities := spec.AdditionalCapabilities; capabilities != nil && capabilities.UltraSSDEnabled != nil {
		if !*capabilities.UltraSSDEnabled && wantsUltra {
			errs = append(errs, field.Invalid(path.Child("additionalCapabilities", "ultraSSDEnabled"), false, "a data disk is of type UltraSSD_LRS, which needs it: set it to true or leave it out"))
		}
		wantsUltra = wantsUltra || *capabilities.UltraSSDEnabled
	}
	if !wantsUltra || ultraAvailable(in) {
		return errs
	}
	return append(errs, unable(path.Child("dataDisks"), spec.VMSize, "use ultra disks "+where(in), capabilityUltra))
}

// where is the place that the VM goes to, in words.
func where(in plan.MachineInput) string {
	region := "in region " + plan.Location(in.ClusterInput)
	if zone := FailureDomain(in); zone != "" {
		return "in zone " + zone + " of region " + plan.Location(in.ClusterInput)
	}
	return region
}

// Asked says what was asked of Azure's capacity and where, for errors about quota and capacity: Azure's own texts name
// the size and the place in some cases only.
func Asked(in plan.MachineInput) string {
	asked := "VM size " + in.AzureMachine.Spec.VMSize
	if size := in.MachineFacts.VMSize; size != nil {
		asked += fmt.Sprintf(" (%d vCPUs)", size.VCPUs)
	}
	if in.AzureMachine.Spec.SpotVMOptions != nil {
		asked += " as a spot VM"
	}
	return asked + " " + where(in)
}

// ultraAvailable tells whether the size can have ultra disks where the VM goes: in its zone, or in the region without one.
func ultraAvailable(in plan.MachineInput) bool {
	size := in.MachineFacts.VMSize
	if size.Has(capabilityUltra) {
		return true
	}
	zone := FailureDomain(in)
	for where, capabilities := range size.ZoneCapabilities {
		if (zone == "" || where == zone) && capabilities[capabilityUltra] == "True" {
			return true
		}
	}
	return false
}

// checkInterfaces looks at the number of interfaces and at accelerated networking that the spec asks for by name.
func checkInterfaces(in plan.MachineInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	spec, size := in.AzureMachine.Spec, in.MachineFacts.VMSize
	interfaces := nics(in)
	here := path.Child("networkInterfaces")
	if most, ok := atMost(size, capabilityMaxNICs); ok && len(interfaces) > most {
		errs = append(errs, unable(here, spec.VMSize, fmt.Sprintf("have %d network interfaces, but %d at most", len(interfaces), most), capabilityMaxNICs))
	}
	for i, nic := range interfaces {
		if isTrue(nic.AcceleratedNetworking) && !size.Has(capabilityAccelerated) {
			errs = append(errs, unable(here.Index(i).Child("acceleratedNetworking"), spec.VMSize, "do accelerated networking", capabilityAccelerated))
		}
	}
	return errs
}

func checkSpot(in plan.MachineInput, path *field.Path) field.ErrorList {
	if spec := in.AzureMachine.Spec; spec.SpotVMOptions != nil && denies(in.MachineFacts.VMSize, capabilitySpot) {
		return field.ErrorList{unable(path.Child("spotVMOptions"), spec.VMSize, "be a spot VM", capabilitySpot)}
	}
	return nil
}
