package arm

import (
	"encoding/json"
	"time"
)

// State is the state of one resource after a convergence.
type State string

const (
	// Ready means that the resource exists and matches the plan.
	Ready State = "Ready"
	// Foreign means that the resource exists, is not owned, and is used as it is.
	Foreign State = "Foreign"
	// Absent means that the resource does not exist and is not created, because the object is observed.
	Absent State = "Absent"
	// Creating means that Azure is creating the resource.
	Creating State = "Creating"
	// Updating means that Azure is changing the resource.
	Updating State = "Updating"
	// Deleting means that Azure is deleting the resource.
	Deleting State = "Deleting"
	// Gone means that the resource does not exist, which is the goal of a deletion.
	Gone State = "Gone"
	// Waiting means that the write has to wait: for another operation on the same document, for throttling, for something that the plan
	// cannot render yet, or for a transient error to pass.
	Waiting State = "Waiting"
	// Blocked means that a dependency is not in place.
	Blocked State = "Blocked"
	// Failed means that Azure or the plan refused the resource and the user has to change something.
	Failed State = "Failed"
)

// Result is the result of one node.
type Result struct {
	ID    ID
	Group string
	State State

	// Err is the root cause if State is Failed, or Waiting because of an error.
	Err error
	// ReadFailed means that the resource could not be read, for Err or for the Err of BlockedBy, so its state is unknown.
	ReadFailed bool
	// BlockedBy is the cause if State is Blocked.
	BlockedBy ID
	// Message is the reason of the wait; "" if State is enough.
	Message string
	// Drift lists the paths that differ from the plan: of CreateOnly nodes those that are not repaired, otherwise those that a write
	// repairs. UnrepairedDrift lists the former of a resource that is done.
	Drift, UnrepairedDrift []string
	// OutsideChanges lists the paths in Drift where Azure's value was changed from outside, UnappliedChanges those where the plan
	// changed and the resource is not changed in place. Paths in neither list are unclassified, as after a restart.
	OutsideChanges, UnappliedChanges []string
	// UnremovablePaths lists those of the node where the resource has a value. A refused request left none.
	UnremovablePaths []string
	// Observed is the resource as last read, nil if it does not exist, was not read, or is OwnedByOthers.
	Observed json.RawMessage
	// OwnedByOthers means that the resource exists, belongs to another owner, and is not used by the node. Observed is nil, so that no
	// status shows the properties of another owner's resource.
	OwnedByOthers bool
	// Owned means that the cluster owns the resource: it carries the ownership tag, is below an owned resource, or is in the inventory.
	Owned bool
	// Managed means that the object may change the resource: the cluster owns it, and the node does more than observe it.
	Managed bool
	// OwnershipTagRemoved is the message about a resource that was created for the object, has lost its ownership tag, and is used or
	// repaired all the same; "" otherwise.
	OwnershipTagRemoved string
	// OtherClusterTag is the ownership tag of another cluster on a resource that is used all the same, if that has to be reported; ""
	// otherwise.
	OtherClusterTag string
	// UnapprovedConnections lists the connections of a resource in place that the owners of other resources have not approved, or no longer.
	UnapprovedConnections []Connection
	// PossiblyOwned means that a deletion keeps a resource that may be the object's own, as its tags name no owner.
	PossiblyOwned bool
	// SentMethod is the HTTP method of the write that this convergence sent for the node, or "".
	SentMethod string
	// IntendedMethod is the HTTP method of the write that was not sent because the object is observed, or "". Drift has the paths
	// that it would change.
	IntendedMethod string
}

// IsDone reports whether a convergence has nothing left to do for the node.
func (r Result) IsDone() bool { return r.State == Ready || r.State == Foreign }

// Outcome is the result of one convergence. Results are in the order of the graph.
type Outcome struct {
	Results []Result

	// RetryAfter is the time until the next reconciliation if no event wakes the object before; 0 if everything is done.
	RetryAfter time.Duration

	// Changes lists the changes made in Azure for the object since the last outcome, in their order.
	Changes []Change

	// Inventory lists the owned resources that cannot carry tags: the inventory of the request with additions of this convergence,
	// without resources that are gone or do not count, sorted.
	Inventory []ID
	// Adopted lists the resources adopted in this convergence or before, sorted.
	Adopted []ID
	// IgnoredInventory lists the entries of the request's inventory that do not count, sorted.
	IgnoredInventory []ID
}

// Change is a change made in Azure.
type Change struct {
	ID   ID
	Kind ChangeKind
	// Paths lists the changed paths of a resource that existed before.
	Paths []string
	// Duration is how long Azure took.
	Duration time.Duration
}

// ChangeKind is the kind of a change. The values are reasons of events.
type ChangeKind string

const (
	// Created means that the resource was created.
	Created ChangeKind = "Created"
	// Updated means that the resource was changed to match a new spec.
	Updated ChangeKind = "Updated"
	// Repaired means that the resource matches the spec again, after another program or user changed it in Azure.
	Repaired ChangeKind = "Repaired"
	// Deleted means that the resource was deleted.
	Deleted ChangeKind = "Deleted"
	// Adopted means that the provider manages a resource that another program or user created.
	Adopted ChangeKind = "Adopted"
)

// IsDone reports whether every node is in place.
func (o Outcome) IsDone() bool {
	for _, result := range o.Results {
		if !result.IsDone() {
			return false
		}
	}
	return true
}

// IsDeleted reports whether every resource of a deletion is gone or foreign.
func (o Outcome) IsDeleted() bool {
	for _, result := range o.Results {
		if result.State != Gone && result.State != Foreign {
			return false
		}
	}
	return true
}

// Result returns the result of the node with this ID; ok is false if there is none.
func (o Outcome) Result(id ID) (result Result, ok bool) {
	for _, result := range o.Results {
		if result.ID.Equal(id) {
			return result, true
		}
	}
	return Result{}, false
}

// RootCauses returns the results that explain why the convergence is not done: failed ones first, then waiting ones, then absent
// ones of an observed object, then those in progress. Blocked nodes are left out, because the results that block them are in the list.
func (o Outcome) RootCauses() []Result {
	var out []Result
	for _, states := range [][]State{{Failed}, {Waiting}, {Absent}, {Creating, Updating, Deleting}} {
		for _, result := range o.Results {
			for _, state := range states {
				if result.State == state {
					out = append(out, result)
				}
			}
		}
	}
	return out
}
