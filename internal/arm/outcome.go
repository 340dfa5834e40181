package arm

import (
	"encoding/json"
	"time"
)

// State is where one resource stands after a pass of the engine.
type State string

const (
	// Ready means that the resource exists and matches the plan.
	Ready State = "Ready"
	// Foreign means that the resource exists, is somebody else's and is used as it is.
	Foreign State = "Foreign"
	// Creating means that Azure is creating the resource.
	Creating State = "Creating"
	// Updating means that Azure is changing the resource.
	Updating State = "Updating"
	// Deleting means that Azure is deleting the resource.
	Deleting State = "Deleting"
	// Gone means that the resource does not exist, which is what a deletion wants.
	Gone State = "Gone"
	// Waiting means that the resource could be written but has to wait: for another operation on the same document, for
	// throttling, for something the plan cannot render yet, or for a transient error to pass.
	Waiting State = "Waiting"
	// Blocked means that a resource it depends on is not in place.
	Blocked State = "Blocked"
	// Failed means that Azure or the plan refused and a person has to change something.
	Failed State = "Failed"
)

// Result is the outcome for one node.
type Result struct {
	ID    ID
	Group string
	State State

	// Err is the root cause when State is Failed, or Waiting because of an error.
	Err error
	// ReadFailed means that the pass learned nothing of the resource: it could not be read, for Err or for the Err of BlockedBy.
	ReadFailed bool
	// BlockedBy is the dependency to look at when State is Blocked.
	BlockedBy ID
	// Message says what the resource waits for; "" when State says it all.
	Message string
	// Drift lists the paths that differ from the plan and are not repaired (CreateOnly), or that were repaired just now. Unrepaired
	// are the former of a resource that is done.
	Drift, UnrepairedDrift []string
	// OutsideChanges are the paths in Drift at which somebody changed Azure's value, Unapplied those at which the plan was changed
	// and the resource is not changed in place. Which of the two moved is not known of the others, as after a restart.
	OutsideChanges, UnappliedChanges []string
	// UnremovablePaths are those of the node at which the resource has a value. A request that Azure refused left none.
	UnremovablePaths []string
	// Observed is the resource as last read, nil when it does not exist or was not read.
	Observed json.RawMessage
	// Owned tells whether the resource is this cluster's: it carries the ownership tag, is below something that does, or
	// is in the inventory.
	Owned bool
	// OwnershipTagRemoved says that the resource was made for the object, has no ownership tag any more and is used or kept in line all the same, with
	// what to do; "" otherwise.
	OwnershipTagRemoved string
	// OtherClusterTag is the ownership tag of another cluster that a resource carries which is used all the same, where that is to be told.
	OtherClusterTag string
	// PossiblyOwned tells that a deletion leaves a resource that may be the object's for all that tags tell.
	PossiblyOwned bool
	// SentMethod is the verb of the write that this pass sent for the node, or "".
	SentMethod string
}

// IsDone tells whether nothing is left to do for the node in a converging pass.
func (r Result) IsDone() bool { return r.State == Ready || r.State == Foreign }

// Outcome is what one pass of the engine found and did. Results are in the order of the graph.
type Outcome struct {
	Results []Result

	// RetryAfter is how long to wait until the next pass if nothing wakes the object before; 0 when everything is done.
	RetryAfter time.Duration

	// Changes are what was brought about in Azure for the object since the last outcome, in the order in which it was.
	Changes []Change

	// Inventory lists the resources that are ours and cannot carry tags: the given inventory with what this pass created added,
	// and what is gone or does not count removed, sorted.
	Inventory []ID
	// Adopted are the resources that were adopted, in this pass or before, sorted.
	Adopted []ID
	// IgnoredInventory are those of the given inventory that do not count, sorted.
	IgnoredInventory []ID
}

// Change is something that was brought about in Azure.
type Change struct {
	ID   ID
	Kind ChangeKind
	// Paths are what differed, where something that was there was changed.
	Paths []string
	// Duration is how long Azure was at it.
	Duration time.Duration
}

// ChangeKind says what was brought about. The values are reasons of events.
type ChangeKind string

const (
	// Created means that the resource was made.
	Created ChangeKind = "Created"
	// Updated means that the resource was brought in line with a plan that it did not match yet.
	Updated ChangeKind = "Updated"
	// Repaired means that the resource had matched the plan, was changed outside, and matches it again.
	Repaired ChangeKind = "Repaired"
	// Deleted means that the resource is gone.
	Deleted ChangeKind = "Deleted"
	// Adopted means that the resource, which somebody else had made, is the object's from here on.
	Adopted ChangeKind = "Adopted"
)

// IsDone tells whether every node is in place.
func (o Outcome) IsDone() bool {
	for _, result := range o.Results {
		if !result.IsDone() {
			return false
		}
	}
	return true
}

// IsDeleted tells whether everything that was to be deleted is gone or foreign.
func (o Outcome) IsDeleted() bool {
	for _, result := range o.Results {
		if result.State != Gone && result.State != Foreign {
			return false
		}
	}
	return true
}

// Result is the result for the node with this ID; ok is false when there is none.
func (o Outcome) Result(id ID) (result Result, ok bool) {
	for _, result := range o.Results {
		if result.ID.Equal(id) {
			return result, true
		}
	}
	return Result{}, false
}

// RootCauses are the results that explain why the pass is not done: failed ones first, then those that wait, then those in
// flight. Blocked nodes are left out, because what blocks them is in the list.
func (o Outcome) RootCauses() []Result {
	var out []Result
	for _, states := range [][]State{{Failed}, {Waiting}, {Creating, Updating, Deleting}} {
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
