package asoresource

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// newUnknownKindError rejects a manifest of a kind without a definition.
func newUnknownKindError(m Manifest) *field.Error {
	return field.Invalid(m.Path.Child("kind"), m.Kind, aso.UnknownKindReason(m.Group, m.Kind))
}

// checkUncheckedKind rejects a manifest of a kind without a definition, unless the manager allows the kind and the identity for Azure is
// of the object's namespace: only a definition shows which resources of others a manifest can change.
func (in Input) checkUncheckedKind(m Manifest) *field.Error {
	resourceType, _ := m.ResourceType()
	switch {
	case !aso.IsUndefined(resourceType):
		return nil
	case !aso.AllowsUnchecked(in.UncheckedKinds, m.Group, m.Kind):
		return newUnknownKindError(m)
	case in.UsesLentIdentity():
		return field.Forbidden(m.Path.Child("kind"), "a "+m.Kind+" is sent to Azure without a check, because the provider has no definition of "+
			resourceType+". With an AzureClusterIdentity of another namespace such manifests are refused. Use an identity of the namespace.")
	}
	return nil
}

// ListUnchecked returns the manifests of the object that are sent to Azure without a check, because their kind has no definition.
func ListUnchecked(in Input) []Manifest {
	var out []Manifest
	for _, m := range in.OwnManifests() {
		if resourceType, _ := m.ResourceType(); aso.IsUndefined(resourceType) {
			out = append(out, m)
		}
	}
	return out
}

// uncheckedNotice describes a manifest that is sent without a check.
func uncheckedNotice(m Manifest) string {
	resourceType, _ := m.ResourceType()
	return m.String() + " is sent to Azure without a check, because the provider has no definition of " + resourceType +
		". Only Azure reports errors in it."
}
