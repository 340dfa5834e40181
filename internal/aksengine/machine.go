package aksengine

import (
	"fmt"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// readMachine fills in the profile of masters or of a pool, and returns the settings of its kubelets.
func (c *conversion) readMachine(from *value, out *infrav1.VirtualMachineProfile, target string, windows bool) kubelet {
	out.VMSize = from.get("vmSize").carryText(target + "vmSize")
	out.SSHPublicKey = c.login.sshPublicKey()
	c.readOSDisk(from, out, target)
	out.OSDisk.OSType = infrav1.LinuxOS
	if windows {
		out.OSDisk.OSType = infrav1.WindowsOS
	}
	c.readImage(from, out, target)
	if on := from.get("encryptionAtHost").carryBool(target + "securityProfile.encryptionAtHost"); on != nil {
		out.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: on}
	}
	if on := from.get("ultraSSDEnabled").carryBool(target + "additionalCapabilities.ultraSSDEnabled"); on != nil {
		out.AdditionalCapabilities = &infrav1.AdditionalCapabilities{UltraSSDEnabled: on}
	}
	accelerated, other := "acceleratedNetworkingEnabled", "acceleratedNetworkingEnabledWindows"
	if windows {
		accelerated, other = other, accelerated
	}
	from.get(other).replace("It is for machines with another operating system.")
	card := infrav1.NetworkInterface{AcceleratedNetworking: from.get(accelerated).carryBool(target + "networkInterfaces[0].acceleratedNetworking")}
	if windows && c.network.plugin == pluginAzure {
		from.get("ipAddressCount").report("Windows machines use the network plug-in of their image.",
			"Set networkInterfaces[0].privateIPConfigs.")
	} else {
		card.PrivateIPConfigs = c.podAddresses(from, target)
	}
	if name := c.network.nodes[from.path]; name != "" {
		card.SubnetName = name
	}
	if card != (infrav1.NetworkInterface{}) {
		out.NetworkInterfaces = []infrav1.NetworkInterface{card}
	}
	kubelet := c.kube.kubelet.merge(readKubelet(from.get("kubernetesConfig", "kubeletConfig"), "nodeRegistration of "+from.path))
	limitPods(&kubelet, card.PrivateIPConfigs)
	return kubelet
}

// merge returns the settings of all machines with those of a pool.
func (k kubelet) merge(own kubelet) kubelet {
	out := kubelet{arguments: slices.Clone(k.arguments), taints: k.taints}
	for _, argument := range own.arguments {
		setArgument(&out.arguments, argument.Name, *argument.Value)
	}
	if len(own.taints) > 0 {
		out.taints = own.taints
	}
	return out
}

var cachingTypes = []string{infrav1.CachingNone, infrav1.CachingReadOnly, infrav1.CachingReadWrite}

// readOSDisk reads the disk of the operating system.
func (c *conversion) readOSDisk(from *value, out *infrav1.VirtualMachineProfile, target string) {
	out.OSDisk.DiskSizeGB = from.get("osDiskSizeGB").carryNumber(target+"osDisk.diskSizeGB", 1, 32767)
	if out.OSDisk.DiskSizeGB == nil {
		out.OSDisk.DiskSizeGB = new(int32(osDiskGB))
	}
	out.OSDisk.CachingType = from.get("osDiskCachingType").carryChoice(target+"osDisk.cachingType", cachingTypes...)
	if id := from.get("diskEncryptionSetID").carryText(target + "osDisk.managedDisk.diskEncryptionSet.id"); id != "" {
		out.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{DiskEncryptionSet: &infrav1.DiskEncryptionSetParameters{ID: id}}
	}
	storage := from.get("storageProfile")
	switch strings.ToLower(storage.text()) {
	case "ephemeral":
		out.OSDisk.DiffDiskSettings = &infrav1.DiffDiskSettings{Option: infrav1.DiffDiskOptionLocal}
		out.OSDisk.CachingType = infrav1.CachingReadOnly
		storage.carry(target + "osDisk.diffDiskSettings")
		from.get("osDiskCachingType").replace("Ephemeral disks have the caching type ReadOnly.")
	case "", "manageddisks":
		storage.replace("All disks are managed disks.")
	default:
		storage.report("All disks are managed disks.", "Use managed disks in workloads that use disks of a storage account.")
	}
}

// readDataDisks reads the data disks of a pool. Masters of aks-engine have none.
func readDataDisks(from *value, out *infrav1.VirtualMachineProfile, target string) {
	caching := from.get("dataDiskCachingType")
	caching.replace("The pool has no data disks.")
	for i, size := range from.get("diskSizesGB").list() {
		place := target + "dataDisks"
		if gigabytes := size.carryNumber(place, 1, 32767); gigabytes != nil {
			out.DataDisks = append(out.DataDisks, infrav1.DataDisk{NameSuffix: fmt.Sprintf("data%d", i), DiskSizeGB: *gigabytes,
				Lun: new(int32(i)), CachingType: caching.carryChoice(place+"[].cachingType", cachingTypes...)})
		}
	}
}

// readImage reads the image of Linux machines.
func (c *conversion) readImage(from *value, out *infrav1.VirtualMachineProfile, target string) {
	distro := from.get("distro")
	switch name := strings.ToLower(distro.text()); {
	case distro.isEmpty():
	case name == "coreos", name == "flatcar":
		distro.report("Machines have the default image, Ubuntu.", "See docs/book/selfmanaged/flatcar.md.")
	default:
		distro.replace("The default image of the version of Kubernetes, which is of Ubuntu.")
	}
	reference := from.get("imageReference")
	name, group, gallery := reference.get("name"), reference.get("resourceGroup"), reference.get("gallery")
	if name.isEmpty() || group.isEmpty() {
		reference.report("The reference has no name and resource group.", "Set image of the machines.")
		return
	}
	subscription, version := reference.get("subscriptionId"), reference.get("version")
	switch {
	case !gallery.isEmpty() && !subscription.isEmpty() && !version.isEmpty():
		place := target + "image.computeGallery."
		image := &infrav1.AzureComputeGalleryImage{
			Gallery: gallery.carryText(place + "gallery"), Name: name.carryText(place + "name"),
			Version: version.carryText(place + "version"),
		}
		image.SubscriptionID, image.ResourceGroup = new(subscription.carryText(place+"subscriptionID")),
			new(group.carryText(place+"resourceGroup"))
		out.Image = &infrav1.Image{ComputeGallery: image}
	case gallery.isEmpty() && c.SubscriptionID != "":
		place := target + "image.id"
		subscription.replace("The image is in the subscription of the cluster.")
		id := "/subscriptions/" + c.SubscriptionID + "/resourceGroups/" + group.carryText(place) + "/providers/Microsoft.Compute/images/" + name.carryText(place)
		out.Image = &infrav1.Image{ID: &id}
	default:
		reference.report("The reference is not complete.", "Set image of the machines.")
		return
	}
	c.before("Build images with Kubernetes %s, for example with image-builder. Images of aks-engine do not have it: docs/book/selfmanaged/images.md.", c.KubernetesVersion)
}
