package quiescence_test

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// bringCompute makes the resources that the spec of a machine refers to: keys, images, reserved capacity and a scale set.
func (w *world) bringCompute(in plan.MachineInput) {
	w.t.Helper()
	spec, location := in.AzureMachine.Spec, plan.Location(in.ClusterInput)
	put := func(id string, more map[string]any) {
		w.t.Helper()
		target := arm.ID(id)
		w.putResource(arm.ResourceGroupID(target.Subscription(), target.ResourceGroup()), map[string]any{"location": location})
		more["location"] = location
		w.putResource(target, more)
	}
	key := func(set *infrav1.DiskEncryptionSetParameters, kind string) {
		w.t.Helper()
		if set != nil {
			put(set.ID, map[string]any{"properties": map[string]any{"encryptionType": kind,
				"activeKey": map[string]any{"keyUrl": "https://keys.vault.azure.net/keys/disks/1"}}})
		}
	}
	disks := []*infrav1.ManagedDiskParameters{spec.OSDisk.ManagedDisk}
	for _, disk := range spec.DataDisks {
		disks = append(disks, disk.ManagedDisk)
	}
	for _, disk := range disks {
		if disk == nil {
			continue
		}
		key(disk.DiskEncryptionSet, "EncryptionAtRestWithCustomerKey")
		if disk.SecurityProfile != nil {
			key(disk.SecurityProfile.DiskEncryptionSet, "ConfidentialVmEncryptedWithCustomerKey")
		}
	}
	w.bringImage(in, put)
	if id := spec.CapacityReservationGroupID; id != nil {
		group := arm.TrimScheme(*id)
		put(group, map[string]any{})
		put(group+"/capacityReservations/all", map[string]any{"sku": map[string]any{"name": spec.VMSize, "capacity": 1}})
	}
	if id := spec.VirtualMachineScaleSetID; id != nil {
		set := map[string]any{"properties": map[string]any{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}}
		if zone := machine.FailureDomain(in); zone != "" {
			set["zones"] = []any{zone}
		}
		put(arm.TrimScheme(*id), set)
	}
}

func (w *world) bringImage(in plan.MachineInput, put func(string, map[string]any)) {
	w.t.Helper()
	image := in.AzureMachine.Spec.Image
	if image == nil {
		return
	}
	kind := in.AzureMachine.Spec.OSDisk.OSType
	if image.ID != nil {
		put(*image.ID, map[string]any{"properties": map[string]any{"hyperVGeneration": "V2",
			"storageProfile": map[string]any{"osDisk": map[string]any{"osType": kind, "osState": "Generalized"}}}})
		return
	}
	gallery, name, version := "", "", ""
	switch shared, own := image.SharedGallery, image.ComputeGallery; {
	case shared != nil:
		gallery, name, version = galleryID(shared.SubscriptionID, shared.ResourceGroup, shared.Gallery), shared.Name, shared.Version
	case own != nil && own.ResourceGroup != nil:
		gallery, name, version = galleryID(*own.SubscriptionID, *own.ResourceGroup, own.Gallery), own.Name, own.Version
	default:
		return
	}
	put(gallery, map[string]any{})
	id := gallery + "/images/" + name
	put(id, map[string]any{"properties": map[string]any{
		"osType": kind, "osState": "Generalized", "hyperVGeneration": "V2",
		"identifier": map[string]any{"publisher": "p", "offer": "o", "sku": "s"},
		"features":   []any{map[string]any{"name": "SecurityType", "value": "TrustedLaunchAndConfidentialVmSupported"}},
	}})
	put(id+"/versions/"+version, map[string]any{})
}

func galleryID(subscription, group, gallery string) string {
	return "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Compute/galleries/" + gallery
}
