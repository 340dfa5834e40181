package compute

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// checkGrowth refuses a definition of a disk that is smaller than the disk. A larger one grows the disk:
// https://learn.microsoft.com/azure/virtual-machines/linux/expand-disks; the code and the text are from memory. was is the definition that
// the machine has; it can be behind a disk that has grown on its own.
func checkGrowth(c *provider.Call, was, definition body.Object, path string) error {
	disk := c.Get(body.String(definition, "managedDisk.id"))
	want := body.Int(definition, "diskSizeGB")
	if disk == nil || want == 0 || want == body.Int(was, "diskSizeGB") {
		return nil
	}
	if have := body.Int(disk.Body, "properties.diskSizeGB"); want < have {
		return provider.Errorf(409, "ResizeDiskError",
			"Disk size reduction is not supported. Current size is %d bytes, requested size is %d bytes.", have<<30, want<<30).WithTarget(
			path + ".diskSizeGB")
	}
	return nil
}

// showSizes shows the sizes of disks that have grown on their own since the definition of the machine was written.
func showSizes(c *provider.Call, machine body.Object) {
	const profile = "properties.storageProfile."
	for _, definition := range append(body.Objects(machine, profile+"dataDisks"), body.Child(machine, profile+"osDisk")) {
		disk := c.Get(body.String(definition, "managedDisk.id"))
		if have := body.Int(definition, "diskSizeGB"); disk != nil && have > 0 && have < body.Int(disk.Body, "properties.diskSizeGB") {
			body.Set(definition, "diskSizeGB", body.Int(disk.Body, "properties.diskSizeGB"))
		}
	}
}
