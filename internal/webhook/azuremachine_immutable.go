package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const immutableMachine = "cannot change after the machine was made; make a new machine"

// ValidateAzureMachineUpdate checks a change of an AzureMachine; both objects are defaulted. It checks what cannot change,
// and the rest only where it can take effect on an existing VM.
func ValidateAzureMachineUpdate(old, m *infrav1.AzureMachine) (errs field.ErrorList) {
	if unchanged(m, old.Spec, m.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	before, after := &old.Spec, &m.Spec
	for _, part := range []struct {
		name          string
		before, after any
	}{
		{"image", before.Image, after.Image},
		{"userAssignedIdentities", before.UserAssignedIdentities, after.UserAssignedIdentities},
		{"roleAssignmentName", before.RoleAssignmentName, after.RoleAssignmentName},
		{"osDisk", before.OSDisk, after.OSDisk},
		{"dataDisks", before.DataDisks, after.DataDisks},
		{"spotVMOptions", before.SpotVMOptions, after.SpotVMOptions},
		{"securityProfile", before.SecurityProfile, after.SecurityProfile},
	} {
		if !equality.Semantic.DeepEqual(part.before, part.after) {
			errs = append(errs, field.Forbidden(path.Child(part.name), immutableMachine))
		}
	}
	if before.Diagnostics != nil && !equality.Semantic.DeepEqual(before.Diagnostics, after.Diagnostics) {
		errs = append(errs, field.Forbidden(path.Child("diagnostics"), immutableMachine))
	}
	errs = append(errs, immutableIdentityRole(before.SystemAssignedIdentityRole, after.SystemAssignedIdentityRole, path.Child("systemAssignedIdentityRole"))...)
	if after.AcceleratedNetworking != nil && !equality.Semantic.DeepEqual(before.AcceleratedNetworking, after.AcceleratedNetworking) {
		errs = append(errs, field.Forbidden(path.Child("acceleratedNetworking"), "is deprecated and can only be removed"))
	}
	if isTrue(after.DisableExtensionOperations) && len(after.VMExtensions) > 0 && !equality.Semantic.DeepEqual(before.VMExtensions, after.VMExtensions) {
		errs = append(errs, field.Forbidden(path.Child("vmExtensions"), "disableExtensionOperations forbids extensions"))
	}
	return append(errs, immutableNetworkInterfaces(before, after, path.Child("networkInterfaces"))...)
}

// immutableIdentityRole lets what is empty be filled in: the defaults come when the subscription is known.
func immutableIdentityRole(old, role *infrav1.SystemAssignedIdentityRole, path *field.Path) (errs field.ErrorList) {
	switch {
	case old == nil && role == nil:
		return nil
	case old == nil || role == nil:
		return field.ErrorList{field.Forbidden(path, immutableMachine)}
	}
	errs = append(errs, onceSet(old.Name, role.Name, path.Child("name"))...)
	errs = append(errs, onceSet(old.Scope, role.Scope, path.Child("scope"))...)
	return append(errs, onceSet(old.DefinitionID, role.DefinitionID, path.Child("definitionID"))...)
}

// immutableNetworkInterfaces lets the subnet of the first interface be filled in, once it is clear.
func immutableNetworkInterfaces(old, spec *infrav1.AzureMachineSpec, path *field.Path) field.ErrorList {
	before := slices.Clone(old.NetworkInterfaces)
	if len(before) > 0 && len(spec.NetworkInterfaces) > 0 && before[0].SubnetName == "" {
		before[0].SubnetName = spec.NetworkInterfaces[0].SubnetName
	}
	if equality.Semantic.DeepEqual(before, spec.NetworkInterfaces) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, immutableMachine)}
}
