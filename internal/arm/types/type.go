package types

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Type is the behaviour of one resource type.
type Type struct {
	// Name is the full type, as in "Microsoft.Network/virtualNetworks/subnets".
	Name string
	// FromDefinition means that only resource manifests have resources of the type: the row comes from Azure's definitions alone, or is one
	// of undefinedTypes.
	FromDefinition bool
	// APIVersion is the api-version of the SDK models in the plans.
	APIVersion string
	// Put is the effect of a PUT on properties that it leaves out.
	Put PutSemantics
	// Taggable means that the type has tags. A resource of another type is owned if its parent is.
	Taggable bool
	// TagsWrittenSeparately means that differing tags are written by themselves, because a PUT is slow or needs more than an existing
	// resource: https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
	TagsWrittenSeparately bool
	// SendsIfMatch means that updates send If-Match: the type has other writers.
	SendsIfMatch bool
	// SerialLevel is the number of levels up to the resource whose document the writes share: 0 is the resource itself, 1 its parent.
	SerialLevel int
	// WriteOnlyPaths lists paths that Azure accepts and never returns; they are neither compared nor shown.
	WriteOnlyPaths []string
	// SharedLists lists paths of lists to which others add elements: elements that the plan does not name are kept.
	SharedLists []string
	// SharedIdentity means that others assign identities to the resource: they are kept besides those of the plan.
	SharedIdentity bool
	// CompletedElements lists paths of lists, each after the lists that contain it, whose elements a PUT replaces as a whole. Members
	// of an element that the plan leaves out are sent as observed. Plans set a list in such an element always or never.
	CompletedElements []string
	// ChildLists lists paths of lists that are never part of the plan's body, because their elements are resources of their own. A PUT
	// without them would empty them, so they are sent as observed.
	ChildLists []string
	// BackReferences lists paths of lists of the resources that use this one, which grow with the number of machines. The SDK's models
	// have them as read-only; reads drop them.
	BackReferences []string
	// PreservedPaths lists paths of settings that plans leave to others and that a PUT without them would reset: the observed value is
	// sent unless the plan sets or owns the path. A path in a list is a setting of each element. Such settings are not
	// recorded in lastApplied, so a plan must not set one at times: its value would stay.
	PreservedPaths []string
	// PreservedOnceSet lists paths like PreservedPaths that plans set at times: a later plan without the value does not remove it.
	PreservedOnceSet []string
	// KeptSettings lists paths of values, and of objects with settings, that Azure keeps when a PUT leaves them out or has null there. Every
	// setting in them that a plan sends is recorded in lastApplied. A later plan without it has to send another value in its place.
	KeptSettings []string
	// ReplacedMaps lists paths of maps that a PUT replaces as a whole: keys that the plan's body does not have are differences.
	ReplacedMaps []string
	// CaseInsensitivePaths lists paths of text without case: enumerations, which are added from the SDK's models, and values that Azure
	// is known to return in another case. All other text is compared exactly, except regions, IDs, UUIDs and addresses, which are
	// recognized by their form.
	CaseInsensitivePaths []string
	// FreeFormPaths lists paths of maps, and of any other values, whose members users define; "*" stands for a key further down. Their
	// keys and text are compared exactly, except names of tags.
	FreeFormPaths []string
	// CaseInsensitiveKeys lists those of FreeFormPaths whose keys are IDs or Azure's own names.
	CaseInsensitiveKeys []string
	// RenewedStates lists values, by path, of states that Azure sets and that another PUT of the same body ends. They count as differences.
	RenewedStates map[string][]string
	// ConnectionLists lists paths of lists of connections whose state the owners of other resources change. That is no write of this resource, so
	// the digest cannot confirm a read with a connection that is not approved.
	ConnectionLists []string
	// OwnerReferences lists paths, in a type without tags, of the resources that it exists for: their IDs, or the principal of one.
	OwnerReferences []string
	// OwnedByReference means that a resource is useless without the one that it references, so that it has the same owner.
	// MayReferenceForeign means that the referenced resource may be foreign, as a network that users bring.
	OwnedByReference, MayReferenceForeign bool
	// UsedResources lists paths of IDs of resources that this one uses. They are in its own document, so only its writers can set them;
	// a key that ends in [] is that of a list. They prove the owner of a resource whose tags were removed.
	UsedResources []string
	// GetQuery is sent with a GET of one resource and ListQuery with that of its collection, for properties that Azure returns only on
	// request.
	GetQuery, ListQuery url.Values
	// DeleteRank orders deletions without a graph: lower ranks are deleted first.
	DeleteRank int
	// PutQuery is sent with PUT.
	PutQuery url.Values
	// DeleteQuery is sent with DELETE.
	DeleteQuery url.Values
	// ReadIndividually means that reads are not combined into lists: the collection is not that of the parent, or is far larger than
	// the wanted part.
	ReadIndividually bool
	// EmbeddedChildren maps the types of children that the resource's document contains in full, by their last word in lower case, to
	// the paths of their lists.
	EmbeddedChildren map[string]string
	// WrittenWithParent means that plans write the resource in a list of its parent's body and never by itself, so that one PUT of the
	// parent changes the whole list at once. A resource manifest of the type is the exception: it is a node of its own.
	WrittenWithParent bool
	// VolatileState means that relevant state of a resource changes without a write, so that the digest cannot confirm a read.
	VolatileState bool
	// ChangesOnlyOnWrite means that relevant state of a resource changes with writes only.
	ChangesOnlyOnWrite bool
	// FullyListed means that the list of all resources has everything that plans set in the resource, which is its tags.
	FullyListed bool
	// CreatesTypes lists the types of resources that operations on this one create and delete in its group, as a machine's disks: their
	// earlier absence is uncertain after an operation.
	CreatesTypes []string
	// DetachesTypes lists the types of resources in its group from which Azure removes the references to this one when it is deleted,
	// as from interfaces those to a load balancer's pools and rules. When it is created again, existing resources lack the references,
	// and Microsoft does not document that a list of all resources shows that.
	DetachesTypes []string
	// DeletedWithParent means that deleting the parent deletes the resource, so that it needs no deletion of its own.
	DeletedWithParent bool
	// KeepFailed means that a failed create-only resource is reported and left for replacement. Other types get one more PUT, which
	// repairs them or returns the error again.
	KeepFailed bool
	// DeleteWhileBusy means that Azure accepts a deletion during another operation, and ends that.
	DeleteWhileBusy bool
}

// PutSemantics is the effect of a PUT on properties that it leaves out.
type PutSemantics string

const (
	// PutReplaces means that omitted properties return to their defaults.
	PutReplaces PutSemantics = "Replaces"
	// PutPatches means that omitted properties are kept: a removal must be sent as null or empty.
	// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update
	PutPatches PutSemantics = "Patches"
)

// ForID returns the row for the type of id: its own row, one from Azure's definitions, or one of a type that is sent unchecked.
func ForID(id arm.ID) (Type, error) {
	name := strings.ToLower(id.Type())
	if row, ok := rowsByName[name]; ok {
		return row, nil
	}
	if row, ok := rowFromDefinition(name); ok {
		return row, nil
	}
	if row, ok := rowsWithoutDefinition()[name]; ok {
		return row, nil
	}
	return Type{}, fmt.Errorf("%s: resource type %q is not known to the engine", id, id.Type())
}

// TableRows returns the rows of types that have their own, in no particular order.
func TableRows() []Type {
	out := make([]Type, 0, len(rowsByName))
	for _, row := range rowsByName {
		out = append(out, row)
	}
	return out
}

// SerialKey returns the resource whose document a write to id changes; writes with the same key must not overlap.
func (t Type) SerialKey(id arm.ID) arm.ID {
	for range t.SerialLevel {
		id = id.Parent()
	}
	return id
}

// ListPath returns the path of the collection of id.
func ListPath(id arm.ID) string {
	s := string(id)
	if i := strings.LastIndex(s, "/"); i >= 0 {
		return s[:i]
	}
	return s
}

var rowsByName = indexByName(resourceTypes, networkTypes, computeTypes, dnsTypes, containerServiceTypes)

func indexByName(tables ...[]Type) map[string]Type {
	out := map[string]Type{}
	for _, table := range tables {
		for _, row := range table {
			if row.Put == "" {
				row.Put = PutReplaces
			}
			row.CaseInsensitivePaths = slices.Concat(row.CaseInsensitivePaths, enumerations[row.Name])
			row.FreeFormPaths = slices.Concat(row.FreeFormPaths, freeForm[row.Name])
			out[strings.ToLower(row.Name)] = row
		}
	}
	return out
}
