package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// VMIdentity is the kind of managed identity of a VM.
// +kubebuilder:validation:Enum=None;SystemAssigned;UserAssigned
type VMIdentity string

const (
	// VMIdentityNone is no managed identity.
	VMIdentityNone VMIdentity = "None"
	// VMIdentitySystemAssigned is an identity that lives and dies with the VM.
	VMIdentitySystemAssigned VMIdentity = "SystemAssigned"
	// VMIdentityUserAssigned is one or several identities that exist beside the VM.
	VMIdentityUserAssigned VMIdentity = "UserAssigned"
)

// UserAssignedIdentity names a user-assigned managed identity.
type UserAssignedIdentity struct {
	// providerID is the Azure resource ID of the identity, with or without "azure://" before it.
	// +required
	// +kubebuilder:validation:Pattern=`(?i)^(azure://)?/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+/?$`
	ProviderID string `json:"providerID"`
}

// SystemAssignedIdentityRole is the role assignment of a system-assigned identity.
type SystemAssignedIdentityRole struct {
	// name is the name of the role assignment, a UUID. The default is a random one.
	// +optional
	Name string `json:"name,omitempty"`

	// scope is what the role is assigned at. The default is the subscription.
	// +optional
	Scope string `json:"scope,omitempty"`

	// definitionID is the Azure resource ID of the role definition. The default is Contributor.
	// +optional
	DefinitionID string `json:"definitionID,omitempty"`
}

// SpotEvictionPolicy is what happens to a spot VM that Azure takes back.
// +kubebuilder:validation:Enum=Deallocate;Delete
type SpotEvictionPolicy string

const (
	// SpotEvictionPolicyDeallocate stops the VM and keeps it.
	SpotEvictionPolicyDeallocate SpotEvictionPolicy = "Deallocate"
	// SpotEvictionPolicyDelete deletes the VM.
	SpotEvictionPolicyDelete SpotEvictionPolicy = "Delete"
)

// SpotVMOptions make a VM a spot VM.
type SpotVMOptions struct {
	// maxPrice is the most to pay per hour in US dollars, -1 for up to the price of an ordinary VM, which is the default.
	// +optional
	MaxPrice *resource.Quantity `json:"maxPrice,omitempty"`

	// evictionPolicy is what happens when Azure takes the VM back. The default is Delete with an ephemeral disk, else
	// Deallocate.
	// +optional
	EvictionPolicy *SpotEvictionPolicy `json:"evictionPolicy,omitempty"`
}

// SecurityTypes is the kind of security of a VM.
// +kubebuilder:validation:Enum=ConfidentialVM;TrustedLaunch
type SecurityTypes string

const (
	// SecurityTypesConfidentialVM is a confidential VM.
	SecurityTypesConfidentialVM SecurityTypes = "ConfidentialVM"
	// SecurityTypesTrustedLaunch is a VM with trusted launch.
	SecurityTypesTrustedLaunch SecurityTypes = "TrustedLaunch"
)

// SecurityProfile describes the security of a VM.
type SecurityProfile struct {
	// encryptionAtHost encrypts the disks, the temporary one and caches included, on the host.
	// +optional
	EncryptionAtHost *bool `json:"encryptionAtHost,omitempty"`

	// securityType is the kind of security.
	// +optional
	SecurityType SecurityTypes `json:"securityType,omitempty"`

	// uefiSettings are the firmware settings.
	// +optional
	UefiSettings *UefiSettings `json:"uefiSettings,omitempty"`
}

// UefiSettings are the firmware settings of a VM.
type UefiSettings struct {
	// secureBootEnabled turns on secure boot.
	// +optional
	SecureBootEnabled *bool `json:"secureBootEnabled,omitempty"`

	// vTpmEnabled turns on the virtual TPM.
	// +optional
	VTpmEnabled *bool `json:"vTpmEnabled,omitempty"`
}

// AdditionalCapabilities turn on capabilities of a VM.
type AdditionalCapabilities struct {
	// ultraSSDEnabled lets ultra disks be attached. The default is true if there is an ultra data disk.
	// +optional
	UltraSSDEnabled *bool `json:"ultraSSDEnabled,omitempty"`
}

// BootDiagnosticsStorageAccountType is where boot diagnostics are kept.
// +kubebuilder:validation:Enum=Managed;UserManaged;Disabled
type BootDiagnosticsStorageAccountType string

const (
	// ManagedDiagnosticsStorage is a storage account of Azure.
	ManagedDiagnosticsStorage BootDiagnosticsStorageAccountType = "Managed"
	// UserManagedDiagnosticsStorage is a storage account of the user.
	UserManagedDiagnosticsStorage BootDiagnosticsStorageAccountType = "UserManaged"
	// DisabledDiagnosticsStorage turns boot diagnostics off.
	DisabledDiagnosticsStorage BootDiagnosticsStorageAccountType = "Disabled"
)

// Diagnostics describe the diagnostics of a VM.
type Diagnostics struct {
	// boot describes the boot diagnostics.
	// +optional
	Boot *BootDiagnostics `json:"boot,omitempty"`
}

// BootDiagnostics describe where the serial log and screenshot of a VM are kept.
// +kubebuilder:validation:XValidation:rule="self.storageAccountType != 'UserManaged' || has(self.userManaged)",message="storageAccountType: UserManaged needs the storageAccountURI of the blob endpoint of a storage account",fieldPath=".userManaged",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule="self.storageAccountType == 'UserManaged' || !has(self.userManaged)",message="needs storageAccountType: UserManaged",fieldPath=".userManaged",reason="FieldValueForbidden"
type BootDiagnostics struct {
	// storageAccountType is where they are kept.
	// +required
	StorageAccountType BootDiagnosticsStorageAccountType `json:"storageAccountType"`

	// userManaged is the user's storage account, for the type UserManaged.
	// +optional
	UserManaged *UserManagedBootDiagnostics `json:"userManaged,omitempty"`
}

// UserManagedBootDiagnostics name a storage account.
type UserManagedBootDiagnostics struct {
	// storageAccountURI is the blob endpoint of the storage account, with https://.
	// +required
	// +kubebuilder:validation:Pattern=`^https://`
	// +kubebuilder:validation:MaxLength=1024
	StorageAccountURI string `json:"storageAccountURI"`
}

// VMExtension describes an extension of a VM.
type VMExtension struct {
	// name is the name and the type of the extension.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// publisher is the publisher of the extension.
	// +required
	// +kubebuilder:validation:MinLength=1
	Publisher string `json:"publisher"`

	// version is the version of the extension.
	// +required
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`

	// settings are the settings of the extension.
	// +optional
	Settings Tags `json:"settings,omitempty"`

	// protectedSettings are settings that Azure does not show.
	// +optional
	ProtectedSettings Tags `json:"protectedSettings,omitempty"`
}

// NetworkInterface describes a network interface of a VM.
type NetworkInterface struct {
	// subnetName is the subnet. The default for the first interface is the only subnet with the machine's role.
	// +optional
	SubnetName string `json:"subnetName,omitempty"`

	// privateIPConfigs is the number of private addresses. The default is 1.
	// Azure takes 256 for an interface.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	PrivateIPConfigs int `json:"privateIPConfigs,omitempty"`

	// acceleratedNetworking turns on accelerated networking. The default is on where the VM size can.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
}
