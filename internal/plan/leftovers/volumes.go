package leftovers

import (
	"encoding/json"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// IsDeletionRequested reports whether the user asked for the deletion of leftovers.
func IsDeletionRequested(azureCluster *infrav1.AzureCluster) bool {
	return azureCluster.Annotations[infrav1.DeleteLeftoversAnnotation] == "true"
}

// machineBody is the part of the body of a VM, or of an instance of a scale set, that this package reads.
type machineBody struct {
	ID         arm.ID `json:"id"`
	Properties struct {
		ProvisioningState string `json:"provisioningState"`
		StorageProfile    struct {
			DataDisks []struct {
				ManagedDisk *resourceReference `json:"managedDisk"`
			} `json:"dataDisks"`
		} `json:"storageProfile"`
	} `json:"properties"`
}

// ProvesAttachment reports whether a VM or scale set proves that its disks are the cluster's: it has the cluster's tags,
// and is not being deleted.
func (c Cluster) ProvesAttachment(body json.RawMessage) bool {
	var one machineBody
	return json.Unmarshal(body, &one) == nil && one.ID != "" && c.HasClusterTags(body) &&
		!strings.EqualFold(one.Properties.ProvisioningState, "Deleting")
}

// ListDataDisks returns the data disks of VMs by key, each with its VM. It leaves out planned disks, which the provider
// created.
func (c Cluster) ListDataDisks(vms []json.RawMessage) map[string]arm.ID {
	out := map[string]arm.ID{}
	for _, body := range vms {
		var vm machineBody
		// A VM of another shape proves nothing.
		if json.Unmarshal(body, &vm) != nil {
			continue
		}
		for _, disk := range vm.Properties.StorageProfile.DataDisks {
			if disk.ManagedDisk != nil && disk.ManagedDisk.ID != "" && !c.IsPlanned(disk.ManagedDisk.ID) {
				out[disk.ManagedDisk.ID.Key()] = vm.ID
			}
		}
	}
	return out
}

// VolumesToTag returns the disks of volumes that have to be tagged before their VMs are deleted. attached is the result of
// ListDataDisks for VMs that are proven to be the cluster's. The disk's own body has to name the same VM.
func (c Cluster) VolumesToTag(attached map[string]arm.ID, disks []json.RawMessage) (out []arm.ID) {
	for _, disk := range decodeResources(disks) {
		vm, ok := attached[disk.ID.Key()]
		if ok && c.Owner != "" && isSameMachine(disk.ManagedBy, vm) && c.isVolume(disk) && disk.sharedDiskReason() == "" &&
			tagValue(disk.Tags, infrav1.VolumeTag) != c.Owner {
			out = append(out, disk.ID)
		}
	}
	return out
}

// isSameMachine reports whether vm manages a disk. An instance of a scale set has its number as name in its own body, and
// the name of the scale set with the number in bodies of disks. So all instances of one scale set count as the same.
func isSameMachine(managedBy, vm arm.ID) bool {
	return managedBy.Equal(vm) || strings.EqualFold(vm.Parent().Type(), types.ScaleSet) && managedBy.Parent().Equal(vm.Parent())
}

// isVolume reports whether a disk was created for a volume and is not managed by the provider of any cluster. The CSI
// driver's controller sets the tag when it creates a disk for a claim (--extra-create-metadata of external-provisioner,
// which the driver's chart sets). A disk that a user created, and used in a PersistentVolume or attached to a VM, does not
// have it.
func (c Cluster) isVolume(disk resourceBody) bool {
	return strings.EqualFold(disk.ID.Type(), types.Disk) && tagValue(disk.Tags, volumeTag) != "" && !c.IsPlanned(disk.ID) &&
		!c.hasOwnershipTag(disk)
}

// sharedDiskReason returns why several VMs may use a disk; "" if only one can.
// https://learn.microsoft.com/en-us/azure/virtual-machines/disks-shared
func (r resourceBody) sharedDiskReason() string {
	if r.Properties.MaxShares > 1 || len(r.ManagedByExtended) > 0 {
		return "it is a shared disk, which other machines may use"
	}
	return ""
}

// unprovenDiskReason returns why the disk of a volume may belong to others; "" if it was attached to a machine of this
// cluster. whole is the complete body of the disk, nil if it was not read.
func (c Cluster) unprovenDiskReason(whole *resourceBody) string {
	switch {
	case whole == nil:
		return "Azure does not show to which machines a disk was attached, and the provider tags disks only in clusters whose deletion removes leftovers"
	case whole.sharedDiskReason() != "":
		return whole.sharedDiskReason()
	}
	switch owner := tagValue(whole.Tags, infrav1.VolumeTag); {
	case owner == "":
		return "no machine of the cluster had the disk attached when the machine was deleted with the cluster"
	case c.Owner == "" || owner != c.Owner:
		return "it was attached to a machine of another cluster"
	}
	return ""
}

// NeedsDiskBodies reports whether complete bodies of disks decide about a leftover of the group.
func (c Cluster) NeedsDiskBodies(resources []json.RawMessage) bool {
	for _, one := range decodeResources(resources) {
		if c.isVolume(one) && one.ManagedBy == "" {
			return true
		}
	}
	return false
}
