package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// storageProfile describes the disks, which Azure makes together with the VM. They outlive it, as Azure does it where no
// delete option says otherwise, until the machine is deleted.
func storageProfile(in plan.MachineInput, image *infrav1.Image) *armcompute.StorageProfile {
	spec := in.AzureMachine.Spec
	os := &armcompute.OSDisk{
		Name:         new(plan.OSDiskName(in)),
		CreateOption: new(armcompute.DiskCreateOptionTypesFromImage),
		OSType:       new(armcompute.OperatingSystemTypes(spec.OSDisk.OSType)),
		DiskSizeGB:   spec.OSDisk.DiskSizeGB,
		ManagedDisk:  managedDisk(spec.OSDisk.ManagedDisk),
	}
	if spec.OSDisk.CachingType != "" {
		os.Caching = new(armcompute.CachingTypes(spec.OSDisk.CachingType))
	}
	if settings := spec.OSDisk.DiffDiskSettings; settings != nil {
		os.DiffDiskSettings = &armcompute.DiffDiskSettings{Option: new(armcompute.DiffDiskOptions(settings.Option))}
		if settings.Placement != nil {
			os.DiffDiskSettings.Placement = new(armcompute.DiffDiskPlacement(*settings.Placement))
		}
	}
	profile := &armcompute.StorageProfile{ImageReference: imageReference(image), OSDisk: os, DataDisks: []*armcompute.DataDisk{}}
	for _, disk := range spec.DataDisks {
		data := &armcompute.DataDisk{
			Name:         new(plan.DataDiskName(in, disk.NameSuffix)),
			CreateOption: new(armcompute.DiskCreateOptionTypesEmpty),
			DiskSizeGB:   new(disk.DiskSizeGB),
			Lun:          disk.Lun,
			ManagedDisk:  managedDisk(disk.ManagedDisk),
		}
		if disk.CachingType != "" {
			data.Caching = new(armcompute.CachingTypes(disk.CachingType))
		}
		profile.DataDisks = append(profile.DataDisks, data)
	}
	return profile
}

// diskTags has the disks keep the tags of the machine, which Azure gives them when it makes them with the VM and does not
// change afterwards. An ephemeral disk is no resource.
func diskTags(in plan.MachineInput, g *arm.Graph) {
	for i, id := range Disks(in) {
		if i == 0 && in.AzureMachine.Spec.OSDisk.DiffDiskSettings != nil {
			continue
		}
		g.Add(arm.Node{
			ID: id, After: []arm.ID{plan.VMID(in)}, Policy: arm.TagOnly, Group: infrav1.DisksReadyCondition,
			Body: armcompute.Disk{Tags: vmTags(in)},
		})
	}
}

func managedDisk(spec *infrav1.ManagedDiskParameters) *armcompute.ManagedDiskParameters {
	if spec == nil {
		return nil
	}
	out := &armcompute.ManagedDiskParameters{DiskEncryptionSet: encryptionSet(spec.DiskEncryptionSet)}
	if spec.StorageAccountType != "" {
		out.StorageAccountType = new(armcompute.StorageAccountTypes(spec.StorageAccountType))
	}
	if profile := spec.SecurityProfile; profile != nil {
		out.SecurityProfile = &armcompute.VMDiskSecurityProfile{DiskEncryptionSet: encryptionSet(profile.DiskEncryptionSet)}
		if profile.SecurityEncryptionType != "" {
			out.SecurityProfile.SecurityEncryptionType = new(armcompute.SecurityEncryptionTypes(profile.SecurityEncryptionType))
		}
	}
	return out
}

func encryptionSet(spec *infrav1.DiskEncryptionSetParameters) *armcompute.DiskEncryptionSetParameters {
	if spec == nil || spec.ID == "" {
		return nil
	}
	return &armcompute.DiskEncryptionSetParameters{ID: new(spec.ID)}
}
