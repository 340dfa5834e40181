package compute

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// diskOwner returns the ID of the machine or instance, other than user, that has a disk in its definition, or is about to have it. The disk
// shows its owner only when the operation ends.
func diskOwner(c *provider.Call, diskID, user string) string {
	for _, ref := range c.Referrers(diskID) {
		r := c.Get(ref.From)
		if ref.Field == "managedDisk" && r != nil && !store.SameID(r.ID, user) &&
			(strings.EqualFold(r.Type, VirtualMachines) || strings.EqualFold(r.Type, ScaleSetVMs)) {
			return r.ID
		}
	}
	for op := range c.EachRunning() {
		isDisk := func(disk body.Object) bool { return store.SameID(body.String(disk, "managedDisk.id"), diskID) }
		if !store.SameID(op.ResourceID, user) && slices.ContainsFunc(body.Objects(op.Data, "dataDisks"), isDisk) {
			return op.ResourceID
		}
	}
	return ""
}

// checkDiskFree refuses to attach a disk that another machine has, or still has. The codes and texts are those of public reports.
func checkDiskFree(c *provider.Call, d *provider.Draft, disk *provider.Item) error {
	if owner := diskOwner(c, disk.ID, d.ID); owner != "" {
		return provider.Errorf(409, "ConflictingUserInput", "Disk '%s' cannot be attached as the disk is already owned by VM '%s'.", disk.ID, owner)
	}
	if owner := body.String(disk.Body, "managedBy"); owner != "" && !store.SameID(owner, d.ID) {
		return provider.Errorf(409, "AttachDiskWhileBeingDetached",
			"Cannot attach data disk '%s' to VM '%s' because the disk is currently being detached or the last detach operation failed. Please wait until the disk is completely detached and then try again or delete/detach the disk explicitly again.",
			disk.Name, d.Name)
	}
	return nil
}
