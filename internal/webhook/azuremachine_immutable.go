package webhook

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

const immutableMachine = "cannot change after the machine was created; create a new machine"

// ValidateAzureMachineUpdate checks a change of an AzureMachine; both objects are defaulted. Fields that have defaults are compared
// here, because the CRD compares stored values without them. sameMachineResources checks the others.
func ValidateAzureMachineUpdate(old, m *infrav1.AzureMachine) (errs field.ErrorList) {
	path := field.NewPath("spec")
	before, after := &old.Spec, &m.Spec
	if !equality.Semantic.DeepEqual(before.SpotVMOptions, after.SpotVMOptions) {
		errs = append(errs, field.Forbidden(path.Child("spotVMOptions"), immutableMachine))
	}
	if !equality.Semantic.DeepEqual(before.UserAssignedIdentities, after.UserAssignedIdentities) {
		errs = append(errs, addedIdentities(before.UserAssignedIdentities, after.UserAssignedIdentities, path.Child("userAssignedIdentities"))...)
	}
	errs = append(errs, visibleExtensions(before.VMExtensions, after.VMExtensions, path.Child("vmExtensions"))...)
	if before.Diagnostics != nil && !equality.Semantic.DeepEqual(before.Diagnostics, after.Diagnostics) {
		errs = append(errs, field.Forbidden(path.Child("diagnostics"), immutableMachine))
	}
	if after.AcceleratedNetworking != nil && !equality.Semantic.DeepEqual(before.AcceleratedNetworking, after.AcceleratedNetworking) {
		errs = append(errs, field.Forbidden(path.Child("acceleratedNetworking"), "is deprecated and can only be removed"))
	}
	return errs
}

// sameMachineResources refuses changes of the fields that name the disks, network interfaces and role assignment of a machine; both objects
// are defaulted.
func sameMachineResources(old, m *infrav1.AzureMachine) (errs field.ErrorList) {
	path := field.NewPath("spec")
	before, after := &old.Spec, &m.Spec
	if before.RoleAssignmentName != after.RoleAssignmentName {
		errs = append(errs, field.Forbidden(path.Child("roleAssignmentName"), immutableMachine))
	}
	if !equality.Semantic.DeepEqual(before.DataDisks, after.DataDisks) {
		errs = append(errs, field.Forbidden(path.Child("dataDisks"), immutableMachine))
	}
	errs = append(errs, immutableIdentityRole(before.SystemAssignedIdentityRole, after.SystemAssignedIdentityRole,
		path.Child("systemAssignedIdentityRole"))...)
	return append(errs, immutableNetworkInterfaces(before, after, path.Child("networkInterfaces"))...)
}

// addedIdentities allows identities to be added and refuses to remove one. A removed one would stay assigned to the VM, because the
// provider does not remove identities that other programs may have assigned.
func addedIdentities(old, identities []infrav1.UserAssignedIdentity, path *field.Path) (errs field.ErrorList) {
	for _, identity := range old {
		if !slices.ContainsFunc(identities, func(i infrav1.UserAssignedIdentity) bool {
			return strings.EqualFold(arm.TrimScheme(i.ProviderID), arm.TrimScheme(identity.ProviderID))
		}) {
			errs = append(errs, field.Forbidden(path, "identities can only be added, but "+identity.ProviderID+" was removed; create a new machine"))
		}
	}
	return errs
}

// immutableIdentityRole refuses to add or remove a role.
func immutableIdentityRole(old, role *infrav1.SystemAssignedIdentityRole, path *field.Path) field.ErrorList {
	switch {
	case old == nil && role == nil:
		return nil
	case old == nil || role == nil:
		return field.ErrorList{field.Forbidden(path, immutableMachine)}
	}
	return filledIdentityRole(old, role, path)
}

// immutableNetworkInterfaces allows the subnet of the first interface to be filled in, and values beyond the schema's maxima to be
// corrected, because the provider creates nothing from those.
func immutableNetworkInterfaces(old, spec *infrav1.AzureMachineSpec, path *field.Path) field.ErrorList {
	before := slices.Clone(old.NetworkInterfaces)
	if len(before) > 0 && len(spec.NetworkInterfaces) > 0 && before[0].SubnetName == "" {
		before[0].SubnetName = spec.NetworkInterfaces[0].SubnetName
	}
	if equality.Semantic.DeepEqual(before, spec.NetworkInterfaces) ||
		len(maxima.FindExceeded("AzureMachine",
			infrav1.AzureMachine{Spec: infrav1.AzureMachineSpec{VirtualMachineProfile: infrav1.VirtualMachineProfile{NetworkInterfaces: old.NetworkInterfaces}}})) > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, immutableMachine)}
}
