package vm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	// imageGallery is the community gallery of the reference images:
	// https://image-builder.sigs.k8s.io/capi/providers/azure
	imageGallery = "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019"
	linuxImage   = "capi-ubun2-2404"
	windowsImage = "capi-win-2022-containerd"

	imagePublisher  = "cncf-upstream"
	linuxOffer      = "capi"
	linuxSKU        = "ubuntu-2204-gen1"
	windowsOffer    = "capi-windows"
	windowsSKU      = "windows-2019-containerd-gen1"
	defaultWinYear  = "2022"
	windowsRuntime  = "containerd"
	windowsYearHelp = "windows-2022"
)

var (
	versionPattern = regexp.MustCompile(`^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	yearPattern    = regexp.MustCompile(`^windows-(\d{4})$`)
)

// SelectImage returns the image of a VM: the spec's, else the reference image of the Kubernetes version. The error names
// the field and the fault.
func SelectImage(p Profile) (*infrav1.Image, error) {
	if p.VirtualMachineProfile.Image != nil {
		return p.VirtualMachineProfile.Image, nil
	}
	if cloud := p.Place.Cloud; cloud != "" && cloud != infrav1.PublicCloud {
		return nil, fmt.Errorf("the reference images are in %s only, and the cluster is in %s: set it to an image of your own", infrav1.PublicCloud, cloud)
	}
	return DefaultImage(p.Version, p.VersionFrom, p.OSDisk.OSType, p.Annotations)
}

// DefaultImage returns the reference image for a Kubernetes version, as in "v1.33.2", and an operating system. Images of
// versions that are older than the community gallery are in the Marketplace. Annotations of the object choose among
// Windows images. versionFrom is the kind of the object with the version, for messages.
func DefaultImage(version, versionFrom, osType string, annotations map[string]string) (*infrav1.Image, error) {
	parsed, err := parseVersion(version)
	if err != nil {
		return nil, fmt.Errorf("%w, so no default image is known: set the version of the %s, or an image", err, versionFrom)
	}
	name, offer, sku, frozen := linuxImage, linuxOffer, linuxSKU, linuxImages
	if osType == infrav1.WindowsOS {
		if name, err = windowsImageName(annotations); err != nil {
			return nil, err
		}
		offer, sku, frozen = windowsOffer, windowsSKU, windowsImages
	}
	if image, ok := frozen[parsed]; ok {
		return &infrav1.Image{Marketplace: &infrav1.AzureMarketplaceImage{
			ImagePlan: infrav1.ImagePlan{Publisher: imagePublisher, Offer: offer, SKU: sku}, Version: image,
		}}, nil
	}
	return &infrav1.Image{ComputeGallery: &infrav1.AzureComputeGalleryImage{Gallery: imageGallery, Name: name, Version: parsed}}, nil
}

func windowsImageName(annotations map[string]string) (string, error) {
	if runtime := annotations[infrav1.RuntimeAnnotation]; runtime != "" && runtime != windowsRuntime {
		return "", fmt.Errorf("annotation %s is %q: Windows images come with %s only", infrav1.RuntimeAnnotation, runtime, windowsRuntime)
	}
	wanted := annotations[infrav1.WindowsServerVersionAnnotation]
	if wanted == "" {
		return windowsImage, nil
	}
	match := yearPattern.FindStringSubmatch(wanted)
	if match == nil {
		return "", fmt.Errorf("annotation %s is %q: want the form %q", infrav1.WindowsServerVersionAnnotation, wanted, windowsYearHelp)
	}
	return strings.Replace(windowsImage, defaultWinYear, match[1], 1), nil
}

// parseVersion returns a version in the form 1.31.0, with its pre-release and build metadata. Missing parts become 0.
func parseVersion(version string) (string, error) {
	match := versionPattern.FindStringSubmatch(strings.TrimSpace(version))
	if match == nil {
		return "", fmt.Errorf("the Kubernetes version %q is not a semantic version such as \"v1.33.2\"", version)
	}
	numbers := make([]string, 0, 3)
	for _, part := range match[1:4] {
		number, err := strconv.Atoi("0" + part)
		if err != nil {
			return "", fmt.Errorf("the Kubernetes version %q has a part out of range", version)
		}
		numbers = append(numbers, strconv.Itoa(number))
	}
	return strings.Join(numbers, ".") + match[4] + match[5], nil
}

// toImageReference returns the image in the form of SDK models. An image of a community gallery has another kind of ID.
func toImageReference(image *infrav1.Image) *armcompute.ImageReference {
	switch {
	case image == nil:
		return nil
	case image.ID != nil:
		return &armcompute.ImageReference{ID: new(*image.ID)}
	case image.Marketplace != nil:
		m := image.Marketplace
		return &armcompute.ImageReference{Publisher: new(m.Publisher), Offer: new(m.Offer), SKU: new(m.SKU), Version: new(m.Version)}
	case image.SharedGallery != nil:
		s := image.SharedGallery
		return &armcompute.ImageReference{ID: new(galleryImageID(s.SubscriptionID, s.ResourceGroup, s.Gallery, s.Name, s.Version))}
	case image.ComputeGallery != nil:
		c := image.ComputeGallery
		if c.SubscriptionID != nil && c.ResourceGroup != nil {
			return &armcompute.ImageReference{ID: new(galleryImageID(*c.SubscriptionID, *c.ResourceGroup, c.Gallery, c.Name, c.Version))}
		}
		return &armcompute.ImageReference{CommunityGalleryImageID: new(fmt.Sprintf("/CommunityGalleries/%s/Images/%s/Versions/%s", c.Gallery,
			c.Name, c.Version))}
	default:
		return nil
	}
}

func galleryImageID(subscription, group, gallery, name, version string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/galleries/%s/images/%s/versions/%s",
		subscription, group, gallery, name, version)
}

// toImagePlan returns the purchase plan of a third-party image, nil for others.
func toImagePlan(image *infrav1.Image) *armcompute.Plan {
	switch {
	case image == nil || image.ID != nil:
		return nil
	case image.Marketplace != nil:
		m := image.Marketplace
		if !m.ThirdPartyImage {
			return nil
		}
		return &armcompute.Plan{Publisher: new(m.Publisher), Product: new(m.Offer), Name: new(m.SKU)}
	case image.SharedGallery != nil:
		s := image.SharedGallery
		if s.Publisher == nil || s.Offer == nil || s.SKU == nil {
			return nil
		}
		return &armcompute.Plan{Publisher: new(*s.Publisher), Product: new(*s.Offer), Name: new(*s.SKU)}
	case image.ComputeGallery != nil && image.ComputeGallery.Plan != nil:
		p := image.ComputeGallery.Plan
		return &armcompute.Plan{Publisher: new(p.Publisher), Product: new(p.Offer), Name: new(p.SKU)}
	default:
		return nil
	}
}
