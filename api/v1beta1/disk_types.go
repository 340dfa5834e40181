package v1beta1

// Values of cachingType.
const (
	// CachingNone caches nothing.
	CachingNone = "None"
	// CachingReadOnly caches reads.
	CachingReadOnly = "ReadOnly"
	// CachingReadWrite caches reads and writes.
	CachingReadWrite = "ReadWrite"
)

// Values of osType.
const (
	// LinuxOS is Linux.
	LinuxOS = "Linux"
	// WindowsOS is Windows.
	WindowsOS = "Windows"
)

// StorageAccountTypeUltraSSD is the storage account type of ultra disks, which only data disks can be and which are not
// cached.
const StorageAccountTypeUltraSSD = "UltraSSD_LRS"

// OSDisk describes the disk with the operating system.
// +kubebuilder:validation:XValidation:rule=`self.?managedDisk.?storageAccountType.orValue("") != 'UltraSSD_LRS'`,message="an ultra disk can be a data disk only: choose another type",fieldPath=".managedDisk.storageAccountType"
// +kubebuilder:validation:XValidation:rule="!has(self.diffDiskSettings) || !self.?managedDisk.?diskEncryptionSet.hasValue()",message="an ephemeral disk cannot be encrypted with a disk encryption set: remove it or diffDiskSettings",fieldPath=".managedDisk.diskEncryptionSet",reason="FieldValueForbidden"
type OSDisk struct {
	// osType is Linux or Windows.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:default=Linux
	OSType string `json:"osType,omitempty"`

	// diskSizeGB is the size in GiB. The default is the size of the image.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2048
	DiskSizeGB *int32 `json:"diskSizeGB,omitempty"`

	// managedDisk describes the managed disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// diffDiskSettings make the disk ephemeral.
	// +optional
	DiffDiskSettings *DiffDiskSettings `json:"diffDiskSettings,omitempty"`

	// cachingType is how the host caches the disk. An ephemeral disk has ReadOnly instead of None, which Azure does not take.
	// +optional
	// +kubebuilder:validation:Enum=None;ReadOnly;ReadWrite
	// +kubebuilder:default=None
	CachingType string `json:"cachingType,omitempty"`
}

// DataDisk describes a data disk.
// +kubebuilder:validation:XValidation:rule=`self.?managedDisk.?storageAccountType.orValue("") != 'UltraSSD_LRS' || self.?cachingType.orValue('None') == 'None'`,message="an ultra disk needs None",fieldPath=".cachingType"
type DataDisk struct {
	// nameSuffix ends the name of the disk, which is "<machine>_<nameSuffix>" and has at most 80 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=78
	NameSuffix string `json:"nameSuffix"`

	// diskSizeGB is the size in GiB.
	// +required
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=32767
	DiskSizeGB int32 `json:"diskSizeGB"`

	// managedDisk describes the managed disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// lun is the logical unit number, 0 to 63. The default is the lowest that is free.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	Lun *int32 `json:"lun,omitempty"`

	// cachingType is how the host caches the disk. The default is ReadWrite, and None for ultra disks.
	// +optional
	// +kubebuilder:validation:Enum=None;ReadOnly;ReadWrite
	CachingType string `json:"cachingType,omitempty"`
}

// ManagedDiskParameters describe a managed disk.
type ManagedDiskParameters struct {
	// storageAccountType is the kind of disk, for example Premium_LRS.
	// +optional
	// +kubebuilder:validation:Enum=PremiumV2_LRS;Premium_LRS;Premium_ZRS;StandardSSD_LRS;StandardSSD_ZRS;Standard_LRS;UltraSSD_LRS
	StorageAccountType string `json:"storageAccountType,omitempty"`

	// diskEncryptionSet is the key with which the disk is encrypted.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// securityProfile is how the disk of a confidential VM is encrypted.
	// +optional
	SecurityProfile *VMDiskSecurityProfile `json:"securityProfile,omitempty"`
}

// DiskEncryptionSetParameters name a disk encryption set.
type DiskEncryptionSetParameters struct {
	// id is the Azure resource ID of the disk encryption set.
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityEncryptionType is what of a confidential VM is encrypted.
// +kubebuilder:validation:Enum=VMGuestStateOnly;DiskWithVMGuestState
type SecurityEncryptionType string

const (
	// SecurityEncryptionTypeVMGuestStateOnly encrypts the guest state.
	SecurityEncryptionTypeVMGuestStateOnly SecurityEncryptionType = "VMGuestStateOnly"
	// SecurityEncryptionTypeDiskWithVMGuestState encrypts the guest state and the disk.
	SecurityEncryptionTypeDiskWithVMGuestState SecurityEncryptionType = "DiskWithVMGuestState"
)

// VMDiskSecurityProfile is how the disk of a confidential VM is encrypted.
// +kubebuilder:validation:XValidation:rule=`!has(self.diskEncryptionSet) || self.?securityEncryptionType.orValue("") == 'DiskWithVMGuestState'`,message="needs the securityEncryptionType DiskWithVMGuestState",fieldPath=".diskEncryptionSet",reason="FieldValueForbidden"
type VMDiskSecurityProfile struct {
	// diskEncryptionSet is the key of a disk with the encryption type DiskWithVMGuestState.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// securityEncryptionType is what is encrypted.
	// +optional
	SecurityEncryptionType SecurityEncryptionType `json:"securityEncryptionType,omitempty"`
}

// DiffDiskPlacement is where an ephemeral disk is kept.
// +kubebuilder:validation:Enum=CacheDisk;NvmeDisk;ResourceDisk
type DiffDiskPlacement string

const (
	// DiffDiskPlacementCacheDisk is the cache disk of the VM size.
	DiffDiskPlacementCacheDisk DiffDiskPlacement = "CacheDisk"
	// DiffDiskPlacementNvmeDisk is the NVMe disk of the VM size.
	DiffDiskPlacementNvmeDisk DiffDiskPlacement = "NvmeDisk"
	// DiffDiskPlacementResourceDisk is the temporary disk of the VM size.
	DiffDiskPlacementResourceDisk DiffDiskPlacement = "ResourceDisk"
)

// DiffDiskOptionLocal is the option of ephemeral disks.
const DiffDiskOptionLocal = "Local"

// DiffDiskSettings describe an ephemeral disk.
type DiffDiskSettings struct {
	// option is Local.
	// +required
	// +kubebuilder:validation:Enum=Local
	Option string `json:"option"`

	// placement is where the disk is kept. Azure chooses by default.
	// +optional
	Placement *DiffDiskPlacement `json:"placement,omitempty"`
}
