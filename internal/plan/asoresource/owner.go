package asoresource

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// WaitingError is why an ID is not known yet: a document that is named and not there.
type WaitingError struct{ For string }

func (w WaitingError) Error() string { return "waits for " + w.For }

// AzureName is the name of the resource.
func (d Manifest) AzureName() string {
	name, _ := d.Spec["azureName"].(string)
	return cmp.Or(name, d.Name)
}

// maxOwners bounds how many owners a document is below.
const maxOwners = 8

// resolveID computes the ID of the resource of a document that has at most so many owners above it.
func (s Set) resolveID(d Manifest, owners int) resolvedID {
	resourceType, ok := d.ResourceType()
	name := d.AzureName()
	at := d.Path.Child("spec", "azureName")
	if _, set := d.Spec["azureName"]; !set {
		at = d.Path.Child("metadata", "name")
	}
	switch {
	case !ok:
		return newUnresolvedID(field.NotSupported(d.Path.Child("kind"), d.Kind, findNearestKinds(d)))
	case strings.ContainsAny(name, `/\?#%`) || name == "." || name == "..":
		return newUnresolvedID(field.Invalid(at, "", "is no name of an Azure resource: it has a character that parts IDs off"))
	case resourceType == types.ResourceGroup:
		if _, ok := d.Spec["owner"]; ok {
			return newUnresolvedID(field.Forbidden(d.Path.Child("spec", "owner"), "a resource group is in the subscription of the credential"))
		}
		return resolvedID{id: arm.ResourceGroupID(s.subscription, name)}
	case owners == 0:
		return newUnresolvedID(field.Invalid(d.Path.Child("spec", "owner"), "", "owners lead back to the document"))
	}
	out := s.resolveOwner(d, resourceType, owners)
	if out.err == nil {
		out.id = childID(out.id, resourceType, name)
	}
	return out
}

func newUnresolvedID(err error) resolvedID { return resolvedID{err: err} }

// childID is the ID of a resource that has the resource parent as its owner.
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

// roleAssignmentName is the name of a role assignment. Azure takes UUIDs of which a tenant has each once; documents have names of
// any kind: https://learn.microsoft.com/en-us/azure/role-based-access-control/role-assignments#name
func roleAssignmentName(scope arm.ID, name string) string {
	if uuid.Validate(name) == nil {
		return name
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(scope.Key()+"/"+name)).String()
}

// ParentType is the type of what a resource of a type is below, "" for any.
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

// resolveOwner computes the ID of the owner of a document.
func (s Set) resolveOwner(d Manifest, resourceType string, owners int) resolvedID {
	at, parentType := d.Path.Child("spec", "owner"), ParentType(resourceType)
	group, kind := GroupKindOf(cmp.Or(parentType, types.ResourceGroup))
	owner, ok := d.Spec["owner"].(map[string]any)
	if !ok {
		return newUnresolvedID(field.Required(at, fmt.Sprintf("the %s that the resource is in, as {name: ...} of its document or {armId: ...}", kind)))
	}
	if armID, ok := owner["armId"].(string); ok {
		id, err := s.parseOwnerID(at.Child("armId"), armID, parentType)
		return resolvedID{id: id, byArmID: true, err: err}
	}
	name, _ := owner["name"].(string)
	if name == "" {
		return newUnresolvedID(field.Required(at.Child("name"), "the name of the document of the owner, or armId"))
	}
	if g, ok := owner["group"].(string); ok {
		group = g
	}
	if k, ok := owner["kind"].(string); ok {
		kind = k
	} else if parentType == "" {
		return newUnresolvedID(field.Required(at.Child("kind"), "group and kind of the owner: the resource can be below any other one"))
	}
	if of, ok := (Manifest{Group: group, Kind: kind}).ResourceType(); !ok || parentType != "" && of != parentType {
		return newUnresolvedID(field.Invalid(at.Child("kind"), kind, "a "+d.Kind+" is not below that"))
	}
	found, ok := s.findManifest(group, kind, name)
	if !ok {
		return newUnresolvedID(WaitingError{fmt.Sprintf("a document %s %s in the Cluster, which spec.owner names", kind, name)})
	}
	return s.resolveID(found, owners-1)
}

// parseOwnerID is an owner that may be nobody's document. It is in the subscription of the credential.
func (s Set) parseOwnerID(at *field.Path, text, parentType string) (arm.ID, error) {
	id, plain := parseAbsoluteID(text)
	switch {
	case !plain:
		return "", field.Invalid(at, "", "is no ID of an Azure resource, as in /subscriptions/<id>/resourceGroups/<name>")
	case parentType != "" && !strings.EqualFold(id.Type(), parentType):
		return "", field.Invalid(at, "", "must be the ID of a "+parentType)
	case s.subscription != "" && !id.IsWithin(arm.SubscriptionID(s.subscription)):
		return "", field.Forbidden(at, "is not in subscription "+s.subscription+" of the credential: a document makes nothing outside of that")
	case s.lentIdentity && !s.isDeclared(id):
		return "", field.Forbidden(at, "is not the resource of a document of the Cluster: with an AzureClusterIdentity of another namespace, documents make nothing outside of those")
	}
	return id, nil
}

// isDeclared tells whether a resource is that of a document, or below one. Only documents count whose ID follows from names of documents:
// an armId proves nothing about another armId.
func (s Set) isDeclared(id arm.ID) bool {
	for key := id.Key(); key != ""; key = key[:strings.LastIndexByte(key, '/')] {
		if s.idsByName[key] {
			return true
		}
	}
	return false
}
