package webhook

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Limits of disks, in GiB and logical unit numbers. See
// https://learn.microsoft.com/azure/virtual-machines/managed-disks-overview.
const (
	maxOSDiskSizeGB   = 2048
	minDataDiskSizeGB = 4
	maxDataDiskSizeGB = 32767
	maxLun            = 63
)

var cachingTypes = []string{infrav1.CachingNone, infrav1.CachingReadOnly, infrav1.CachingReadWrite}

// ValidateOSDisk checks the disk with the operating system.
func ValidateOSDisk(disk infrav1.OSDisk, path *field.Path) (errs field.ErrorList) {
	if disk.DiskSizeGB != nil && (*disk.DiskSizeGB < 1 || *disk.DiskSizeGB > maxOSDiskSizeGB) {
		errs = append(errs, field.Invalid(path.Child("diskSizeGB"), *disk.DiskSizeGB, fmt.Sprintf("must be between 1 and %d", maxOSDiskSizeGB)))
	}
	if disk.OSType == "" {
		errs = append(errs, field.Required(path.Child("osType"), "must be Linux or Windows"))
	}
	errs = append(errs, validateCaching(disk.CachingType, path)...)
	if disk.ManagedDisk != nil {
		path := path.Child("managedDisk")
		errs = append(errs, validateManagedDisk(disk.ManagedDisk, path)...)
		if disk.ManagedDisk.StorageAccountType == infrav1.StorageAccountTypeUltraSSD {
			errs = append(errs, field.Invalid(path.Child("storageAccountType"), disk.ManagedDisk.StorageAccountType, "an ultra disk can be a data disk only"))
		}
		if disk.DiffDiskSettings != nil && disk.ManagedDisk.DiskEncryptionSet != nil {
			errs = append(errs, field.Forbidden(path.Child("diskEncryptionSet"), "an ephemeral disk cannot be encrypted with a disk encryption set; remove it or diffDiskSettings"))
		}
	}
	if disk.DiffDiskSettings != nil && disk.DiffDiskSettings.Placement != nil && disk.DiffDiskSettings.Option != infrav1.DiffDiskOptionLocal {
		errs = append(errs, field.Invalid(path.Child("diffDiskSettings", "placement"), *disk.DiffDiskSettings.Placement, "needs the option Local"))
	}
	return errs
}

// ValidateDataDisks checks the data disks.
func ValidateDataDisks(disks []infrav1.DataDisk, path *field.Path) (errs field.ErrorList) {
	names, luns := sets.New[string](), sets.New[int32]()
	for i, disk := range disks {
		path := path.Index(i)
		if disk.DiskSizeGB < minDataDiskSizeGB || disk.DiskSizeGB > maxDataDiskSizeGB {
			errs = append(errs, field.Invalid(path.Child("diskSizeGB"), disk.DiskSizeGB, fmt.Sprintf("must be between %d and %d", minDataDiskSizeGB, maxDataDiskSizeGB)))
		}
		switch {
		case disk.NameSuffix == "":
			errs = append(errs, field.Required(path.Child("nameSuffix"), "must not be empty"))
		case names.Has(disk.NameSuffix):
			errs = append(errs, field.Duplicate(path.Child("nameSuffix"), disk.NameSuffix))
		}
		names.Insert(disk.NameSuffix)
		switch {
		case disk.Lun == nil:
			errs = append(errs, field.Required(path.Child("lun"), fmt.Sprintf("must be between 0 and %d", maxLun)))
		case *disk.Lun < 0 || *disk.Lun > maxLun:
			errs = append(errs, field.Invalid(path.Child("lun"), *disk.Lun, fmt.Sprintf("must be between 0 and %d", maxLun)))
		case luns.Has(*disk.Lun):
			errs = append(errs, field.Duplicate(path.Child("lun"), *disk.Lun))
		}
		if disk.Lun != nil {
			luns.Insert(*disk.Lun)
		}
		errs = append(errs, validateCaching(disk.CachingType, path)...)
		if disk.ManagedDisk != nil {
			errs = append(errs, validateManagedDisk(disk.ManagedDisk, path.Child("managedDisk"))...)
			if disk.ManagedDisk.StorageAccountType == infrav1.StorageAccountTypeUltraSSD && disk.CachingType != infrav1.CachingNone {
				errs = append(errs, field.Invalid(path.Child("cachingType"), disk.CachingType, "an ultra disk needs None"))
			}
		}
	}
	return errs
}

func validateCaching(caching string, path *field.Path) field.ErrorList {
	if caching != "" && !slices.Contains(cachingTypes, caching) {
		return field.ErrorList{field.NotSupported(path.Child("cachingType"), caching, cachingTypes)}
	}
	return nil
}

func validateManagedDisk(disk *infrav1.ManagedDiskParameters, path *field.Path) (errs field.ErrorList) {
	known := armcompute.PossibleDiskStorageAccountTypesValues()
	if t := disk.StorageAccountType; t != "" && !slices.Contains(known, armcompute.DiskStorageAccountTypes(t)) {
		errs = append(errs, field.NotSupported(path.Child("storageAccountType"), armcompute.DiskStorageAccountTypes(t), known))
	}
	if p := disk.SecurityProfile; p != nil && p.DiskEncryptionSet != nil && p.SecurityEncryptionType != infrav1.SecurityEncryptionTypeDiskWithVMGuestState {
		errs = append(errs, field.Forbidden(path.Child("securityProfile", "diskEncryptionSet"), "needs the securityEncryptionType DiskWithVMGuestState"))
	}
	return errs
}
