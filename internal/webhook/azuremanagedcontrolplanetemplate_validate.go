package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// immutableTemplate is the message for immutable fields of a template.
const immutableTemplate = "cannot change in a template: clusters were created from it; create a new one and refer to it"

// ValidateAzureManagedControlPlaneTemplate checks a defaulted AzureManagedControlPlaneTemplate. Rules that depend on the cluster
// are checked when an AzureManagedControlPlane is created from the template.
func ValidateAzureManagedControlPlaneTemplate(t *infrav1.AzureManagedControlPlaneTemplate) field.ErrorList {
	return validateManagedClass(&t.Spec.Template.Spec.AzureManagedControlPlaneClassSpec, field.NewPath("spec", "template", "spec"))
}

// ValidateAzureManagedControlPlaneTemplateUpdate checks a change of a template; both objects are defaulted. Fields that can change
// in clusters can change in the template; Cluster API rolls the change out to the clusters.
func ValidateAzureManagedControlPlaneTemplateUpdate(old, t *infrav1.AzureManagedControlPlaneTemplate) (errs field.ErrorList) {
	before, after, path := &old.Spec.Template.Spec, &t.Spec.Template.Spec, field.NewPath("spec", "template", "spec")
	for _, part := range []struct {
		name       string
		old, value any
	}{
		{"subscriptionID", before.SubscriptionID, after.SubscriptionID},
		{"location", before.Location, after.Location},
	} {
		if !equality.Semantic.DeepEqual(part.old, part.value) {
			errs = append(errs, field.Forbidden(path.Child(part.name), immutableTemplate))
		}
	}
	errs = append(errs, addedNetworkNames(&before.VirtualNetwork, &after.VirtualNetwork, path.Child("virtualNetwork"))...)
	if before.Version != after.Version && isLowerVersion(after.Version, before.Version) {
		errs = append(errs, field.Invalid(path.Child("version"), after.Version, "must be at least "+before.Version+": AKS cannot downgrade"))
	}
	errs = append(errs, immutableManagedClass(&before.AzureManagedControlPlaneClassSpec, &after.AzureManagedControlPlaneClassSpec, path)...)
	if len(errs) > 0 {
		return errs
	}
	return introducedErrors(ValidateAzureManagedControlPlaneTemplate(old), ValidateAzureManagedControlPlaneTemplate(t))
}

// addedNetworkNames refuses to add names of the network. Clusters of a template without them have named their networks themselves.
func addedNetworkNames(before, after *infrav1.ManagedControlPlaneVirtualNetwork, path *field.Path) (errs field.ErrorList) {
	added := func(path *field.Path, old, name string) {
		if old == "" && name != "" {
			errs = append(errs, field.Invalid(path, name, immutableTemplate))
		}
	}
	added(path.Child("name"), before.Name, after.Name)
	added(path.Child("resourceGroup"), before.ResourceGroup, after.ResourceGroup)
	added(path.Child("subnet", "name"), before.Subnet.Name, after.Subnet.Name)
	return errs
}

func isIssuer(profile *infrav1.OIDCIssuerProfile) bool {
	return profile != nil && isTrue(profile.Enabled)
}
