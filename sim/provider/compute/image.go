package compute

import (
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// bootImage has the properties of a machine's boot image that rules need. An empty string means unknown.
type bootImage struct {
	osType, osState, generation, arch string
	// security are the values of the feature SecurityType. Images without features are nil.
	security []string
}

var (
	communityForm = regexp.MustCompile(`(?i)^/CommunityGalleries/([^/]+)/Images/([^/]+)(?:/Versions/([^/]+))?$`)
	sharedForm    = regexp.MustCompile(`(?i)^/SharedGalleries/([^/]+)/Images/([^/]+)(?:/Versions/([^/]+))?$`)
)

// publicImages are community galleries of other publishers that every subscription sees, in every region. versions
// returns the versions of an image that exist, given the name's version of Kubernetes if it has one.
//
// Sources: https://image-builder.sigs.k8s.io/capi/providers/azure, which builds azurelinux-3, too, and
// https://www.flatcar.org/docs/latest/provisioning/capi. That Azure Linux has the generation and features of Ubuntu
// is an assumption.
var publicImages = []struct {
	gallery  string
	name     *regexp.Regexp
	versions func(kubernetes, version string) bool
	image    bootImage
}{
	{capiGallery, regexp.MustCompile(`^capi-ubun2-2[24]04$`), ofKubernetes,
		bootImage{osType: "Linux", osState: "Generalized", generation: "V2", arch: "x64", security: []string{"TrustedLaunchSupported"}}},
	{capiGallery, regexp.MustCompile(`^capi-azurelinux-3$`), ofKubernetes,
		bootImage{osType: "Linux", osState: "Generalized", generation: "V2", arch: "x64", security: []string{"TrustedLaunchSupported"}}},
	{capiGallery, regexp.MustCompile(`^capi-win-20(19|22|25)-containerd$`), ofKubernetes,
		bootImage{osType: "Windows", osState: "Generalized", arch: "x64"}},
	{"flatcar4capi-742ef0cb-dcaa-4ecb-9cb0-bfd2e43dccc0", regexp.MustCompile(`^flatcar-stable-amd64-capi-v(\d+\.\d+\.\d+)$`), ofFlatcar,
		bootImage{osType: "Linux", osState: "Generalized", arch: "x64"}},
}

const capiGallery = "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019"

func ofKubernetes(_, version string) bool { return isKubernetes(version) }

func ofFlatcar(kubernetes, version string) bool {
	return isKubernetes(kubernetes) && (flatcarForm.MatchString(version) || version == "latest")
}

// isKubernetes reports whether a version is "latest" or may be a release of Kubernetes that has an image: from 1.24,
// the oldest that images were built of, to the next minor release. A minor release gets about 15 patches in its 14
// months.
//
// Source: https://kubernetes.io/releases/patch-releases
func isKubernetes(version string) bool {
	parts := strings.Split(version, ".")
	if version == "latest" || len(parts) != 3 {
		return version == "latest"
	}
	minor, errMinor := strconv.Atoi(parts[1])
	patch, errPatch := strconv.Atoi(parts[2])
	return parts[0] == "1" && errMinor == nil && errPatch == nil && minor >= 24 && minor <= 38 && patch <= 20
}

// galleryImageNotFound returns the answer for images of galleries that do not exist, or not in the region.
// Source: https://learn.microsoft.com/troubleshoot/azure/virtual-machines/windows/troubleshooting-shared-images
func galleryImageNotFound(id, location string) error {
	return provider.Errorf(404, "GalleryImageNotFound",
		"The gallery image %s is not available in %s region. Please contact image owner to replicate to this region, or change your requested region.", id, location).WithTarget("imageReference")
}

// platformImageNotFound returns the answer for versions of the Marketplace that do not exist.
// Source of code, words and target: https://github.com/hashicorp/packer/issues/10600
func platformImageNotFound(ref body.Object) error {
	return provider.Errorf(404, "PlatformImageNotFound",
		"The platform image '%s:%s:%s:%s' is not available. Verify that all fields in the storage profile are correct. For more details about storage profile information, please refer to https://aka.ms/storageprofile",
		body.String(ref, "publisher"), body.String(ref, "offer"), body.String(ref, "sku"),
		body.String(ref, "version")).WithTarget("imageReference")
}

func invalidImage(key string) error {
	return provider.InvalidParameter("imageReference."+key, "The value of parameter imageReference.%s is invalid.", key)
}

// findImage finds the image of an imageReference. A few marketplace images are known. The others are accepted without
// a check, because nearly all of them belong to other publishers.
func findImage(c *provider.Call, ref body.Object, location string) (bootImage, error) {
	if id := body.String(ref, "id"); id != "" {
		return imageByID(c, id, location)
	}
	if id := body.String(ref, "communityGalleryImageId"); id != "" {
		return imageByName(c, id, "communityGalleryImageId", communityForm, location, func(g *store.Resource, name string) bool {
			for _, public := range body.Strings(g.Body, "properties.sharingProfile.communityGalleryInfo.publicNames") {
				if strings.EqualFold(public, name) {
					return true
				}
			}
			return false
		})
	}
	if id := body.String(ref, "sharedGalleryImageId"); id != "" {
		return imageByName(c, id, "sharedGalleryImageId", sharedForm, location, func(g *store.Resource, name string) bool {
			return strings.EqualFold(body.String(g.Body, "properties.identifier.uniqueName"), name)
		})
	}
	for _, k := range []string{"publisher", "offer", "sku", "version"} {
		if body.String(ref, k) == "" {
			return bootImage{}, invalidImage(k)
		}
	}
	if v := body.String(ref, "version"); v != "latest" && !imageVersionForm.MatchString(v) {
		return bootImage{}, invalidImage("version")
	}
	// Recording Test_OperationRejected_SucceedsAfterUpdate of the Azure Service Operator v2.13.0 has a publisher "this publisher".
	for _, key := range []string{"publisher", "offer", "sku"} {
		if strings.ContainsAny(body.String(ref, key), " \t\n") {
			return bootImage{}, invalidImage(key)
		}
	}
	if known := inMarket(body.String(ref, "publisher"), body.String(ref, "offer"), body.String(ref, "sku")); known != nil {
		if !known.hasVersion(body.String(ref, "version"), c.Now()) {
			return bootImage{}, platformImageNotFound(ref)
		}
		return known.bootImage(), nil
	}
	img := bootImage{}
	if strings.HasSuffix(strings.ToLower(body.String(ref, "sku")), "gen1") {
		img.generation = "V1"
	}
	return img, nil
}

func imageByID(c *provider.Call, id, location string) (bootImage, error) {
	parsed, err := store.ParseID(id)
	if err != nil || parsed.IsCollection() {
		return bootImage{}, invalidImage("id")
	}
	switch {
	case strings.EqualFold(parsed.Type(), Images):
		it := c.FindItem(id)
		if it == nil || it.Location != location {
			return bootImage{}, notHere(id)
		}
		osDisk := body.Child(it.Body, "properties.storageProfile.osDisk")
		return bootImage{osType: body.String(osDisk, "osType"), osState: body.String(osDisk, "osState"),
			generation: body.String(it.Body, "properties.hyperVGeneration")}, nil
	case strings.EqualFold(parsed.Type(), GalleryImages):
		return versionOf(c, c.Get(id), "latest", id, location)
	case strings.EqualFold(parsed.Type(), GalleryVersions):
		return versionOf(c, c.Get(parsed.Parent().String()), parsed.Name(), id, location)
	}
	return bootImage{}, invalidImage("id")
}

// imageByName finds an image in a gallery that is known by another name than its ID.
func imageByName(c *provider.Call, id, key string, form *regexp.Regexp, location string,
	named func(*store.Resource, string) bool) (bootImage, error) {
	parts := form.FindStringSubmatch(id)
	if parts == nil {
		return bootImage{}, invalidImage(key)
	}
	version := parts[3]
	if version == "" {
		version = "latest"
	}
	for _, g := range c.List(Galleries, "") {
		if named(g, parts[1]) {
			return versionOf(c, c.Get(g.ID+"/images/"+parts[2]), version, id, location)
		}
	}
	for _, known := range publicImages {
		name := known.name.FindStringSubmatch(parts[2])
		if form == communityForm && strings.EqualFold(known.gallery, parts[1]) && name != nil && known.versions(name[len(name)-1], version) {
			return known.image, nil
		}
	}
	return bootImage{}, galleryImageNotFound(id, location)
}

// versionOf finds a version of an image definition in a region.
func versionOf(c *provider.Call, definition *store.Resource, version, id, location string) (bootImage, error) {
	if definition == nil {
		return bootImage{}, galleryImageNotFound(id, location)
	}
	found := false
	for _, v := range c.List(GalleryVersions, definition.ID) {
		wanted := strings.EqualFold(v.Name(), version) || strings.EqualFold(version, "latest") &&
			!body.Bool(v.Body, "properties.publishingProfile.excludeFromLatest")
		found = found || wanted && isReplicatedTo(v, location)
	}
	if !found {
		return bootImage{}, galleryImageNotFound(id, location)
	}
	p := "properties."
	img := bootImage{osType: body.String(definition.Body, p+"osType"), osState: body.String(definition.Body, p+"osState"),
		generation: body.String(definition.Body, p+"hyperVGeneration"), arch: body.String(definition.Body, p+"architecture"),
		security: []string{}}
	for _, f := range body.Objects(definition.Body, p+"features") {
		if strings.EqualFold(body.String(f, "name"), "SecurityType") {
			img.security = append(img.security, body.String(f, "value"))
		}
	}
	return img, nil
}

// checkImage checks that the image exists, and that it fits to the size, the security type and the OS profile.
func checkImage(c *provider.Call, d *provider.Draft, z Size) error {
	const at = "properties.storageProfile.imageReference"
	ref := body.Child(d.New, at)
	if ref == nil || body.Bool(d.Secret, "managed") {
		return nil // a service that runs scale sets of its own has images of its own
	}
	if was := body.Child(d.Old, at); was != nil {
		same := body.Clone(was)
		body.Delete(same, "exactVersion")
		now := body.Clone(ref)
		body.Delete(now, "exactVersion")
		if body.Equal(same, now) {
			return nil // a running machine no longer needs its image
		}
	}
	img, err := findImage(c, ref, d.Location)
	if err != nil {
		return err
	}
	if os := body.String(d.New, "properties.storageProfile.osDisk.osType"); os != "" && img.osType != "" &&
		!strings.EqualFold(os, img.osType) {
		return provider.InvalidParameter("osDisk.osType", "The value '%s' of parameter 'osDisk.osType' is invalid: the image is for %s.", os,
			img.osType)
	}
	if img.osType != "" {
		body.Default(d.New, "properties.storageProfile.osDisk.osType", img.osType)
	}
	if strings.EqualFold(img.osState, "Specialized") && body.Has(d.New, "properties.osProfile") {
		return provider.InvalidParameter("osProfile", "Parameter 'osProfile' is not allowed.")
	}
	// The words of the following are those that Azure is known to use: https://aka.ms/azuregen2vm, https://aka.ms/TrustedLaunch-FAQ.
	if img.arch != "" && img.arch != z.Arch {
		return provider.Errorf(400, "BadRequest",
			"Cannot create a VM of size '%s' because this VM size only supports a CPU Architecture of '%s', but an image or disk with CPU Architecture '%s' was given. Please check that the CPU Architecture of the image or disk is compatible with that of the VM size.", z.Name, z.Arch, img.arch)
	}
	if img.generation == "V1" && z.onlyGeneration2() {
		return provider.Errorf(400, "BadRequest",
			"The selected VM size '%s' cannot boot Hypervisor Generation '1'. If this was a Create operation please check that the Hypervisor Generation of the Image matches the Hypervisor Generation of the selected VM Size. If this was an Update operation please select a Hypervisor Generation '1' VM Size. For more information, see https://aka.ms/azuregen2vm", z.Name)
	}
	return img.checkSecurityType(body.String(d.New, "properties.securityProfile.securityType"))
}

// checkSecurityType refuses a security type that the image is not made for. The values of the feature and the types that each
// allows are in https://learn.microsoft.com/azure/virtual-machines/trusted-launch-portal.
func (img bootImage) checkSecurityType(kind string) error {
	var allow []string
	switch kind {
	case "TrustedLaunch":
		allow = []string{"TrustedLaunch", "TrustedLaunchSupported", "TrustedLaunchAndConfidentialVmSupported"}
	case "ConfidentialVM":
		allow = []string{"ConfidentialVM", "ConfidentialVmSupported", "TrustedLaunchAndConfidentialVmSupported"}
	default:
		return nil
	}
	for _, feature := range img.security {
		for _, a := range allow {
			if strings.EqualFold(feature, a) && img.generation != "V1" {
				return nil
			}
		}
	}
	if img.security == nil && img.generation != "V1" {
		return nil // nothing is known about the image
	}
	return provider.Errorf(400, "BadRequest",
		"Use of %s setting is not supported for the provided image. Please select %s Supported Gen2 OS Image. For more information, see https://aka.ms/TrustedLaunch-FAQ.", kind, map[string]string{"TrustedLaunch": "Trusted Launch", "ConfidentialVM": "Confidential VM"}[kind])
}
