package arm

import "slices"

// Node is one Azure resource of a plan.
type Node struct {
	// ID is the full resource ID, computed from names.
	ID ID

	// Body is the body of a PUT: a typed SDK model, marshalled to JSON once. It is total: it has every path that the plan owns,
	// including empty values, so that removals are visible. Nil for Observe nodes.
	Body any

	// PlannedBody is the plan's own part of Body, nil if that is all of it. Body may also carry over values of others and explicit
	// absences of values from earlier plans.
	PlannedBody any

	// UnremovablePaths are JSON pointers to values of earlier plans that this plan no longer has and that Azure cannot remove.
	UnremovablePaths []string

	// After lists the nodes that must be in place before this one is written. The node's parent resource is implied if it is in the
	// graph.
	After []ID

	// OtherHalf is the node of the other half of a connection. While the state of one half has to be renewed, Azure refuses the other one: that
	// half is written first, whatever After has.
	OtherHalf ID

	// Policy determines the writes that are allowed for the resource.
	Policy Policy

	// Foreign determines the reaction if the resource exists without the ownership tag.
	Foreign ForeignAction

	// OtherCluster determines the reaction if UseForeign would use a resource that carries the ownership tag of another cluster.
	OtherCluster OtherClusterAction

	// PlannedWithTag, with AdoptForeign, means that Body has the ownership tag, because the resource did not exist or carried it at the
	// time of the plan. If it is found without the tag, planning is repeated before anything is written: a write must not claim a
	// foreign resource.
	PlannedWithTag bool

	// Group is the condition type that reports the node.
	Group string

	// OwnedPaths lists dotted JSON paths that are compared even if Body does not have them, as in "properties.natGateway".
	OwnedPaths []string

	// KeptPaths lists dotted paths below which Body leaves out values of earlier plans on purpose: the resource keeps them, and they
	// stay recorded.
	KeptPaths []string

	// Detached means that the resource is kept when its node is no longer planned.
	Detached bool

	// Denials lists parts of Body that must not be written. A write is refused unless the observed resource already has them: existing
	// resources keep such values and get no new ones.
	Denials []Denial

	// DropTags are keys of former tags of this object, removed when found.
	DropTags []string

	// Blocked is the reason why the node cannot be rendered yet, as text for a condition; "" means that it can.
	Blocked string

	// WriteBlocked is the reason why Azure accepts no write of the node for now, as text for a condition; "" means that it does. The node
	// is read and compared, and a write that it needs waits.
	WriteBlocked string

	// Refused is the reason why the node cannot be rendered from this input, as text for a condition that names the field; "" means
	// that it can.
	Refused string
}

// Policy is the set of writes that the engine may send for a node's resource.
type Policy string

const (
	// Repair creates the resource, repairs drift and deletes it.
	Repair Policy = "Repair"

	// CreateOnly creates the resource and deletes it. In between it repairs only tags and reports other drift.
	CreateOnly Policy = "CreateOnly"

	// TagOnly is for a resource that Azure creates with a dependency of the node, as the disks of a VM: its tags are repaired once it
	// exists. It is not written otherwise, and is deleted only by a plan of deletion.
	TagOnly Policy = "TagOnly"

	// Observe requires the resource to exist. It is never written and never deleted.
	Observe Policy = "Observe"
)

// ForeignAction is the reaction to a taggable resource without the cluster's ownership tag.
type ForeignAction string

const (
	// RefuseForeign reports an error. The resource is neither changed nor deleted.
	RefuseForeign ForeignAction = ""

	// UseForeign uses the resource as it is, for groups, networks, public IPs and DNS zones that users bring: it is neither changed nor
	// deleted, and dependants continue.
	UseForeign ForeignAction = "Use"

	// AdoptForeign manages the resource as if the cluster owned it, for existing AKS clusters that users hand over. It needs no
	// ownership tag, and is deleted with the cluster only on request.
	AdoptForeign ForeignAction = "Adopt"
)

// Denial is a part of a body that a node must not be given.
type Denial struct {
	// Reference is the denied reference in the body. The zero value denies every write of the node.
	Reference Reference
	// Field is the field of the spec with the value, or the short name of the node if there is none.
	Field string
	// Message has the reason and the remedy.
	Message string
}

// DenialMessage returns the message of the first denial that a write of body over observed would violate, "" if there is none. observed
// is the decoded resource in Azure, nil if it does not exist.
func (n *Node) DenialMessage(observed any) string {
	var have []Reference
	if len(n.Denials) > 0 && observed != nil {
		have = FindReferences(observed)
	}
	for _, denial := range n.Denials {
		kept := denial.Reference.ID != "" && slices.ContainsFunc(have, func(r Reference) bool {
			return r.Path == denial.Reference.Path && r.ID.Equal(denial.Reference.ID)
		})
		if !kept {
			return denial.Field + ": " + denial.Message
		}
	}
	return ""
}

// OtherClusterAction is the reaction to a bring-your-own resource with the ownership tag of another cluster.
type OtherClusterAction string

const (
	// UseOtherCluster uses it like any other.
	UseOtherCluster OtherClusterAction = ""

	// ReportOtherCluster uses it, and reports the other cluster's tag.
	ReportOtherCluster OtherClusterAction = "Tell"

	// RefuseOtherCluster reports an error. For an object that already has resources in Azure it is the same as ReportOtherCluster.
	RefuseOtherCluster OtherClusterAction = "Refuse"
)
