package engine

import (
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// maxBusyWait is how long a deletion waits for another operation on the resource before it is tried all the same.
const maxBusyWait = time.Minute

// decideRemoval is decide for a resource that is to go.
func decideRemoval(s situation) decision {
	switch {
	case s.deletedWith != "" && (s.deletedWithGone || s.found.WasRead() && s.found.Err == nil && !s.found.Exists):
		return decision{step: stepReport, state: arm.Gone}
	case s.deletedWith != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.deletedWith}
	case s.groupErr != nil:
		return reportReadFailure(s, s.groupErr)
	case s.groupKept && s.found.Exists:
		return decision{step: stepReport, state: arm.Foreign, message: "stays: it is not the cluster's own, or holds resources of another cluster"}
	case s.typeErr != nil:
		return reportFailure(s.typeErr)
	case s.running.state == arm.Deleting:
		return awaitOperation(s)
	case s.running.state != "" && !s.row.DeleteWhileBusy && s.running.age < maxBusyWait:
		return decision{step: stepJoin, state: arm.Waiting, message: "waits for an operation on it to end before it is deleted", retryAfter: maxBusyWait - s.running.age}
	case !s.found.WasRead() || s.outdated:
		return decision{step: stepReadAgain, state: arm.Waiting, retryAfter: time.Second}
	case s.found.Err != nil:
		return reportReadFailure(s, s.found.Err)
	case !s.found.Exists:
		return decision{step: stepForget, state: arm.Gone}
	case !s.owned && s.ownershipTagRemoved && s.otherOwnerTag == "":
		return reportRefusal(s, ownershipTagError(s))
	case !s.owned && s.sameNameOwner != "":
		return decision{step: stepReport, state: arm.Foreign, message: "stays: it belongs to " + s.sameNameOwner}
	case !s.owned:
		return decision{step: stepReport, state: arm.Foreign, possiblyOwned: s.unclaimed}
	}
	doing, _ := observe.ProvisioningState(s.found.Body)
	switch {
	case doing == arm.Deleting:
		return decision{step: stepFollow, state: arm.Deleting, retryAfter: followTimeout}
	case s.blocker != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.blocker}
	case s.retryAfter > 0:
		return awaitRetry(s)
	}
	return claimThenSend(s, decision{method: http.MethodDelete, state: arm.Deleting})
}

// groupSituation is what the fate of a resource group is decided from.
type groupSituation struct {
	// running is what an operation of ours is at there, "" is nothing.
	running arm.State
	found   observe.Observation
	owned   bool
	// listed means that what is in the group was asked for, unsure why it is not known; others that it has something of another
	// cluster, or carries its tag.
	listed     bool
	listErr    error
	hasForeign bool
}

// groupDecision is what a deletion does to a resource group.
type groupDecision string

const (
	// groupDeletedWhole groups go with everything in them.
	groupDeletedWhole groupDecision = "whole"
	// groupKept is for groups that do not go: what is the cluster's in them goes one by one.
	groupKept groupDecision = "stays"
	// groupAbsent groups are not there, or may not be read.
	groupAbsent groupDecision = "absent"
	// groupUnreadable groups could not be read now: what is in them waits with them.
	groupUnreadable groupDecision = "unclear"
	// groupUnlisted groups need a look at what is in them.
	groupUnlisted groupDecision = "unlisted"
)

// decideGroup says what becomes of a resource group of the graph.
func decideGroup(s groupSituation) groupDecision {
	doing, _ := observe.ProvisioningState(s.found.Body)
	switch {
	case s.running != "" && s.running != arm.Updating:
		// Only what is ours is made or deleted.
		return groupDeletedWhole
	case s.found.Err != nil && isTransient(s.found.Err):
		return groupUnreadable
	case !s.found.Exists || s.found.Err != nil:
		return groupAbsent
	case s.owned && doing == arm.Deleting:
		return groupDeletedWhole
	case !s.listed:
		return groupUnlisted
	case s.owned && (s.listErr != nil || !s.hasForeign):
		return groupDeletedWhole
	}
	return groupKept
}

// isTransient tells whether an error goes by itself.
func isTransient(err error) bool {
	class := arm.Classify(err)
	return class == arm.ClassWaiting || class == arm.ClassRetry
}
