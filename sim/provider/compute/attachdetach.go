package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// attachDetach returns the POST that attaches and detaches managed disks of a VM or instance without its model.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/attach-detach-data-disks
func attachDetach() *provider.Action {
	return &provider.Action{
		Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(8)},
		Start: func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
			disks, err := changedDisks(c, r)
			if err != nil {
				return nil, err
			}
			return &provider.Reply{Body: body.Object{"dataDisks": toStoredList(disks)}}, nil
		},
		Finish: func(c *provider.Call, op *store.Operation, r *store.Resource) error {
			body.Set(r.Body, dataDisksPath, body.Get(op.Data, "dataDisks"))
			makeDisks(c, r)
			if strings.EqualFold(r.Type, ScaleSetVMs) {
				r.Secret[customized] = true
			}
			op.Result = body.Clone(body.Child(r.Body, "properties.storageProfile"))
			return nil
		},
	}
}

// changedDisks returns the data disks of a VM or instance as the request leaves them.
func changedDisks(c *provider.Call, r *store.Resource) ([]body.Object, error) {
	attach, detach := body.Objects(c.Body, "dataDisksToAttach"), body.Objects(c.Body, "dataDisksToDetach")
	if len(attach)+len(detach) == 0 {
		return nil, provider.MissingProperty("dataDisksToAttach")
	}
	disks := body.Objects(body.Clone(r.Body), dataDisksPath)
	for _, one := range detach {
		i := withDisk(disks, body.String(one, "diskId"))
		if i < 0 {
			return nil, provider.InvalidParameter("dataDisksToDetach.diskId", "The disk '%s' is not attached to '%s'.", body.String(one, "diskId"),
				r.Name())
		}
		disks = append(disks[:i:i], disks[i+1:]...)
	}
	for _, one := range attach {
		id := body.String(one, "diskId")
		if id == "" {
			return nil, provider.MissingProperty("dataDisksToAttach.diskId")
		}
		if withDisk(disks, id) >= 0 {
			return nil, provider.Errorf(409, "ConflictingUserInput", "Disk '%s' cannot be attached as the disk is already owned by VM '%s'.", id,
				r.ID)
		}
		disk := body.Object{"createOption": "Attach", "managedDisk": body.Object{"id": id}}
		for _, key := range []string{"caching", "deleteOption", "writeAcceleratorEnabled", "lun"} {
			if value := one[key]; value != nil {
				disk[key] = value
			}
		}
		if disk["lun"] == nil {
			disk["lun"] = float64(freeLUN(disks))
		}
		if set := body.Child(one, "diskEncryptionSet"); set != nil {
			body.Set(disk, "managedDisk.diskEncryptionSet", set)
		}
		disks = append(disks, disk)
	}
	return disks, checkDisks(c, r, disks)
}

// checkDisks checks data disks as a PUT does, and fills in their defaults.
func checkDisks(c *provider.Call, r *store.Resource, disks []body.Object) error {
	size := body.String(r.Body, "properties.hardwareProfile.vmSize")
	if size == "" {
		size = body.String(r.Body, "sku.name")
	}
	z, ok := FindSize(size)
	if !ok {
		return provider.MissingProperty("vmSize")
	}
	d := &provider.Draft{ID: r.ID, Name: r.Name(), Location: r.Location, Old: r.Body, New: body.Clone(r.Body), Secret: body.Object{}}
	body.Set(d.New, dataDisksPath, disks)
	if err := prepareDataDisks(c, d, z, accountType(z)); err != nil {
		return err
	}
	copy(disks, body.Objects(d.New, dataDisksPath))
	return nil
}

// withDisk returns the position of the data disk with a managed disk, -1 when there is none.
func withDisk(disks []body.Object, id string) int {
	for i, disk := range disks {
		if id != "" && store.SameID(body.String(disk, "managedDisk.id"), id) {
			return i
		}
	}
	return -1
}

// freeLUN returns the lowest LUN that no data disk has.
func freeLUN(disks []body.Object) int {
	taken := map[int]bool{}
	for _, disk := range disks {
		taken[body.Int(disk, "lun")] = true
	}
	lun := 0
	for taken[lun] {
		lun++
	}
	return lun
}
