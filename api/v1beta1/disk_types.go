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

// StorageAccountTypeUltraSSD is the storage account type of ultra disks. Only data disks can have it, and they cannot
// be cached.
const StorageAccountTypeUltraSSD = "UltraSSD_LRS"

// StorageAccountTypePremiumV2 is the storage account type of Premium SSD v2. The rules of ultra disks hold for it, too:
// https://learn.microsoft.com/azure/virtual-machines/disks-types#premium-ssd-v2-limitations
const StorageAccountTypePremiumV2 = "PremiumV2_LRS"

// AllowsHostCaching returns true if disks of the type can be cached on the host of the VM, and be OS disks.
func (p *ManagedDiskParameters) AllowsHostCaching() bool {
	return p == nil || p.StorageAccountType != StorageAccountTypeUltraSSD && p.StorageAccountType != StorageAccountTypePremiumV2
}

// OSDisk describes the disk with the operating system.
// +kubebuilder:validation:XValidation:rule=`!(self.?managedDisk.?storageAccountType.orValue("") in ['PremiumV2_LRS', 'UltraSSD_LRS'])`,message="a disk of type PremiumV2_LRS or UltraSSD_LRS can be a data disk only: choose another type",fieldPath=".managedDisk.storageAccountType"
// +kubebuilder:validation:XValidation:rule="!has(self.diffDiskSettings) || !self.?managedDisk.?diskEncryptionSet.hasValue()",message="an ephemeral disk cannot be encrypted with a disk encryption set: remove it or diffDiskSettings",fieldPath=".managedDisk.diskEncryptionSet",reason="FieldValueForbidden"
type OSDisk struct {
	// osType is the operating system: Linux (the default) or Windows.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:default=Linux
	OSType string `json:"osType,omitempty"`

	// diskSizeGB is the size of the disk in GiB, 1 to 2048. The default is the size of the image.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2048
	DiskSizeGB *int32 `json:"diskSizeGB,omitempty"`

	// managedDisk has the type and the encryption of the disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// diffDiskSettings make the disk ephemeral: it is stored on the host of the VM and lost with it.
	// +optional
	DiffDiskSettings *DiffDiskSettings `json:"diffDiskSettings,omitempty"`

	// cachingType is the caching of the disk on the host: None (the default), ReadOnly or ReadWrite. For an ephemeral
	// disk the default is ReadOnly, because Azure does not accept None.
	// +optional
	// +kubebuilder:validation:Enum=None;ReadOnly;ReadWrite
	// +kubebuilder:default=None
	CachingType string `json:"cachingType,omitempty"`
}

// DataDisk describes a data disk.
// +kubebuilder:validation:XValidation:rule=`!(self.?managedDisk.?storageAccountType.orValue("") in ['PremiumV2_LRS', 'UltraSSD_LRS']) || self.?cachingType.orValue('None') == 'None'`,message="must be None for a disk of type PremiumV2_LRS or UltraSSD_LRS",fieldPath=".cachingType"
type DataDisk struct {
	// nameSuffix is the end of the disk's name, "<machine>_<nameSuffix>", 1 to 78 characters. The whole name has at
	// most 80 characters. Each data disk needs a different one.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=78
	NameSuffix string `json:"nameSuffix"`

	// diskSizeGB is the size of the disk in GiB, 4 to 32767.
	// +required
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=32767
	DiskSizeGB int32 `json:"diskSizeGB"`

	// managedDisk has the type and the encryption of the disk.
	// +optional
	ManagedDisk *ManagedDiskParameters `json:"managedDisk,omitempty"`

	// lun is the logical unit number, 0 to 63. The default is the lowest free number. Each data disk needs a different
	// one.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	Lun *int32 `json:"lun,omitempty"`

	// cachingType is the caching of the disk on the host: None, ReadOnly or ReadWrite. The default is ReadWrite, and
	// None for disks of the types PremiumV2_LRS and UltraSSD_LRS, which cannot have another one.
	// +optional
	// +kubebuilder:validation:Enum=None;ReadOnly;ReadWrite
	CachingType string `json:"cachingType,omitempty"`
}

// ManagedDiskParameters has the type and the encryption of a managed disk.
type ManagedDiskParameters struct {
	// storageAccountType is the type of disk, for example Premium_LRS. The default is Azure's. PremiumV2_LRS and
	// UltraSSD_LRS are for data disks only.
	// +optional
	// +kubebuilder:validation:Enum=PremiumV2_LRS;Premium_LRS;Premium_ZRS;StandardSSD_LRS;StandardSSD_ZRS;Standard_LRS;UltraSSD_LRS
	StorageAccountType string `json:"storageAccountType,omitempty"`

	// diskEncryptionSet is the disk encryption set whose key encrypts the disk.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// securityProfile configures the encryption of a disk of a confidential VM.
	// +optional
	SecurityProfile *VMDiskSecurityProfile `json:"securityProfile,omitempty"`
}

// DiskEncryptionSetParameters identifies a disk encryption set.
type DiskEncryptionSetParameters struct {
	// id is the Azure resource ID of the disk encryption set.
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityEncryptionType is the part of a confidential VM that is encrypted.
// +kubebuilder:validation:Enum=VMGuestStateOnly;DiskWithVMGuestState
type SecurityEncryptionType string

const (
	// SecurityEncryptionTypeVMGuestStateOnly encrypts the guest state.
	SecurityEncryptionTypeVMGuestStateOnly SecurityEncryptionType = "VMGuestStateOnly"
	// SecurityEncryptionTypeDiskWithVMGuestState encrypts the guest state and the disk.
	SecurityEncryptionTypeDiskWithVMGuestState SecurityEncryptionType = "DiskWithVMGuestState"
)

// VMDiskSecurityProfile configures the encryption of a disk of a confidential VM.
// +kubebuilder:validation:XValidation:rule=`!has(self.diskEncryptionSet) || self.?securityEncryptionType.orValue("") == 'DiskWithVMGuestState'`,message="needs the securityEncryptionType DiskWithVMGuestState",fieldPath=".diskEncryptionSet",reason="FieldValueForbidden"
type VMDiskSecurityProfile struct {
	// diskEncryptionSet is the disk encryption set whose key encrypts the disk. It needs the securityEncryptionType
	// DiskWithVMGuestState.
	// +optional
	DiskEncryptionSet *DiskEncryptionSetParameters `json:"diskEncryptionSet,omitempty"`

	// securityEncryptionType is VMGuestStateOnly to encrypt the guest state, or DiskWithVMGuestState to encrypt the
	// guest state and the disk.
	// +optional
	SecurityEncryptionType SecurityEncryptionType `json:"securityEncryptionType,omitempty"`
}

// DiffDiskPlacement is the disk of the host that stores an ephemeral OS disk.
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

// DiffDiskOptionLocal is the only value of the option of ephemeral disks.
const DiffDiskOptionLocal = "Local"

// DiffDiskSettings describe an ephemeral disk.
type DiffDiskSettings struct {
	// option is Local: the disk is on the host of the VM, and its data are lost when the VM moves to another host or is reimaged.
	// +required
	// +kubebuilder:validation:Enum=Local
	Option string `json:"option"`

	// placement is the disk of the host that stores the ephemeral disk: CacheDisk, NvmeDisk or ResourceDisk. By default
	// Azure chooses.
	// +optional
	Placement *DiffDiskPlacement `json:"placement,omitempty"`
}
