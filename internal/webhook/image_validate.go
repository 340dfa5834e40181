package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ValidateImage checks that an image is named in one way, completely. Without an image the default is taken.
func ValidateImage(image *infrav1.Image, path *field.Path) (errs field.ErrorList) {
	if image == nil {
		return nil
	}
	ways := 0
	for _, present := range []bool{image.ID != nil, image.Marketplace != nil, image.SharedGallery != nil, image.ComputeGallery != nil} {
		if present {
			ways++
		}
	}
	switch {
	case ways == 0:
		return field.ErrorList{field.Required(path, "set one of id, marketplace, computeGallery; or leave out the image for the default")}
	case ways > 1:
		return field.ErrorList{field.Forbidden(path, "id, marketplace, sharedGallery and computeGallery exclude each other: keep one")}
	}
	if image.ID != nil {
		errs = append(errs, requireAll(path, named{"id", *image.ID})...)
	}
	if m := image.Marketplace; m != nil {
		errs = append(errs, requireAll(path.Child("marketplace"), named{"publisher", m.Publisher}, named{"offer", m.Offer}, named{"sku", m.SKU}, named{"version", m.Version})...)
	}
	if g := image.SharedGallery; g != nil {
		errs = append(errs, requireAll(path.Child("sharedGallery"), named{"subscriptionID", g.SubscriptionID}, named{"resourceGroup", g.ResourceGroup},
			named{"gallery", g.Gallery}, named{"name", g.Name}, named{"version", g.Version})...)
	}
	if g := image.ComputeGallery; g != nil {
		path := path.Child("computeGallery")
		errs = append(errs, requireAll(path, named{"gallery", g.Gallery}, named{"name", g.Name}, named{"version", g.Version})...)
		const together = "subscriptionID and resourceGroup go together; leave out both for a community gallery"
		switch {
		case isSet(g.SubscriptionID) && !isSet(g.ResourceGroup):
			errs = append(errs, field.Required(path.Child("resourceGroup"), together))
		case isSet(g.ResourceGroup) && !isSet(g.SubscriptionID):
			errs = append(errs, field.Required(path.Child("subscriptionID"), together))
		}
	}
	return errs
}

type named struct{ name, value string }

// requireAll wants every value to be there.
func requireAll(path *field.Path, fields ...named) (errs field.ErrorList) {
	for _, f := range fields {
		if f.value == "" {
			errs = append(errs, field.Required(path.Child(f.name), "must not be empty"))
		}
	}
	return errs
}

func isSet(s *string) bool { return s != nil && *s != "" }
