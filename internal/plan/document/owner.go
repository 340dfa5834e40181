package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Set are the documents of a Cluster.
type Set struct {
	SubscriptionID string
	Documents      []Document
	// Bound tells that Azure is asked as an identity that is not the namespace's own: then documents are below documents
	// only, and nothing is adopted.
	Bound bool
}

// Of are the documents of one object.
func (s Set) Of(holder string) []Document {
	var out []Document
	for _, d := range s.Documents {
		if d.Holder == holder {
			out = append(out, d)
		}
	}
	return out
}

// First is the first document of a type in an object.
func (s Set) First(holder, resourceType string) (Document, bool) {
	for _, d := range s.Of(holder) {
		if of, _ := d.Type(); of == resourceType {
			return d, true
		}
	}
	return Document{}, false
}

// Waiting is why an ID is not known yet: a document that is named and not there.
type Waiting struct{ What string }

func (w Waiting) Error() string { return "waits for " + w.What }

// AzureName is the name of the resource.
func (d Document) AzureName() string {
	name, _ := d.Spec["azureName"].(string)
	return cmp.Or(name, d.Name)
}

// maxOwners bounds how many owners a document is below.
const maxOwners = 8

// ID is the ID of the resource of a document. The error is a *field.Error, or Waiting.
func (s Set) ID(d Document) (arm.ID, error) { return s.id(d, maxOwners) }

func (s Set) id(d Document, owners int) (arm.ID, error) {
	resourceType, ok := d.Type()
	name := d.AzureName()
	at := d.Path.Child("spec", "azureName")
	if _, set := d.Spec["azureName"]; !set {
		at = d.Path.Child("metadata", "name")
	}
	switch {
	case !ok:
		return "", field.NotSupported(d.Path.Child("kind"), d.Kind, near(d))
	case strings.ContainsAny(name, `/\?#%`) || name == "." || name == "..":
		return "", field.Invalid(at, "", "is no name of an Azure resource: it has a character that parts IDs off")
	case resourceType == types.ResourceGroup:
		if _, ok := d.Spec["owner"]; ok {
			return "", field.Forbidden(d.Path.Child("spec", "owner"), "a resource group is in the subscription of the credential")
		}
		return arm.ResourceGroupID(s.SubscriptionID, name), nil
	case owners == 0:
		return "", field.Invalid(d.Path.Child("spec", "owner"), "", "owners lead back to the document")
	}
	parent, err := s.owner(d, resourceType, owners)
	if err != nil {
		return "", err
	}
	_, segments, _ := strings.Cut(resourceType, "/")
	switch {
	case resourceType == types.RoleAssignment:
		return parent.Extension(resourceType, assignmentName(parent, name)), nil
	case types.Extends(resourceType):
		return parent.Extension(resourceType, name), nil
	case strings.Contains(segments, "/"):
		return parent.Child(segments[strings.LastIndex(segments, "/")+1:], name), nil
	}
	return arm.NewID(parent.Subscription(), parent.ResourceGroup(), resourceType, name), nil
}

// assignmentName is the name of a role assignment. Azure takes UUIDs of which a tenant has each once; documents have names of
// any kind: https://learn.microsoft.com/en-us/azure/role-based-access-control/role-assignments#name
func assignmentName(scope arm.ID, name string) string {
	if uuid.Validate(name) == nil {
		return name
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(scope.Key()+"/"+name)).String()
}

// ParentType is the type of what a resource of a type is below, "" for any.
func ParentType(resourceType string) string {
	provider, segments, _ := strings.Cut(resourceType, "/")
	if types.Extends(resourceType) {
		return ""
	}
	if i := strings.LastIndex(segments, "/"); i >= 0 {
		return provider + "/" + segments[:i]
	}
	return types.ResourceGroup
}

func (s Set) owner(d Document, resourceType string, owners int) (arm.ID, error) {
	at, parentType := d.Path.Child("spec", "owner"), ParentType(resourceType)
	group, kind := Kind(cmp.Or(parentType, types.ResourceGroup))
	owner, ok := d.Spec["owner"].(map[string]any)
	if !ok {
		return "", field.Required(at, fmt.Sprintf("the %s that the resource is in, as {name: ...} of its document or {armId: ...}", kind))
	}
	if armID, ok := owner["armId"].(string); ok {
		return s.ownerByID(at.Child("armId"), armID, parentType)
	}
	name, _ := owner["name"].(string)
	if name == "" {
		return "", field.Required(at.Child("name"), "the name of the document of the owner, or armId")
	}
	if g, ok := owner["group"].(string); ok {
		group = g
	}
	if k, ok := owner["kind"].(string); ok {
		kind = k
	} else if parentType == "" {
		return "", field.Required(at.Child("kind"), "group and kind of the owner: the resource can be below any other one")
	}
	if of, ok := (Document{Group: group, Kind: kind}).Type(); !ok || parentType != "" && of != parentType {
		return "", field.Invalid(at.Child("kind"), kind, "a "+d.Kind+" is not below that")
	}
	found, ok := s.find(group, kind, name)
	if !ok {
		return "", Waiting{fmt.Sprintf("a document %s %s in the Cluster, which spec.owner names", kind, name)}
	}
	return s.id(found, owners-1)
}

// ownerByID is an owner that may be nobody's document. It is in the subscription of the credential.
func (s Set) ownerByID(at *field.Path, text, parentType string) (arm.ID, error) {
	id, plain := plainID(text)
	switch {
	case !plain:
		return "", field.Invalid(at, "", "is no ID of an Azure resource, as in /subscriptions/<id>/resourceGroups/<name>")
	case parentType != "" && !strings.EqualFold(id.Type(), parentType):
		return "", field.Invalid(at, "", "must be the ID of a "+parentType)
	case s.SubscriptionID != "" && !id.Within(arm.SubscriptionID(s.SubscriptionID)):
		return "", field.Forbidden(at, "is not in subscription "+s.SubscriptionID+" of the credential: a document makes nothing outside of that")
	case s.Bound && !s.has(id):
		return "", field.Forbidden(at, "is not the resource of a document of the Cluster: with an AzureClusterIdentity of another namespace, documents make nothing outside of those")
	}
	return id, nil
}

// has tells whether a resource is one of the documents, or below one.
func (s Set) has(id arm.ID) bool {
	return slices.ContainsFunc(s.Documents, func(d Document) bool {
		if owner, ok := d.Spec["owner"].(map[string]any); ok && owner["armId"] != nil {
			return false
		}
		own, err := s.ID(d)
		return err == nil && id.Within(own)
	})
}

// find is the document of a group, kind and name. Versions say nothing about which it is.
func (s Set) find(group, kind, name string) (Document, bool) {
	of, known := kinds()[kindKey(group, kind)]
	for _, d := range s.Documents {
		if is, _ := d.Type(); known && is == of && d.Name == name {
			return d, true
		}
	}
	return Document{}, false
}
