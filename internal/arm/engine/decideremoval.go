package engine

import (
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// maxBusyWait is how long a deletion waits for another operation on the resource before it is sent all the same.
const maxBusyWait = time.Minute

// decideRemoval decides about a resource to delete.
func decideRemoval(s situation) decision {
	switch {
	case s.deletedWithGone:
		return decision{step: stepReport, state: arm.Gone}
	case s.deletedWith != "" && s.isAbsent() && !s.isBeingWritten():
		return decision{step: stepReport, state: arm.Gone}
	case s.deletedWith != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.deletedWith}
	case s.groupErr != nil:
		return reportReadFailure(s, s.groupErr)
	case s.groupKept && s.found.Exists:
		return decision{step: stepReport, state: arm.Foreign,
			message: "kept: the cluster does not own it, or it has resources of another cluster"}
	case s.typeErr != nil:
		return reportFailure(s.typeErr)
	case s.running.state == arm.Deleting:
		return awaitOperation(s)
	case s.isAbsent() && s.isBeingWritten():
		return decision{step: stepJoin, state: arm.Waiting, message: "waits for the end of its creation before it is deleted", retryAfter: followTimeout}
	case s.running.state != "" && !s.row.DeleteWhileBusy && s.running.age < maxBusyWait:
		return decision{step: stepJoin, state: arm.Waiting, message: "waits for a running operation before it is deleted",
			retryAfter: maxBusyWait - s.running.age}
	case !s.found.WasRead() || s.outdated:
		return decision{step: stepReadAgain, state: arm.Waiting, retryAfter: time.Second}
	case s.found.Err != nil:
		return reportReadFailure(s, s.found.Err)
	case !s.found.Exists:
		return confirmRemoval(s)
	case !s.owned && s.ownershipErr != nil:
		return reportReadFailure(s, s.ownershipErr)
	case !s.owned && s.ownershipTagRemoved && s.otherOwnerTag == "":
		return reportRefusal(s, ownershipTagError(s))
	case !s.owned && s.sameNameOwner != "":
		return decision{step: stepReport, state: arm.Foreign, message: "kept: it belongs to " + s.sameNameOwner}
	case !s.owned:
		return decision{step: stepReport, state: arm.Foreign, possiblyOwned: s.unclaimed}
	}
	inProgress, _ := s.found.Head().State()
	switch {
	case inProgress == arm.Deleting:
		return decision{step: stepFollow, state: arm.Deleting, retryAfter: followTimeout}
	case s.blocker != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.blocker}
	case s.observing:
		return intendWrite(s, decision{method: http.MethodDelete})
	case s.retryAfter > 0:
		return awaitRetry(s)
	}
	return claimThenSend(s, decision{method: http.MethodDelete, state: arm.Deleting})
}

// isAbsent reports whether the last read did not find the resource.
func (s situation) isAbsent() bool { return s.found.WasRead() && s.found.Err == nil && !s.found.Exists }

// isBeingWritten reports whether a PUT is running. Until it ends, an absent resource may still be created, and Azure refuses the PUT if a resource
// that its body names is deleted.
func (s situation) isBeingWritten() bool {
	return s.running.state != "" && s.running.state != arm.Deleting
}

// confirmRemoval decides about a resource to delete that a read does not show. If it still exists, no object deletes it after this one.
func confirmRemoval(s situation) decision {
	switch {
	case s.found.FromList || s.found.ConfirmedByDigest:
		// Lists may lag, and a digest may not show a change of a child.
		return decision{step: stepConfirm}
	case s.hiddenFor > 0:
		return decision{step: stepReport, state: arm.Waiting, message: "is absent shortly after its creation and is read again before it counts as deleted",
			retryAfter: s.hiddenFor}
	}
	return decision{step: stepForget, state: arm.Gone}
}

// groupSituation is the input of the decision about a resource group.
type groupSituation struct {
	// running is the state of an operation of this engine on the group, "" if there is none.
	running arm.State
	found   observe.Observation
	owned   bool
	// listed means that the resources in the group were listed, listErr is the error of that. hasForeign means that the group or a
	// resource in it has the tag of another cluster.
	listed     bool
	listErr    error
	hasForeign bool
}

// groupDecision is the effect of a deletion on a resource group.
type groupDecision string

const (
	// groupDeletedWhole deletes the group with everything in it.
	groupDeletedWhole groupDecision = "whole"
	// groupKept keeps the group and deletes the cluster's resources in it one by one.
	groupKept groupDecision = "stays"
	// groupAbsent means that the group does not exist or may not be read.
	groupAbsent groupDecision = "absent"
	// groupUnreadable means that the group could not be read this time. The deletion of its resources waits.
	groupUnreadable groupDecision = "unclear"
	// groupUnlisted means that the resources in the group have to be listed before the decision.
	groupUnlisted groupDecision = "unlisted"
)

// decideGroup decides about a resource group of the graph.
func decideGroup(s groupSituation) groupDecision {
	inProgress, _ := s.found.Head().State()
	switch {
	case s.running != "" && s.running != arm.Updating:
		// The engine creates and deletes only owned groups.
		return groupDeletedWhole
	case s.found.Err != nil && arm.IsTransient(s.found.Err):
		return groupUnreadable
	case !s.found.Exists || s.found.Err != nil:
		return groupAbsent
	case s.owned && inProgress == arm.Deleting:
		return groupDeletedWhole
	case !s.listed:
		return groupUnlisted
	case s.owned && (s.listErr != nil || !s.hasForeign):
		return groupDeletedWhole
	}
	return groupKept
}
