package vm

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func checkSecurity(p Profile, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	security := p.SecurityProfile
	if security == nil {
		security = &infrav1.SecurityProfile{}
	}
	uefi := security.UefiSettings
	if uefi == nil {
		uefi = &infrav1.UefiSettings{}
	}
	if isTrue(security.EncryptionAtHost) && !p.Size.HasCapability(capabilityEncryption) {
		errs = append(errs, newCapabilityError(path.Child("encryptionAtHost"), p.VMSize, "encryption at host", capabilityEncryption))
	}
	encryption := confidentialEncryption(p.OSDisk)
	if encryption != "" || security.SecurityType == infrav1.SecurityTypesConfidentialVM {
		if p.Size.Capabilities[capabilityConfidential] == "" {
			errs = append(errs, newCapabilityError(path.Child("securityType"), p.VMSize, "confidential VMs", capabilityConfidential))
		}
	}
	if encryption != "" {
		return append(errs, checkConfidential(encryption, security, uefi, path)...)
	}
	if security.SecurityType == infrav1.SecurityTypesConfidentialVM || !isTrue(uefi.SecureBootEnabled) && !isTrue(uefi.VTpmEnabled) {
		return errs
	}
	if security.SecurityType != infrav1.SecurityTypesTrustedLaunch {
		errs = append(errs, field.Invalid(path.Child("securityType"), security.SecurityType, "secure boot and vTPM need TrustedLaunch"))
	}
	if p.Size.HasCapability(capabilityNoTrusted) {
		errs = append(errs, newCapabilityError(path.Child("uefiSettings"), p.VMSize, "Trusted Launch", capabilityNoTrusted))
	}
	return errs
}

// confidentialEncryption returns the part of a confidential VM's disk that is encrypted; "" for another VM.
func confidentialEncryption(disk infrav1.OSDisk) infrav1.SecurityEncryptionType {
	if disk.ManagedDisk == nil || disk.ManagedDisk.SecurityProfile == nil {
		return ""
	}
	return disk.ManagedDisk.SecurityProfile.SecurityEncryptionType
}

// checkConfidential checks Azure's rules for a VM whose disk is encrypted together with its guest state:
// https://learn.microsoft.com/en-us/azure/confidential-computing/confidential-vm-overview
func checkConfidential(encryption infrav1.SecurityEncryptionType, security *infrav1.SecurityProfile, uefi *infrav1.UefiSettings,
	path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if security.SecurityType != infrav1.SecurityTypesConfidentialVM {
		errs = append(errs, field.Invalid(path.Child("securityType"), security.SecurityType,
			"a disk with securityEncryptionType needs ConfidentialVM"))
	}
	if !isTrue(uefi.VTpmEnabled) {
		errs = append(errs, field.Required(path.Child("uefiSettings", "vTpmEnabled"), "a confidential VM needs a vTPM: set it to true"))
	}
	if encryption != infrav1.SecurityEncryptionTypeDiskWithVMGuestState {
		return errs
	}
	if !isTrue(uefi.SecureBootEnabled) {
		errs = append(errs, field.Required(path.Child("uefiSettings", "secureBootEnabled"),
			"DiskWithVMGuestState needs secure boot: set it to true"))
	}
	if isTrue(security.EncryptionAtHost) {
		errs = append(errs, field.Forbidden(path.Child("encryptionAtHost"),
			"DiskWithVMGuestState excludes encryption at the host: set it to false"))
	}
	return errs
}
