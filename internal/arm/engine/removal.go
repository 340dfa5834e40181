package engine

import (
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// busyFor is how long a deletion waits for another operation on the resource before it is tried all the same.
const busyFor = time.Minute

// decideRemoval is decide for a resource that is to go.
func decideRemoval(s situation) decision {
	switch {
	case s.carrier != "" && (s.carrierGone || s.found.Seen() && s.found.Err == nil && !s.found.Exists):
		return decision{do: report, state: arm.Gone}
	case s.carrier != "":
		return decision{do: report, state: arm.Blocked, blockedBy: s.carrier}
	case s.unsure != nil:
		return unreadable(s, s.unsure)
	case s.stays && s.found.Exists:
		return decision{do: report, state: arm.Foreign, message: "stays: it is not the cluster's own, or holds resources of another cluster"}
	case s.unknown != nil:
		return failed(s.unknown)
	case s.under.state == arm.Deleting:
		return joined(s)
	case s.under.state != "" && !s.row.DeleteWhileBusy && s.under.age < busyFor:
		return decision{do: join, state: arm.Waiting, message: "waits for an operation on it to end before it is deleted", wait: busyFor - s.under.age}
	case !s.found.Seen() || s.outdated:
		return decision{do: again, state: arm.Waiting, wait: time.Second}
	case s.found.Err != nil:
		return unreadable(s, s.found.Err)
	case !s.found.Exists:
		return decision{do: forget, state: arm.Gone}
	case !s.owned && s.lost && s.rival == "":
		return refused(s, tagLost(s))
	case !s.owned && s.namesake != "":
		return decision{do: report, state: arm.Foreign, message: "stays: it belongs to " + s.namesake}
	case !s.owned:
		return decision{do: report, state: arm.Foreign, untagged: s.unclaimed}
	}
	doing, _ := observe.Provisioning(s.found.Body)
	switch {
	case doing == arm.Deleting:
		return decision{do: follow, state: arm.Deleting, wait: followed}
	case s.blocker != "":
		return decision{do: report, state: arm.Blocked, blockedBy: s.blocker}
	case s.wait > 0:
		return backOff(s)
	}
	return sendOnce(s, decision{write: http.MethodDelete, state: arm.Deleting})
}

// groupSituation is what the fate of a resource group is decided from.
type groupSituation struct {
	// under is what an operation of ours is at there, "" is nothing.
	under arm.State
	found observe.Observation
	owned bool
	// listed means that what is in the group was asked for, unsure why it is not known; others that it has something of another
	// cluster, or carries its tag.
	listed bool
	unsure error
	others bool
}

// fate is what a deletion does to a resource group.
type fate string

const (
	// whole groups go with everything in them.
	whole fate = "whole"
	// stays is for groups that do not go: what is the cluster's in them goes one by one.
	stays fate = "stays"
	// absent groups are not there, or may not be read.
	absent fate = "absent"
	// unclear groups could not be read now: what is in them waits with them.
	unclear fate = "unclear"
	// unlisted groups need a look at what is in them.
	unlisted fate = "unlisted"
)

// decideGroup says what becomes of a resource group of the graph.
func decideGroup(s groupSituation) fate {
	doing, _ := observe.Provisioning(s.found.Body)
	switch {
	case s.under != "" && s.under != arm.Updating:
		// Only what is ours is made or deleted.
		return whole
	case s.found.Err != nil && passes(s.found.Err):
		return unclear
	case !s.found.Exists || s.found.Err != nil:
		return absent
	case s.owned && doing == arm.Deleting:
		return whole
	case !s.listed:
		return unlisted
	case s.owned && (s.unsure != nil || !s.others):
		return whole
	}
	return stays
}

// passes tells whether an error goes by itself.
func passes(err error) bool {
	class := arm.Classify(err)
	return class == arm.ClassWaiting || class == arm.ClassRetry
}
