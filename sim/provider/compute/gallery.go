package compute

import (
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types that images are of.
const (
	Images          = "Microsoft.Compute/images"
	Galleries       = "Microsoft.Compute/galleries"
	GalleryImages   = Galleries + "/images"
	GalleryVersions = GalleryImages + "/versions"

	// Snapshots are possible sources of images; they have no provider here.
	Snapshots = "Microsoft.Compute/snapshots"
)

var imageVersionForm = regexp.MustCompile(`^\d{1,10}\.\d{1,10}\.\d{1,10}$`)

// imageTypes are managed images, and galleries with image definitions and versions. No recording has galleries; their bodies
// are those of the SDK models.
func imageTypes() []*provider.Type {
	image := &provider.Type{
		Name: Images, Style: provider.Compute, EdgeZones: true, DeleteRetryAfter: -1,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(25)},
		Delete: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(5)},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			sp := "properties.storageProfile."
			for _, disk := range append(body.Objects(d.New, sp+"dataDisks"), body.Child(d.New, sp+"osDisk")) {
				if id := body.String(disk, "snapshot.id"); id != "" && d.Old == nil {
					if _, err := findReferred(c, id, Snapshots, "snapshot", d.Location); err != nil {
						return err
					}
				}
			}
			if body.Child(d.New, sp+"osDisk") == nil && !body.Has(d.New, "properties.sourceVirtualMachine") {
				return provider.MissingProperty("image.storageProfile.osDisk")
			}
			body.Default(d.New, "properties.hyperVGeneration", "V1")
			if body.Has(d.New, sp+"osDisk") {
				body.Default(d.New, sp+"osDisk.caching", "None")
				body.Default(d.New, sp+"osDisk.storageAccountType", "Standard_LRS")
			}
			body.Default(d.New, sp+"dataDisks", []any{})
			return nil
		},
	}
	gallery := &provider.Type{
		Name: Galleries, Style: provider.Compute, RetryAfter: 10,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(5)},
		Delete: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(5)},
		ReadOnlyPaths: []string{"properties.identifier", "properties.sharingStatus", "properties.sharingProfile.communityGalleryInfo.publicNames",
			"properties.sharingProfile.communityGalleryInfo.communityGalleryEnabled"},
		Prepare: prepareGallery, CanDelete: holdsNone(GalleryImages),
	}
	definition := &provider.Type{
		Name: GalleryImages, Style: provider.Compute, RetryAfter: 10,
		Create:  provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(5)},
		Delete:  provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(5)},
		Prepare: prepareDefinition, CanDelete: holdsNone(GalleryVersions),
	}
	version := &provider.Type{
		Name: GalleryVersions, Style: provider.Compute, RetryAfter: 10,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(300)},
		Update: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(60)},
		Delete: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(30)},
		NameRule: func(name string) *provider.Error {
			if imageVersionForm.MatchString(name) {
				return nil
			}
			return provider.InvalidParameter("galleryImageVersionName",
				"The value of parameter galleryImageVersionName is invalid: '%s' is not of the form Major.Minor.Patch.", name)
		},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			body.Default(d.New, "properties.publishingProfile.targetRegions", []any{body.Object{"name": d.Location, "regionalReplicaCount": 1}})
			return nil
		},
	}
	return []*provider.Type{image, gallery, definition, version}
}

// holdsNone refuses the deletion of a resource that still has resources of a type below it.
func holdsNone(typ string) func(*provider.Call, *provider.Item) error {
	return func(c *provider.Call, it *provider.Item) error {
		if list := c.List(typ, it.ID); len(list) > 0 && !c.Internal {
			return provider.NestedResourcesExist(list[0].ID)
		}
		return nil
	}
}

// prepareGallery gives a gallery its names: one by which it can be shared, and, for a community gallery, a public one.
func prepareGallery(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Set(d.New, p+"identifier.uniqueName", c.ID.Subscription+"-"+strings.ToUpper(d.Name))
	if body.String(d.New, p+"sharingProfile.permissions") != "Community" {
		return nil
	}
	info := p + "sharingProfile.communityGalleryInfo."
	prefix := body.String(d.New, info+"publicNamePrefix")
	if prefix == "" {
		return provider.MissingProperty("sharingProfile.communityGalleryInfo.publicNamePrefix")
	}
	if names := body.Strings(d.Old, info+"publicNames"); len(names) > 0 {
		body.Set(d.New, info+"publicNames", names)
	} else {
		body.Set(d.New, info+"publicNames", []string{prefix + "-" + c.NewGUID()})
	}
	body.Set(d.New, info+"communityGalleryEnabled", true)
	return nil
}

func prepareDefinition(_ *provider.Call, d *provider.Draft) error {
	p := "properties."
	for _, k := range []string{"osType", "osState", "identifier.publisher", "identifier.offer", "identifier.sku"} {
		if body.String(d.New, p+k) == "" {
			return provider.MissingProperty("galleryImage.properties." + k)
		}
	}
	body.Default(d.New, p+"hyperVGeneration", "V1")
	body.Default(d.New, p+"architecture", "x64")
	return nil
}

// isReplicatedTo reports whether an image version is in a region.
func isReplicatedTo(version *store.Resource, location string) bool {
	for _, region := range body.Objects(version.Body, "properties.publishingProfile.targetRegions") {
		if provider.NormalizeLocation(body.String(region, "name")) == location {
			return true
		}
	}
	return false
}
