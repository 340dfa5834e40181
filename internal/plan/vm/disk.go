package vm

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// OSDiskName returns the name of a VM's OS disk.
func OSDiskName(vm string) string { return vm + "_OSDisk" }

// DataDiskName returns the name of a data disk.
func DataDiskName(vm, suffix string) string { return vm + "_" + suffix }

// buildStorageProfile returns the disks, which Azure creates together with the VM. Without a delete option they outlive
// the VM, until the machine is deleted. Only the creation of a VM needs the image.
func buildStorageProfile(p Profile) (*armcompute.StorageProfile, error) {
	image, err := SelectImage(p)
	if err != nil && !p.Exists {
		return nil, err
	}
	os := &armcompute.OSDisk{
		Name:         new(OSDiskName(p.Name)),
		CreateOption: new(armcompute.DiskCreateOptionTypesFromImage),
		OSType:       new(armcompute.OperatingSystemTypes(p.OSDisk.OSType)),
		DiskSizeGB:   p.OSDisk.DiskSizeGB,
		ManagedDisk:  buildManagedDisk(p.OSDisk.ManagedDisk),
	}
	if caching := osCaching(p.OSDisk); caching != "" {
		os.Caching = new(armcompute.CachingTypes(caching))
	}
	if settings := p.OSDisk.DiffDiskSettings; settings != nil {
		os.DiffDiskSettings = &armcompute.DiffDiskSettings{Option: new(armcompute.DiffDiskOptions(settings.Option))}
		if settings.Placement != nil {
			os.DiffDiskSettings.Placement = new(armcompute.DiffDiskPlacement(*settings.Placement))
		}
	}
	profile := &armcompute.StorageProfile{ImageReference: toImageReference(image), OSDisk: os, DataDisks: []*armcompute.DataDisk{}}
	for _, disk := range p.DataDisks {
		data := &armcompute.DataDisk{
			Name:         new(DataDiskName(p.Name, disk.NameSuffix)),
			CreateOption: new(armcompute.DiskCreateOptionTypesEmpty),
			DiskSizeGB:   new(disk.DiskSizeGB),
			Lun:          disk.Lun,
			ManagedDisk:  buildManagedDisk(disk.ManagedDisk),
		}
		if disk.CachingType != "" {
			data.Caching = new(armcompute.CachingTypes(disk.CachingType))
		}
		profile.DataDisks = append(profile.DataDisks, data)
	}
	return profile, nil
}

// osCaching returns the host caching of the OS disk, "" for Azure's default. The schema's default is None, which is always
// wrong for an ephemeral disk: Azure accepts only ReadOnly.
// https://learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks-deploy
func osCaching(disk infrav1.OSDisk) string {
	if disk.DiffDiskSettings != nil && (disk.CachingType == "" || disk.CachingType == infrav1.CachingNone) {
		return infrav1.CachingReadOnly
	}
	return disk.CachingType
}

// toScaleSetStorageProfile returns the profile in the form of scale sets, without the name of the OS disk, which Azure
// chooses.
func toScaleSetStorageProfile(of *armcompute.StorageProfile) *armcompute.VirtualMachineScaleSetStorageProfile {
	out := &armcompute.VirtualMachineScaleSetStorageProfile{
		ImageReference: of.ImageReference,
		OSDisk: &armcompute.VirtualMachineScaleSetOSDisk{
			CreateOption:     of.OSDisk.CreateOption,
			OSType:           of.OSDisk.OSType,
			DiskSizeGB:       of.OSDisk.DiskSizeGB,
			Caching:          of.OSDisk.Caching,
			DiffDiskSettings: of.OSDisk.DiffDiskSettings,
			ManagedDisk:      toScaleSetManagedDisk(of.OSDisk.ManagedDisk),
		},
		DataDisks: []*armcompute.VirtualMachineScaleSetDataDisk{},
	}
	for _, disk := range of.DataDisks {
		out.DataDisks = append(out.DataDisks, &armcompute.VirtualMachineScaleSetDataDisk{
			Name:         disk.Name,
			CreateOption: disk.CreateOption,
			DiskSizeGB:   disk.DiskSizeGB,
			Lun:          disk.Lun,
			Caching:      disk.Caching,
			ManagedDisk:  toScaleSetManagedDisk(disk.ManagedDisk),
		})
	}
	return out
}

func buildManagedDisk(spec *infrav1.ManagedDiskParameters) *armcompute.ManagedDiskParameters {
	if spec == nil {
		return nil
	}
	out := &armcompute.ManagedDiskParameters{DiskEncryptionSet: toEncryptionSet(spec.DiskEncryptionSet)}
	if spec.StorageAccountType != "" {
		out.StorageAccountType = new(armcompute.StorageAccountTypes(spec.StorageAccountType))
	}
	if profile := spec.SecurityProfile; profile != nil {
		out.SecurityProfile = &armcompute.VMDiskSecurityProfile{DiskEncryptionSet: toEncryptionSet(profile.DiskEncryptionSet)}
		if profile.SecurityEncryptionType != "" {
			out.SecurityProfile.SecurityEncryptionType = new(armcompute.SecurityEncryptionTypes(profile.SecurityEncryptionType))
		}
	}
	return out
}

func toScaleSetManagedDisk(of *armcompute.ManagedDiskParameters) *armcompute.VirtualMachineScaleSetManagedDiskParameters {
	if of == nil {
		return nil
	}
	return &armcompute.VirtualMachineScaleSetManagedDiskParameters{
		StorageAccountType: of.StorageAccountType, DiskEncryptionSet: of.DiskEncryptionSet, SecurityProfile: of.SecurityProfile,
	}
}

func toEncryptionSet(spec *infrav1.DiskEncryptionSetParameters) *armcompute.DiskEncryptionSetParameters {
	if spec == nil || spec.ID == "" {
		return nil
	}
	return &armcompute.DiskEncryptionSetParameters{ID: new(spec.ID)}
}
