package webhook

import (
	"encoding/base64"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

const scaleSetType = "Microsoft.Compute/virtualMachineScaleSets"

// ValidateAzureMachine checks a defaulted AzureMachine.
func ValidateAzureMachine(m *infrav1.AzureMachine) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateMachineSpec(&m.Spec, path)
	if role := m.Spec.SystemAssignedIdentityRole; role != nil && role.Name != "" && m.Spec.Identity == infrav1.VMIdentitySystemAssigned {
		if _, err := uuid.Parse(role.Name); err != nil {
			errs = append(errs, field.Invalid(path.Child("systemAssignedIdentityRole", "name"), role.Name, "must be a UUID"))
		}
	}
	return errs
}

// validateMachineSpec checks what machines and templates have in common.
func validateMachineSpec(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, ValidateImage(spec.Image, path.Child("image"))...)
	errs = append(errs, ValidateOSDisk(spec.OSDisk, path.Child("osDisk"))...)
	errs = append(errs, ValidateDataDisks(spec.DataDisks, path.Child("dataDisks"))...)
	errs = append(errs, ValidateConfidentialCompute(spec.OSDisk.ManagedDisk, spec.SecurityProfile, path)...)
	errs = append(errs, ValidateSSHPublicKey(spec.SSHPublicKey, path.Child("sshPublicKey"))...)
	errs = append(errs, ValidateUserAssignedIdentities(spec.Identity, spec.UserAssignedIdentities, path)...)
	errs = append(errs, validateIdentityRole(spec, path)...)
	errs = append(errs, ValidateDiagnostics(spec.Diagnostics, path.Child("diagnostics"))...)
	errs = append(errs, validateNetworkInterfaces(spec, path)...)
	errs = append(errs, validateIDs(spec, path)...)
	if spec.DisableExtensionOperations != nil && *spec.DisableExtensionOperations && len(spec.VMExtensions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("vmExtensions"), "disableExtensionOperations forbids extensions"))
	}
	return errs
}

// ValidateConfidentialCompute checks the settings of a confidential VM, which one is whose disk has a
// securityEncryptionType. path is that of the spec.
func ValidateConfidentialCompute(disk *infrav1.ManagedDiskParameters, profile *infrav1.SecurityProfile, path *field.Path) (errs field.ErrorList) {
	if profile == nil || disk == nil || disk.SecurityProfile == nil || disk.SecurityProfile.SecurityEncryptionType == "" {
		return nil
	}
	path = path.Child("securityProfile")
	if profile.SecurityType != infrav1.SecurityTypesConfidentialVM {
		errs = append(errs, field.Invalid(path.Child("securityType"), profile.SecurityType, "a disk with a securityEncryptionType needs ConfidentialVM"))
	}
	if profile.UefiSettings == nil {
		return append(errs, field.Required(path.Child("uefiSettings"), "a confidential VM needs vTpmEnabled: true"))
	}
	if !isTrue(profile.UefiSettings.VTpmEnabled) {
		errs = append(errs, field.Required(path.Child("uefiSettings", "vTpmEnabled"), "a confidential VM needs it to be true"))
	}
	if disk.SecurityProfile.SecurityEncryptionType == infrav1.SecurityEncryptionTypeDiskWithVMGuestState {
		if isTrue(profile.EncryptionAtHost) {
			errs = append(errs, field.Invalid(path.Child("encryptionAtHost"), true, "does not go together with the securityEncryptionType DiskWithVMGuestState"))
		}
		if !isTrue(profile.UefiSettings.SecureBootEnabled) {
			errs = append(errs, field.Required(path.Child("uefiSettings", "secureBootEnabled"), "the securityEncryptionType DiskWithVMGuestState needs it to be true"))
		}
	}
	return errs
}

func isTrue(b *bool) bool { return b != nil && *b }

// ValidateSSHPublicKey checks that a key is a line of an authorized_keys file in base64. An empty key is the default.
func ValidateSSHPublicKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return nil
	}
	line, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return field.ErrorList{field.Invalid(path, key, "must be base64: encode the line of the .pub file with base64 -w0")}
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(line); err != nil {
		return field.ErrorList{field.Invalid(path, key, "must be an SSH public key such as \"ssh-ed25519 AAAA… name\", in base64")}
	}
	return nil
}

// ValidateUserAssignedIdentities checks that identities are given if and only if the VM has user-assigned ones.
func ValidateUserAssignedIdentities(identity infrav1.VMIdentity, identities []infrav1.UserAssignedIdentity, path *field.Path) (errs field.ErrorList) {
	path = path.Child("userAssignedIdentities")
	switch {
	case identity != infrav1.VMIdentityUserAssigned && len(identities) > 0:
		return field.ErrorList{field.Forbidden(path, "needs identity: UserAssigned")}
	case identity == infrav1.VMIdentityUserAssigned && len(identities) == 0:
		return field.ErrorList{field.Required(path, "identity: UserAssigned needs at least one")}
	}
	for i, identity := range identities {
		if _, err := arm.ParseID(identity.ProviderID); err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child("providerID"), identity.ProviderID, "must be an Azure resource ID: "+err.Error()))
		}
	}
	return errs
}

func validateIdentityRole(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	role, rolePath := spec.SystemAssignedIdentityRole, path.Child("systemAssignedIdentityRole")
	if spec.Identity != infrav1.VMIdentitySystemAssigned {
		if spec.RoleAssignmentName != "" {
			errs = append(errs, field.Forbidden(path.Child("roleAssignmentName"), "needs identity: SystemAssigned"))
		}
		if role != nil {
			errs = append(errs, field.Forbidden(rolePath, "needs identity: SystemAssigned"))
		}
		return errs
	}
	if spec.RoleAssignmentName != "" && role != nil && role.Name != "" {
		errs = append(errs, field.Forbidden(path.Child("roleAssignmentName"), "is the deprecated name of systemAssignedIdentityRole.name: keep that"))
	}
	return errs
}

// ValidateDiagnostics checks that a storage account is given if and only if boot diagnostics are kept in one of the user.
func ValidateDiagnostics(diagnostics *infrav1.Diagnostics, path *field.Path) field.ErrorList {
	if diagnostics == nil || diagnostics.Boot == nil {
		return nil
	}
	boot, path := diagnostics.Boot, path.Child("boot", "userManaged")
	if boot.StorageAccountType != infrav1.UserManagedDiagnosticsStorage {
		if boot.UserManaged != nil {
			return field.ErrorList{field.Forbidden(path, "needs storageAccountType: UserManaged")}
		}
		return nil
	}
	if boot.UserManaged == nil || boot.UserManaged.StorageAccountURI == "" {
		return field.ErrorList{field.Required(path.Child("storageAccountURI"), "storageAccountType: UserManaged needs the blob endpoint of a storage account")}
	}
	return nil
}

func validateNetworkInterfaces(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	if len(spec.NetworkInterfaces) > 0 && spec.SubnetName != "" {
		errs = append(errs, field.Forbidden(path.Child("subnetName"), "is deprecated and excludes networkInterfaces: use networkInterfaces[0].subnetName"))
	}
	if len(spec.NetworkInterfaces) > 0 && spec.AcceleratedNetworking != nil {
		errs = append(errs, field.Forbidden(path.Child("acceleratedNetworking"), "is deprecated and excludes networkInterfaces: use networkInterfaces[0].acceleratedNetworking"))
	}
	for i, nic := range spec.NetworkInterfaces {
		// With the deprecated fields beside them, the interfaces are not defaulted, and have been refused above.
		if nic.PrivateIPConfigs < 1 && len(errs) == 0 {
			errs = append(errs, field.Invalid(path.Child("networkInterfaces").Index(i).Child("privateIPConfigs"), nic.PrivateIPConfigs, "must be at least 1"))
		}
	}
	return errs
}

// validateIDs checks references to resources that are there already.
func validateIDs(spec *infrav1.AzureMachineSpec, path *field.Path) (errs field.ErrorList) {
	if id := spec.CapacityReservationGroupID; id != nil {
		if _, err := arm.ParseID(*id); err != nil {
			errs = append(errs, field.Invalid(path.Child("capacityReservationGroupID"), *id, "must be an Azure resource ID: "+err.Error()))
		}
	}
	if id := spec.VirtualMachineScaleSetID; id != nil {
		parsed, err := arm.ParseID(*id)
		if err != nil || !strings.EqualFold(parsed.Type(), scaleSetType) {
			errs = append(errs, field.Invalid(path.Child("virtualMachineScaleSetID"), *id, "must be the Azure resource ID of a scale set: /subscriptions/…/resourceGroups/…/providers/"+scaleSetType+"/…"))
		}
	}
	return errs
}
