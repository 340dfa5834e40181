package types

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Type is how one resource type behaves.
type Type struct {
	// Name is the full type, as in "Microsoft.Network/virtualNetworks/subnets".
	Name string
	// FromDefinition tells that the row is only what Azure's definitions tell of the type.
	FromDefinition bool
	// APIVersion is the one that the SDK models of the plans belong to.
	APIVersion string
	// Put is what a PUT does to what it leaves out.
	Put PutSemantics
	// Taggable tells whether the type carries tags; ownership of types that do not is their parent's.
	Taggable bool
	// TagsWrittenSeparately tells that tags which differ are written by themselves, where a PUT is slow or asks more of the resource
	// than to be there: https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
	TagsWrittenSeparately bool
	// SendsIfMatch tells whether updates send If-Match: types that others write, too.
	SendsIfMatch bool
	// SerialLevel is how many segments of type and name to go up to the resource whose document writes share: 0 is the
	// resource itself, 1 its parent.
	SerialLevel int
	// WriteOnlyPaths lists paths that Azure accepts and never returns; they are neither compared nor shown.
	WriteOnlyPaths []string
	// SharedLists lists paths of lists that others add to: elements that the plan does not name are kept.
	SharedLists []string
	// SharedIdentity means that others assign identities to the resource: they are kept beside those of the plan.
	SharedIdentity bool
	// CompletedElements lists paths of lists, each after those that it is in, whose elements a PUT replaces as a whole. Members of an element that the
	// plan leaves out are sent as observed. Plans set a list in such an element, or leave it out for good.
	CompletedElements []string
	// ChildLists lists paths of lists that are never part of the plan's body, because their elements are resources of
	// their own, and that a PUT without them would empty.
	ChildLists []string
	// BackReferences lists paths of lists in which Azure shows what uses the resource, which is as long as there are machines. The SDK's models have
	// them as read-only; nothing keeps them.
	BackReferences []string
	// PreservedPaths lists paths of settings that plans leave to others, and that a PUT without them would reset: what was observed
	// there is sent along unless the plan says something about it or owns it.
	PreservedPaths []string
	// PreservedOnceSet lists paths of settings as Keep does, which plans set at times: a plan that leaves one out later does not take it back.
	PreservedOnceSet []string
	// ReplacedMaps lists paths of maps that a PUT replaces whole: keys that the plan's body does not have are differences.
	ReplacedMaps []string
	// CaseInsensitivePaths lists paths of text whose case says nothing: that of enumerations, which the index adds, and what Azure is known
	// to respell. All other text is exact, but for regions, and for IDs, UUIDs and addresses, which are known by their shape.
	CaseInsensitivePaths []string
	// FreeFormPaths lists paths of maps and of any other values whose members are anybody's; "*" stands for a key further down.
	// Their keys and text are exact, except that names of tags have no case.
	FreeFormPaths []string
	// CaseInsensitiveKeys lists those of Free whose keys are IDs or Azure's own names.
	CaseInsensitiveKeys []string
	// OwnerReferences lists paths of what a resource that cannot carry tags is there for: IDs of resources, or the principal of one.
	OwnerReferences []string
	// OwnedByReference tells that a resource is of no use but for what it is tied to, so that it is whose that is. Loose tells that it may
	// be tied to what is somebody else's, as a network that users brought.
	OwnedByReference, MayReferenceForeign bool
	// UsedResources lists paths of IDs of resources that the resource uses. They are in its own document, so that only who may write it can have
	// put them there; a key that ends in [] is that of a list. Where the tags of the resource are lost they tell whose it is.
	UsedResources []string
	// GetQuery is sent with a GET of one resource and ListQuery with that of its collection, for what Azure shows only on
	// request.
	GetQuery, ListQuery url.Values
	// DeleteRank orders deletions where no graph does: lower ranks go first.
	DeleteRank int
	// DeleteQuery is sent with DELETE.
	DeleteQuery url.Values
	// ReadIndividually means that reads are not coalesced: the collection is not that of the parent, or is far larger than what is
	// asked for.
	ReadIndividually bool
	// EmbeddedChildren are the types of children, by their last word in lower case, that the resource's document shows whole, and the paths of the
	// lists with them.
	EmbeddedChildren map[string]string
	// WrittenWithParent means that plans write the resource in a list of its parent's body and never by itself, so that one PUT of the
	// parent takes the whole list from one state to the next. A resource manifest of the type is the exception: it is a node of its own.
	WrittenWithParent bool
	// VolatileState means that what matters of a resource changes without a write of it, so that no list of all resources vouches for it.
	VolatileState bool
	// ChangesOnlyOnWrite means that what matters of a resource changes with writes only.
	ChangesOnlyOnWrite bool
	// FullyListed means that all that plans want of a resource, its tags, is in the list of all resources.
	FullyListed bool
	// CreatesTypes lists the types of resources that operations on this one make and delete in its group, as a machine's disks:
	// what was known not to exist before may exist after.
	CreatesTypes []string
	// DetachesTypes lists the types of resources in its group that Azure takes off this one when it is deleted, as interfaces off a load balancer's
	// pools and rules: those that are there when it is made again lack what led to it, and nothing documents that a list of all
	// resources shows that.
	DetachesTypes []string
	// DeletedWithParent means that deleting the parent deletes the resource, so that it needs no deletion of its own.
	DeletedWithParent bool
	// KeepFailed means that a create-only resource that ended as failed is reported and left for replacement; others are
	// PUT once more, which mends them or tells the error again.
	KeepFailed bool
	// DeleteWhileBusy means that a deletion is taken while another operation is under way, which it ends.
	DeleteWhileBusy bool
}

// PutSemantics is what a PUT does to properties that it leaves out.
type PutSemantics string

const (
	// PutReplaces means that what is left out returns to its default.
	PutReplaces PutSemantics = "Replaces"
	// PutPatches means that what is left out stays: a removal must be sent as null or empty.
	// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update
	PutPatches PutSemantics = "Patches"
)

// ForID is the row for the type of id: its own, or the one that Azure's definitions tell.
func ForID(id arm.ID) (Type, error) {
	name := strings.ToLower(id.Type())
	if row, ok := rowsByName[name]; ok {
		return row, nil
	}
	if row, ok := rowFromDefinition(name); ok {
		return row, nil
	}
	return Type{}, fmt.Errorf("%s: resource type %q is not known to the engine", id, id.Type())
}

// TableRows are the rows of types that have one of their own, in no particular order.
func TableRows() []Type {
	out := make([]Type, 0, len(rowsByName))
	for _, row := range rowsByName {
		out = append(out, row)
	}
	return out
}

// SerialKey is the resource whose document a write to id changes; writes with the same key must not overlap.
func (t Type) SerialKey(id arm.ID) arm.ID {
	for range t.SerialLevel {
		id = id.Parent()
	}
	return id
}

// ListPath is the collection that id is an element of.
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
