package vm

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// buildSecurityProfile returns the security settings. For a confidential VM they are sent as in the spec. Trusted launch
// accepts only settings that are turned on.
func buildSecurityProfile(p Profile) *armcompute.SecurityProfile {
	security := p.SecurityProfile
	if security == nil {
		return nil
	}
	out := &armcompute.SecurityProfile{EncryptionAtHost: security.EncryptionAtHost}
	if security.SecurityType != "" {
		out.SecurityType = new(armcompute.SecurityTypes(security.SecurityType))
	}
	if uefi := security.UefiSettings; uefi != nil {
		out.UefiSettings = &armcompute.UefiSettings{SecureBootEnabled: uefi.SecureBootEnabled, VTpmEnabled: uefi.VTpmEnabled}
		if security.SecurityType != infrav1.SecurityTypesConfidentialVM {
			out.UefiSettings = &armcompute.UefiSettings{SecureBootEnabled: nilUnlessTrue(uefi.SecureBootEnabled),
				VTpmEnabled: nilUnlessTrue(uefi.VTpmEnabled)}
		}
	}
	return out
}

func nilUnlessTrue(value *bool) *bool {
	if !isTrue(value) {
		return nil
	}
	return value
}

func isTrue(value *bool) bool { return value != nil && *value }

// BuildCapabilities enables ultra disks for a VM that has one, unless the spec sets the capability. It is a property of a
// VM, and of a scale set beside the profile of its VMs.
func BuildCapabilities(p Profile) *armcompute.AdditionalCapabilities {
	if p.AdditionalCapabilities != nil && p.AdditionalCapabilities.UltraSSDEnabled != nil {
		return &armcompute.AdditionalCapabilities{UltraSSDEnabled: p.AdditionalCapabilities.UltraSSDEnabled}
	}
	if hasUltraDisk(p) {
		return &armcompute.AdditionalCapabilities{UltraSSDEnabled: new(true)}
	}
	return nil
}

func hasUltraDisk(p Profile) bool {
	for _, disk := range p.DataDisks {
		if disk.ManagedDisk != nil && disk.ManagedDisk.StorageAccountType == infrav1.StorageAccountTypeUltraSSD {
			return true
		}
	}
	return false
}
