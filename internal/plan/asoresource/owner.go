package asoresource

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// WaitingError means that an ID is not known yet, because it depends on a manifest that does not exist.
type WaitingError struct{ For string }

func (w WaitingError) Error() string { return "waits for " + w.For }

// AzureName returns the name of the resource in Azure.
func (m Manifest) AzureName() string {
	name, _ := m.Spec["azureName"].(string)
	return cmp.Or(name, m.Name)
}

// maxOwners is the maximum number of owners above a manifest.
const maxOwners = 8

// resolveID computes the ID of the resource of a manifest with at most this number of owners above it.
func (s Set) resolveID(m Manifest, owners int) resolvedID {
	resourceType, ok := m.ResourceType()
	name := m.AzureName()
	at := m.Path.Child("spec", "azureName")
	if _, set := m.Spec["azureName"]; !set {
		at = m.Path.Child("metadata", "name")
	}
	switch {
	case !ok:
		return newUnresolvedID(newUnknownKindError(m))
	case strings.ContainsAny(name, `/\?#%`) || name == "." || name == "..":
		return newUnresolvedID(field.Invalid(at, "", "is not a valid name of an Azure resource: it contains a separator of IDs"))
	case resourceType == types.ResourceGroup:
		if _, ok := m.Spec["owner"]; ok {
			return newUnresolvedID(field.Forbidden(m.Path.Child("spec", "owner"),
				"must not be set: a resource group is in the subscription of the credential"))
		}
		return resolvedID{id: arm.ResourceGroupID(s.subscription, name)}
	case owners == 0:
		return newUnresolvedID(field.Invalid(m.Path.Child("spec", "owner"), "", "must not lead back to the manifest"))
	}
	out := s.resolveOwner(m, resourceType, owners)
	if out.err == nil {
		out.id = childID(out.id, resourceType, name)
	}
	return out
}

func newUnresolvedID(err error) resolvedID { return resolvedID{err: err} }

// childID returns the ID of a resource with the resource parent as its owner.
func childID(parent arm.ID, resourceType, name string) arm.ID {
	_, segments, _ := strings.Cut(resourceType, "/")
	switch {
	case resourceType == types.RoleAssignment:
		return parent.Extension(resourceType, roleAssignmentName(parent, name))
	case types.IsExtension(resourceType):
		return parent.Extension(resourceType, name)
	case strings.Contains(segments, "/"):
		return parent.Child(segments[strings.LastIndex(segments, "/")+1:], name)
	}
	return arm.NewID(parent.Subscription(), parent.ResourceGroup(), resourceType, name)
}

// roleAssignmentName returns the name of a role assignment. Azure requires a UUID that is unique in the tenant. Manifests can have
// any name: https://learn.microsoft.com/en-us/azure/role-based-access-control/role-assignments#name
func roleAssignmentName(scope arm.ID, name string) string {
	if uuid.Validate(name) == nil {
		return name
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(scope.Key()+"/"+name)).String()
}

// ParentType returns the type of the parent of a resource type, "" if the parent can have any type.
func ParentType(resourceType string) string {
	provider, segments, _ := strings.Cut(resourceType, "/")
	if types.IsExtension(resourceType) {
		return ""
	}
	if i := strings.LastIndex(segments, "/"); i >= 0 {
		return provider + "/" + segments[:i]
	}
	return types.ResourceGroup
}

// resolveOwner computes the ID of the owner of a manifest.
func (s Set) resolveOwner(m Manifest, resourceType string, owners int) resolvedID {
	at, parentType := m.Path.Child("spec", "owner"), ParentType(resourceType)
	group, kind := aso.GroupKindOf(cmp.Or(parentType, types.ResourceGroup))
	owner, ok := m.Spec["owner"].(map[string]any)
	if !ok {
		return newUnresolvedID(field.Required(at, fmt.Sprintf("the %s with the resource, as {name: ...} of its manifest or {armId: ...}", kind)))
	}
	if armID, ok := owner["armId"].(string); ok {
		id, err := s.parseOwnerID(at.Child("armId"), armID, parentType)
		return resolvedID{id: id, byArmID: true, err: err}
	}
	name, _ := owner["name"].(string)
	if name == "" {
		return newUnresolvedID(field.Required(at.Child("name"), "the name of the manifest of the owner, or armId"))
	}
	if g, ok := owner["group"].(string); ok {
		group = g
	}
	if k, ok := owner["kind"].(string); ok {
		kind = k
	} else if parentType == "" {
		return newUnresolvedID(field.Required(at.Child("kind"), "group and kind of the owner, which can be of any type"))
	}
	if of, ok := aso.ResourceTypeOf(group, kind); !ok || parentType != "" && of != parentType {
		return newUnresolvedID(field.Invalid(at.Child("kind"), kind, "cannot be the owner of a "+m.Kind))
	}
	found, ok := s.findManifest(group, kind, name)
	if !ok {
		return newUnresolvedID(WaitingError{fmt.Sprintf("a resource manifest %s %s in the Cluster, which spec.owner names", kind, name)})
	}
	return s.resolveID(found, owners-1)
}

// parseOwnerID returns an owner by ID, which need not have a manifest. It must be in the subscription of the credential.
func (s Set) parseOwnerID(at *field.Path, text, parentType string) (arm.ID, error) {
	id, plain := aso.ParseID(text)
	switch {
	case !plain:
		return "", field.Invalid(at, "", "is not the ID of an Azure resource, such as /subscriptions/<id>/resourceGroups/<name>")
	case parentType != "" && !strings.EqualFold(id.Type(), parentType):
		return "", field.Invalid(at, "", "must be the ID of a "+parentType)
	case s.subscription != "" && !id.IsWithin(arm.SubscriptionID(s.subscription)):
		return "", field.Forbidden(at,
			"is not in subscription "+s.subscription+" of the credential. Manifests cannot create resources in another subscription.")
	case s.lentIdentity && !s.isDeclared(id):
		return "", field.Forbidden(at,
			"is not the resource of a manifest of the Cluster. With an AzureClusterIdentity of another namespace, manifests cannot create resources elsewhere.")
	}
	return id, nil
}

// isDeclared reports whether a resource is that of a manifest, or below one. Only IDs that follow from names of manifests count,
// because an armId proves nothing about another armId.
func (s Set) isDeclared(id arm.ID) bool {
	for key := id.Key(); key != ""; key = key[:strings.LastIndexByte(key, '/')] {
		if s.idsByName[key] {
			return true
		}
	}
	return false
}
