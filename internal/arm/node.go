package arm

import "slices"

// Node is one Azure resource that a plan wants.
type Node struct {
	// ID is the full resource ID, computed from names.
	ID ID

	// Body is what a PUT sends: a typed SDK model, marshalled to JSON once. It is total: every path the plan owns is
	// rendered, empty values included, so that a removal is visible. Nil for Observe nodes.
	Body any

	// PlannedBody is what the plan itself wants of Body, nil for all of it: Body may also carry over what others have, and say the
	// absence of what earlier plans wanted.
	PlannedBody any

	// UnremovablePaths are the JSON pointers of what earlier plans wanted, this one does not, and Azure has no way to take back.
	UnremovablePaths []string

	// After lists the nodes that must be in place before this one is written. A node's parent resource need not be
	// listed when it is in the graph: it is implied.
	After []ID

	// Policy says what may be done to the resource.
	Policy Policy

	// Foreign says what to do when the resource exists but does not carry the ownership tag.
	Foreign ForeignAction

	// OtherCluster says what to do when the resource carries the ownership tag of another cluster and UseForeign would use it.
	OtherCluster OtherClusterAction

	// PlannedWithTag tells, with AdoptForeign, that Body was given the ownership tag, as the resource was not there, or had it, when it was
	// planned. One that is found without it is planned for again before anything is written: nothing is claimed by being written.
	PlannedWithTag bool

	// Group is the condition type that the node reports into.
	Group string

	// OwnedPaths lists dotted JSON paths that are compared even when Body does not have them, as in "properties.natGateway".
	OwnedPaths []string

	// KeptPaths lists dotted paths below which Body leaves out on purpose what earlier plans sent: the resource keeps it, and it stays recorded.
	KeptPaths []string

	// Detached tells that the resource stays when its node is no longer planned.
	Detached bool

	// Denials lists what of Body may not be written. A write is refused unless Azure shows the resource with it already: what
	// exists keeps what it has and gets nothing new.
	Denials []Denial

	// DropTags are tag keys that were ours once and are removed when found.
	DropTags []string

	// Blocked says why the node cannot be rendered yet, in words for a condition; "" means it can.
	Blocked string

	// Refused says why the node will never be rendered from this input, in words for a condition that name the field;
	// "" means it is fine.
	Refused string
}

// Policy says what the engine may do to a node's resource.
type Policy string

const (
	// Repair creates the resource, keeps it in line with the plan and deletes it.
	Repair Policy = "Repair"

	// CreateOnly creates the resource and deletes it. Afterwards only its tags are kept in line, and drift is reported.
	CreateOnly Policy = "CreateOnly"

	// TagOnly is for a resource that Azure makes together with one that the node comes after, as the disks of a VM: its
	// tags are kept in line once it exists. It is never created or otherwise written, and deleted by a plan of deletion only.
	TagOnly Policy = "TagOnly"

	// Observe requires the resource to exist; it is never written and never deleted.
	Observe Policy = "Observe"
)

// ForeignAction says what happens when a taggable resource exists without the cluster's ownership tag.
type ForeignAction string

const (
	// RefuseForeign reports the resource as an obstacle: it is neither changed nor deleted.
	RefuseForeign ForeignAction = ""

	// UseForeign takes the resource as it is, as users bring their own groups, networks, public IPs and DNS zones: it is
	// neither changed nor deleted, and dependants go on.
	UseForeign ForeignAction = "Use"

	// AdoptForeign keeps the resource in line as if it were the cluster's own, as users hand over AKS clusters that exist. It
	// needs no ownership tag, and is not deleted with the cluster unless that is asked for.
	AdoptForeign ForeignAction = "Adopt"
)

// Denial is something that a node may not be given.
type Denial struct {
	// Reference is the place of the body. The zero value denies every write of the node.
	Reference Reference
	// Field is the field of the spec that asks for it, or the short name of the node where none does.
	Field string
	// Message says why it is denied and what to do.
	Message string
}

// DenialMessage returns the message of the first denial that a write of body over observed would violate, "" for none. observed is
// the decoded resource as Azure shows it, nil if it does not exist.
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

// OtherClusterAction says what happens when a resource that may be used carries the ownership tag of another cluster.
type OtherClusterAction string

const (
	// UseOtherCluster uses it as any other.
	UseOtherCluster OtherClusterAction = ""

	// ReportOtherCluster uses it, and says whose it is.
	ReportOtherCluster OtherClusterAction = "Tell"

	// RefuseOtherCluster reports it as an obstacle, but for an object of which something was seen in Azure: then it is as ReportOtherCluster.
	RefuseOtherCluster OtherClusterAction = "Refuse"
)
