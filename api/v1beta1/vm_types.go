package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// VMIdentity is the kind of managed identity of a VM.
// +kubebuilder:validation:Enum=None;SystemAssigned;UserAssigned
type VMIdentity string

const (
	// VMIdentityNone is no managed identity.
	VMIdentityNone VMIdentity = "None"
	// VMIdentitySystemAssigned is an identity that is created and deleted with the VM.
	VMIdentitySystemAssigned VMIdentity = "SystemAssigned"
	// VMIdentityUserAssigned is one or several identities that users created.
	VMIdentityUserAssigned VMIdentity = "UserAssigned"
)

// UserAssignedIdentity identifies a user-assigned managed identity.
type UserAssignedIdentity struct {
	// providerID is the Azure resource ID of the identity. It may start with "azure://".
	// +required
	// +kubebuilder:validation:Pattern=`(?i)^(azure://)?/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+/?$`
	ProviderID string `json:"providerID"`
}

// SystemAssignedIdentityRole is the role assignment of a system-assigned identity.
type SystemAssignedIdentityRole struct {
	// name is the name of the role assignment, a UUID. The default is a generated UUID.
	// +optional
	Name string `json:"name,omitempty"`

	// scope is the Azure resource ID of the scope of the role assignment. The default is the subscription of the
	// cluster.
	// +optional
	Scope string `json:"scope,omitempty"`

	// definitionID is the Azure resource ID of the role definition. The default is Contributor.
	// +optional
	DefinitionID string `json:"definitionID,omitempty"`
}

// SpotEvictionPolicy is the way in which Azure evicts a spot VM.
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
	// maxPrice is the maximum price of the VM in US dollars per hour. -1, the default, is the price of a regular VM.
	// +optional
	MaxPrice *resource.Quantity `json:"maxPrice,omitempty"`

	// evictionPolicy is the way in which Azure evicts the VM: Deallocate stops and keeps it, Delete deletes it. The
	// default is Delete with an ephemeral OS disk, otherwise Deallocate.
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
	// encryptionAtHost encrypts the disks, the temporary disk and the caches on the host of the VM. The default is
	// false.
	// +optional
	EncryptionAtHost *bool `json:"encryptionAtHost,omitempty"`

	// securityType is ConfidentialVM or TrustedLaunch. Without it, the VM has neither.
	// +optional
	SecurityType SecurityTypes `json:"securityType,omitempty"`

	// uefiSettings are the firmware settings of the VM.
	// +optional
	UefiSettings *UefiSettings `json:"uefiSettings,omitempty"`
}

// UefiSettings are the firmware settings of a VM.
type UefiSettings struct {
	// secureBootEnabled turns on secure boot. The default is false.
	// +optional
	SecureBootEnabled *bool `json:"secureBootEnabled,omitempty"`

	// vTpmEnabled turns on the virtual TPM. The default is false. Confidential VMs need it to be true.
	// +optional
	VTpmEnabled *bool `json:"vTpmEnabled,omitempty"`
}

// AdditionalCapabilities are optional capabilities of a VM.
type AdditionalCapabilities struct {
	// ultraSSDEnabled allows ultra disks to be attached. The default is true if the VM has an ultra data disk,
	// otherwise false.
	// +optional
	UltraSSDEnabled *bool `json:"ultraSSDEnabled,omitempty"`
}

// BootDiagnosticsStorageAccountType is the storage of boot diagnostics.
// +kubebuilder:validation:Enum=Managed;UserManaged;Disabled
type BootDiagnosticsStorageAccountType string

const (
	// ManagedDiagnosticsStorage is a storage account that Azure manages.
	ManagedDiagnosticsStorage BootDiagnosticsStorageAccountType = "Managed"
	// UserManagedDiagnosticsStorage is a storage account of the user.
	UserManagedDiagnosticsStorage BootDiagnosticsStorageAccountType = "UserManaged"
	// DisabledDiagnosticsStorage turns boot diagnostics off.
	DisabledDiagnosticsStorage BootDiagnosticsStorageAccountType = "Disabled"
)

// Diagnostics configures the diagnostics of a VM.
type Diagnostics struct {
	// boot configures the boot diagnostics.
	// +optional
	Boot *BootDiagnostics `json:"boot,omitempty"`
}

// BootDiagnostics configures the storage of the serial log and the screenshot of a VM.
// +kubebuilder:validation:XValidation:rule="self.storageAccountType != 'UserManaged' || has(self.userManaged)",message="storageAccountType: UserManaged needs the storageAccountURI of the blob endpoint of a storage account",fieldPath=".userManaged",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule="self.storageAccountType == 'UserManaged' || !has(self.userManaged)",message="needs storageAccountType: UserManaged",fieldPath=".userManaged",reason="FieldValueForbidden"
type BootDiagnostics struct {
	// storageAccountType is Managed for a storage account that Azure manages, UserManaged for the one in userManaged,
	// or Disabled for no boot diagnostics.
	// +required
	StorageAccountType BootDiagnosticsStorageAccountType `json:"storageAccountType"`

	// userManaged is the storage account for the type UserManaged.
	// +optional
	UserManaged *UserManagedBootDiagnostics `json:"userManaged,omitempty"`
}

// UserManagedBootDiagnostics identifies a storage account.
type UserManagedBootDiagnostics struct {
	// storageAccountURI is the URL of the blob endpoint of the storage account. It starts with https:// and has at most
	// 1024 characters.
	// +required
	// +kubebuilder:validation:Pattern=`^https://`
	// +kubebuilder:validation:MaxLength=1024
	StorageAccountURI string `json:"storageAccountURI"`
}

// VMExtension describes an extension of a VM.
type VMExtension struct {
	// name is the name of the extension, and its type in Azure.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// publisher is the publisher of the extension.
	// +required
	// +kubebuilder:validation:MinLength=1
	Publisher string `json:"publisher"`

	// version is the version of the extension, major and minor, for example 2.1.
	// +required
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`

	// settings are the settings of the extension as key-value pairs. At most 100.
	// +optional
	Settings Tags `json:"settings,omitempty"`

	// protectedSettings are settings that Azure never returns, for example credentials. At most 100.
	// +optional
	ProtectedSettings Tags `json:"protectedSettings,omitempty"`
}

// NetworkInterface describes a network interface of a VM.
type NetworkInterface struct {
	// subnetName is the name of the subnet. The first interface may leave it out if the cluster has exactly one subnet
	// with the role of the machine.
	// +optional
	SubnetName string `json:"subnetName,omitempty"`

	// privateIPConfigs is the number of private IP addresses, at most 256. The default is 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	PrivateIPConfigs int `json:"privateIPConfigs,omitempty"`

	// acceleratedNetworking turns accelerated networking on or off. By default it is on if the VM size supports it.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`
}
