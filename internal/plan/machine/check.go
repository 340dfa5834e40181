package machine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// CheckSpec returns the errors of the spec that can be found with the SKU catalog. Each message contains the field, its
// value, the fault and the remedy. If there are errors, no VM may be created.
func CheckSpec(in plan.MachineInput) field.ErrorList {
	path, p := field.NewPath("spec"), buildProfile(in)
	errs := vm.CheckSize(p, path)
	errs = append(errs, vm.CheckZones(p.Place, path.Child("failureDomain"))...)
	errs = append(errs, vm.CheckSSHKey(p.VirtualMachineProfile, path)...)
	errs = append(errs, vm.CheckImage(p, path)...)
	errs = append(errs, vm.CheckSubnets(p, path)...)
	errs = append(errs, vm.CheckIdentity(in.AzureMachine.Spec.ManagedIdentities, path)...)
	errs = append(errs, checkAvailabilitySet(in, path)...)
	errs = append(errs, plan.CheckTagCount(buildVMTags(in), "the VM", path.Child("additionalTags"))...)
	errs = append(errs, checkBootstrapData(in)...)
	return append(errs, vm.CheckCapabilities(p, path)...)
}

// checkBootstrapData checks the size of the bootstrap data.
func checkBootstrapData(in plan.MachineInput) field.ErrorList {
	if in.Machine == nil {
		return nil
	}
	return vm.CheckBootstrapData(in.BootstrapData, field.NewPath("Machine", "spec", "bootstrap", "dataSecretName"),
		in.Machine.Spec.Bootstrap.DataSecretName)
}

// checkAvailabilitySet refuses a machine that needs an availability set in a region whose catalog has none for managed
// disks, and one whose set would have a longer name than Azure accepts. The name of the set of a control plane is never too long, because the
// name of a Cluster has at most 63 characters.
func checkAvailabilitySet(in plan.MachineInput, path *field.Path) field.ErrorList {
	id, ok := availabilitySetID(in)
	switch {
	case !ok:
		return nil
	case in.MachineFacts.MaximumPlatformFaultDomainCount == 0:
		return field.ErrorList{field.Invalid(path.Child("failureDomain"), "", fmt.Sprintf(
			"without a zone the machine goes into an availability set, and the catalog of region %s has none of SKU %s: set a zone",
			plan.Location(in.ClusterInput), alignedSKU))}
	case len(id.Name()) > plan.MaxNameLength && !in.ControlPlane:
		label := plan.GroupLabel(in)
		group := in.Machine.Labels[label]
		return field.ErrorList{field.Invalid(field.NewPath("Machine", "metadata", "labels").Key(label), group, fmt.Sprintf(
			"region %s has no zones, so the machine goes into the availability set %s. This name has %d characters, and Azure accepts at most %d: "+
				"use a MachineDeployment or MachineSet whose name has at most %d characters",
			plan.Location(in.ClusterInput), id.Name(), len(id.Name()), plan.MaxNameLength, plan.MaxNameLength-len(id.Name())+len(group)))}
	}
	return nil
}

// UnsupportedFields returns an error for each field of the spec that the plan would ignore. It needs no facts.
func UnsupportedFields(in plan.MachineInput) field.ErrorList {
	spec, path := in.AzureMachine.Spec, field.NewPath("spec")
	errs := vm.UnsupportedNetwork(spec.VirtualMachineProfile, path)
	errs = append(errs, vm.UnsupportedIdentity(spec.ManagedIdentities, path)...)
	errs = append(errs, vm.UnsupportedOS(spec.VirtualMachineProfile, path)...)
	if disabled := spec.DisableExtensionOperations; disabled != nil && *disabled {
		if len(spec.VMExtensions) > 0 {
			errs = append(errs, field.Forbidden(path.Child("vmExtensions"), "is not allowed while spec.disableExtensionOperations is true: remove it, or set spec.disableExtensionOperations to false"))
		}
		if bootstrap := spec.DisableVMBootstrapExtension; bootstrap != nil && !*bootstrap {
			errs = append(errs, field.Forbidden(path.Child("disableVMBootstrapExtension"),
				"cannot be false while spec.disableExtensionOperations is true: remove it, or set spec.disableExtensionOperations to false"))
		}
	}
	return errs
}
