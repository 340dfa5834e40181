package importing

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// profile writes the part of a spec that machines and pools have in common.
type profile struct {
	w  *writer
	id arm.ID
	// path is the path of the properties in the body.
	path string
}

func newProfile(w *writer, id arm.ID, path string) profile { return profile{w: w, id: id, path: path} }

// explain explains why a property below the profile is not carried.
func (p profile) explain(path, why string) { p.w.explain(p.id, p.path+"."+path, why) }

// readVM writes the spec of a VM, and returns its Kubernetes version if the image shows it. name is that of the VM or scale set.
func (p profile) readVM(of vmBody, purchase *planBody, spec *infrav1.VirtualMachineProfile, name string) (version string) {
	os := of.StorageProfile.OSDisk
	spec.OSDisk = infrav1.OSDisk{OSType: os.OSType, DiskSizeGB: os.DiskSizeGB, CachingType: os.Caching, ManagedDisk: managedDisk(os.ManagedDisk)}
	if os.DiffDiskSettings != nil {
		spec.OSDisk.DiffDiskSettings = &infrav1.DiffDiskSettings{Option: os.DiffDiskSettings.Option}
		if placement := os.DiffDiskSettings.Placement; placement != "" {
			spec.OSDisk.DiffDiskSettings.Placement = new(infrav1.DiffDiskPlacement(placement))
		}
	}
	spec.Image, version = p.readImage(of.StorageProfile.ImageReference, purchase, os.OSType)
	p.readDataDisks(of.StorageProfile.DataDisks, spec, name)
	p.readKey(of, spec)
	if group := of.CapacityReservation.CapacityReservationGroup; group != nil {
		spec.CapacityReservationGroupID = &group.ID
	}
	if s := of.SecurityProfile; s != nil && (s.EncryptionAtHost != nil || s.SecurityType != "" || s.UefiSettings != nil) {
		spec.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: s.EncryptionAtHost, SecurityType: infrav1.SecurityTypes(s.SecurityType)}
		if s.UefiSettings != nil {
			spec.SecurityProfile.UefiSettings = &infrav1.UefiSettings{SecureBootEnabled: s.UefiSettings.SecureBootEnabled,
				VTpmEnabled: s.UefiSettings.VTpmEnabled}
		}
	}
	boot := &infrav1.BootDiagnostics{StorageAccountType: infrav1.DisabledDiagnosticsStorage}
	if d := of.DiagnosticsProfile; d != nil && d.BootDiagnostics != nil && d.BootDiagnostics.Enabled {
		boot.StorageAccountType = infrav1.ManagedDiagnosticsStorage
		if uri := d.BootDiagnostics.StorageURI; uri != "" {
			boot.StorageAccountType, boot.UserManaged = infrav1.UserManagedDiagnosticsStorage, &infrav1.UserManagedBootDiagnostics{StorageAccountURI: uri}
		}
	}
	spec.Diagnostics = &infrav1.Diagnostics{Boot: boot}
	if of.Priority == "Spot" {
		spec.SpotVMOptions = &infrav1.SpotVMOptions{}
		if of.EvictionPolicy != "" {
			spec.SpotVMOptions.EvictionPolicy = new(infrav1.SpotEvictionPolicy(of.EvictionPolicy))
		}
		if of.BillingProfile != nil && of.BillingProfile.MaxPrice != nil {
			if price, err := resource.ParseQuantity(fmt.Sprint(*of.BillingProfile.MaxPrice)); err == nil {
				spec.SpotVMOptions.MaxPrice = &price
			}
		}
	}
	return version
}

func managedDisk(of *managedDiskBody) *infrav1.ManagedDiskParameters {
	if of == nil || of.StorageAccountType == "" && of.DiskEncryptionSet == nil && of.SecurityProfile == nil {
		return nil
	}
	out := &infrav1.ManagedDiskParameters{StorageAccountType: of.StorageAccountType, DiskEncryptionSet: encryptionSet(of.DiskEncryptionSet)}
	if s := of.SecurityProfile; s != nil {
		out.SecurityProfile = &infrav1.VMDiskSecurityProfile{DiskEncryptionSet: encryptionSet(s.DiskEncryptionSet),
			SecurityEncryptionType: infrav1.SecurityEncryptionType(s.SecurityEncryptionType)}
	}
	return out
}

func encryptionSet(of *reference) *infrav1.DiskEncryptionSetParameters {
	if of == nil {
		return nil
	}
	return &infrav1.DiskEncryptionSetParameters{ID: of.ID}
}

// readDataDisks writes the data disks that were created with the VM. Disks of volumes have other names, or were attached later.
func (p profile) readDataDisks(disks []dataDiskBody, spec *infrav1.VirtualMachineProfile, name string) {
	for _, disk := range disks {
		suffix, is := strings.CutPrefix(disk.Name, name+"_")
		if !is || suffix == "" || !strings.EqualFold(disk.CreateOption, "Empty") || disk.DiskSizeGB == nil {
			p.explain(fmt.Sprintf("storageProfile.dataDisks[%s]", disk.Name), "it was attached to the VM later, as the disks of volumes are. It stays as it is")
			continue
		}
		spec.DataDisks = append(spec.DataDisks, infrav1.DataDisk{NameSuffix: suffix, DiskSizeGB: *disk.DiskSizeGB, Lun: disk.Lun,
			CachingType: disk.Caching, ManagedDisk: managedDisk(disk.ManagedDisk)})
	}
}

// readKey writes the public SSH key.
func (p profile) readKey(of vmBody, spec *infrav1.VirtualMachineProfile) {
	if of.OSProfile.LinuxConfiguration == nil {
		return
	}
	for i, key := range of.OSProfile.LinuxConfiguration.SSH.PublicKeys {
		if i == 0 {
			spec.SSHPublicKey = base64.StdEncoding.EncodeToString([]byte(key.KeyData))
			continue
		}
		p.explain(fmt.Sprintf("osProfile.linuxConfiguration.ssh.publicKeys[%d]", i), "the spec has one SSH key. The machine keeps all keys, and machines that come later have the first one")
	}
}

var (
	communityImage = regexp.MustCompile(`(?i)^/communityGalleries/([^/]+)/images/([^/]+)/versions/([^/]+)$`)
	galleryImage   = regexp.MustCompile(`(?i)^/subscriptions/([^/]+)/resourceGroups/([^/]+)/providers/Microsoft\.Compute/galleries/([^/]+)/images/([^/]+)/versions/([^/]+)$`)
	imageVersion   = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)$`)
	// marketplaceVersion is the version of the reference images in the Marketplace: 128.3.20231023 is Kubernetes 1.28.3.
	marketplaceVersion = regexp.MustCompile(`^1(\d\d)\.(\d+)\.\d{8}$`)
)

// readImage returns the image of a VM, and the Kubernetes version that it names. It returns no image for the default image of the version:
// later versions then have theirs.
func (p profile) readImage(of *imageBody, purchase *planBody, osType string) (*infrav1.Image, string) {
	if of == nil {
		return nil, p.w.KubernetesVersion
	}
	image, version := &infrav1.Image{}, p.w.KubernetesVersion
	if match := communityImage.FindStringSubmatch(of.CommunityGalleryImageID); match != nil {
		image.ComputeGallery = &infrav1.AzureComputeGalleryImage{Gallery: match[1], Name: match[2], Version: match[3], Plan: imagePlan(purchase)}
		version = kubernetesVersion(match[3], version)
	} else if match := galleryImage.FindStringSubmatch(of.ID); match != nil {
		image.ComputeGallery = &infrav1.AzureComputeGalleryImage{SubscriptionID: new(match[1]), ResourceGroup: new(match[2]), Gallery: match[3],
			Name: match[4], Version: match[5], Plan: imagePlan(purchase)}
		version = kubernetesVersion(match[5], version)
	} else if of.ID != "" {
		image.ID = new(of.ID)
	} else {
		image.Marketplace = &infrav1.AzureMarketplaceImage{ImagePlan: infrav1.ImagePlan{Publisher: of.Publisher, Offer: of.Offer, SKU: of.SKU},
			Version: of.Version, ThirdPartyImage: purchase != nil}
		if match := marketplaceVersion.FindStringSubmatch(of.Version); match != nil {
			version = fmt.Sprintf("v1.%s.%s", match[1], match[2])
		}
	}
	if usual, err := vm.DefaultImage(version, "Machine", osType, nil); err == nil && sameImage(usual, image) {
		return nil, version
	}
	return image, version
}

func kubernetesVersion(image, otherwise string) string {
	if match := imageVersion.FindStringSubmatch(image); match != nil {
		return "v" + match[1]
	}
	return otherwise
}

func sameImage(a, b *infrav1.Image) bool {
	switch {
	case a.ComputeGallery != nil && b.ComputeGallery != nil:
		g, h := *a.ComputeGallery, *b.ComputeGallery
		return g == h
	case a.Marketplace != nil && b.Marketplace != nil:
		return *a.Marketplace == *b.Marketplace
	}
	return false
}

func imagePlan(of *planBody) *infrav1.ImagePlan {
	if of == nil {
		return nil
	}
	return &infrav1.ImagePlan{Publisher: of.Publisher, Offer: of.Product, SKU: of.Name}
}

// bootstrapExtensions are the extensions of the provider that wait for the end of the bootstrap.
var bootstrapExtensions = []string{"CAPZ.Linux.Bootstrapping", "CAPZ.Windows.Bootstrapping"}

// readExtensions writes the extensions of a VM.
func (p profile) readExtensions(extensions []extensionBody, spec *infrav1.VirtualMachineProfile) {
	spec.DisableVMBootstrapExtension = new(true)
	for _, extension := range extensions {
		of, path := extension.Properties, ""
		if p.path != "properties" {
			path = fmt.Sprintf("extensionProfile.extensions[%s]", extension.Name)
		}
		explain := func(why string) {
			if path == "" {
				p.w.explain(p.id.Child("extensions", extension.Name), "", why)
			} else {
				p.explain(path, why)
			}
		}
		settings, plain := textSettings(of.Settings)
		switch {
		case slices.Contains(bootstrapExtensions, extension.Name):
			spec.DisableVMBootstrapExtension = new(false)
			continue
		case of.Type != extension.Name:
			explain("an extension of the spec has the name of its type, which is " + of.Type + ". It stays as it is")
			continue
		case !plain:
			explain("settings of an extension in the spec are texts. It stays as it is")
			continue
		}
		spec.VMExtensions = append(spec.VMExtensions, infrav1.VMExtension{Name: extension.Name, Publisher: of.Publisher,
			Version: of.TypeHandlerVersion, Settings: settings})
		p.w.addProtected(extension.Name)
	}
}

// textSettings returns the settings of an extension as a spec has them. ok is false if one is no text.
func textSettings(settings map[string]any) (out infrav1.Tags, ok bool) {
	for _, key := range sortedKeys(settings) {
		text, is := settings[key].(string)
		if !is {
			return nil, false
		}
		if out == nil {
			out = infrav1.Tags{}
		}
		out[key] = text
	}
	return out, true
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
