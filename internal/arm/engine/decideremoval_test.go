package engine

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// TestDecideRemoval lists the decision of the engine about a resource to delete, in the order of the checks.
func TestDecideRemoval(t *testing.T) {
	const repair = arm.Repair
	goes := decision{step: stepSend, method: "DELETE", state: arm.Deleting, retryAfter: 5 * time.Minute}
	carried := func(gone bool) change {
		return func(s *situation) { s.deletedWith, s.deletedWithGone = theVNet, gone }
	}
	stays := func(s *situation) { s.groupKept = true }
	unsure := func(s *situation) { s.groupErr = errBusy }
	checkDecisions(t, map[string]decisionRow{
		// Deleted with another resource.
		"with its parent": {"deleting the network deletes its subnets", of(theSubnet, repair, going, carried(false)),
			blockedBy(theVNet)},
		"with its parent, which is gone": {"it is gone with it", of(theSubnet, repair, going, carried(true)),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, and is gone": {"it was deleted from outside before", of(theSubnet, repair, going, carried(false), notThere),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, not read": {"a resource that was not read may exist", of(theSubnet, repair, going, carried(false), unseen),
			blockedBy(theVNet)},
		"with its parent, unreadable": {"as above", of(theSubnet, repair, going, carried(false), unread(errBusy)), blockedBy(theVNet)},

		// Resource groups.
		"a group of others": {"its resources are not owned", of(theGroup, repair, going, stays),
			decision{step: stepReport, state: arm.Foreign,
				message: "kept: the cluster does not own it, or it has resources of another cluster"}},
		"a group of others, gone": {"it is absent and cannot be kept", of(theGroup, repair, going, stays, notThere),
			decision{step: stepForget, state: arm.Gone}},
		"a group that cannot be listed": {"it may have foreign resources", of(theGroup, repair, going, unsure),
			decision{step: stepCountReadFailure, err: errBusy}},
		"a group that cannot be listed, counted": {"back-off", of(theGroup, repair, going, unsure, counted(time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true,
				retryAfter: time.Second}},
		"an owned group": {"it is deleted with all its resources", of(theGroup, repair, going), goes},

		// Known state of the resource.
		"type is not known": {"its behaviour is unknown", of(theVNet, repair, going, func(s *situation) { s.typeErr = errNoRow }),
			tellsFailure(errNoRow)},
		"being deleted": {"once is enough", of(theVNet, repair, going, under(arm.Deleting, time.Hour)),
			decision{step: stepJoin, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"being deleted again": {"the message has the previous error",
			of(theVNet, repair, going, under(arm.Deleting, time.Hour), func(s *situation) { s.running.lastErr = errPlan }),
			decision{step: stepJoin, state: arm.Deleting, message: "retrying after: not JSON", retryAfter: 5 * time.Minute}},
		"busy": {"most types refuse it until then", of(theVNet, repair, going, under(arm.Creating, 20*time.Second)),
			decision{step: stepJoin, state: arm.Waiting, message: "waits for a running operation before it is deleted",
				retryAfter: 40 * time.Second}},
		"busy for long": {"it may never end", of(theVNet, repair, going, under(arm.Creating, time.Minute)), goes},
		"a busy machine": {"its deletion ends the running operation",
			of(theMachine, repair, going, under(arm.Creating, time.Second)), goes},
		"not read": {"the next round reads it", of(theVNet, repair, going, unseen), lookAgain(time.Second)},
		"outdated": {"a read from before a write is outdated", of(theVNet, repair, going, outdated), lookAgain(time.Second)},
		"unreadable": {"its owner is unknown", of(theVNet, repair, going, unread(errBusy)),
			decision{step: stepCountReadFailure, err: errBusy}},
		"unreadable as another": {"an error of every request is reported once",
			of(theVNet, repair, going, unread(errBusy), func(s *situation) { s.sameErrorAs = theGroup }),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, readFailed: true}},
		"gone": {"the goal is reached", of(theVNet, repair, going, notThere, waiting),
			decision{step: stepForget, state: arm.Gone}},
		"foreign": {"foreign resources are never deleted", of(theVNet, repair, going, foreign, unclaimedByTag),
			decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"foreign, without tags": {"it has no tag as a proof", of(theSubnet, repair, going, foreign),
			decision{step: stepReport, state: arm.Foreign}},
		"another's": {"its tag names the owner", of(theVNet, repair, going, foreign, rival),
			decision{step: stepReport, state: arm.Foreign}},
		"lost its tag": {"the object created it, so its deletion waits",
			of(theVNet, repair, going, foreign, func(s *situation) { s.ownershipTagRemoved = true }),
			needsAction(like(CodeOwnershipTagRemoved), 8*time.Minute)},
		"foreign, being deleted": {"its deletion is not awaited",
			of(theVNet, repair, going, foreign, unclaimedByTag, state("Deleting")),
			decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"being deleted by others": {"as after a restart", of(theVNet, repair, going, state("Deleting"), waiting),
			decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},

		// Reasons to delay a deletion.
		"blocked": {"dependants are deleted first", of(theVNet, repair, going, waiting, failing(errBusy, time.Second)),
			blockedBy(theGroup)},
		"failed a moment ago": {"back-off", of(theVNet, repair, going, failing(errBusy, time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), retryAfter: time.Second}},
		"failed, and due": {"it is retried, with the previous error", of(theVNet, repair, going, failing(errBusy, 0)),
			after(errBusy, goes)},
		"not claimed": {"no other write may start then", of(theVNet, repair, going, unclaimed),
			decision{step: stepClaim, method: "DELETE", state: arm.Deleting}},
		"the document is held": {"writes to a document go one by one", of(theSubnet, repair, going, held(theVNet, arm.Updating)),
			decision{step: stepQueue, state: arm.Waiting,
				message: "waits for virtualNetworks/vnet: writes to virtualNetworks/vnet go one by one", retryAfter: 2 * time.Minute}},
		"another operation was faster": {"that operation is awaited", of(theVNet, repair, going, held(theVNet, arm.Deleting)),
			decision{step: stepQueue, state: arm.Deleting, retryAfter: 2 * time.Minute}},
		"in any state":   {"a failed resource is deleted like any other", of(theVNet, repair, going, state("Failed"), differs("a")), goes},
		"without a plan": {"a pruned resource has no node", of(theVNet, repair, going, func(s *situation) { s.node = nil }), goes},
	})
}

func TestDecideGroup(t *testing.T) {
	there := observe.Observation{Observed: observe.Observed{ID: theGroup, Exists: true,
		Body: []byte(`{"properties":{"provisioningState":"Succeeded"}}`)}}
	deleting := observe.Observation{Observed: observe.Observed{ID: theGroup, Exists: true,
		Body: []byte(`{"properties":{"provisioningState":"Deleting"}}`)}}
	for name, test := range map[string]struct {
		reason string
		s      groupSituation
		want   groupDecision
	}{
		"being made":    {"only owned resources are created", groupSituation{running: arm.Creating}, groupDeletedWhole},
		"being deleted": {"only owned resources are deleted", groupSituation{running: arm.Deleting}, groupDeletedWhole},
		"being changed": {"a foreign group may have tagged resources: list it",
			groupSituation{running: arm.Updating, found: there, owned: true}, groupUnlisted},
		"gone": {"it has no resources", groupSituation{owned: true}, groupAbsent},
		"unreadable now": {"it may be deleted as a whole later",
			groupSituation{found: observe.Observation{Observed: observe.Observed{Err: errBusy}}}, groupUnreadable},
		"not readable": {"the identity may have a role on single resources only",
			groupSituation{found: observe.Observation{Observed: observe.Observed{Err: &arm.Error{Status: 403,
				Code: "AuthorizationFailed"}}}}, groupAbsent},
		"ours, going": {"its resources cannot be listed", groupSituation{found: deleting, owned: true},
			groupDeletedWhole},
		"others', going": {"its resources are listed", groupSituation{found: deleting}, groupUnlisted},
		"not listed":     {"its resources decide", groupSituation{found: there, owned: true}, groupUnlisted},
		"ours alone": {"all its resources are owned", groupSituation{found: there, owned: true, listed: true},
			groupDeletedWhole},
		"owned, with foreign resources": {"resources of another cluster are kept",
			groupSituation{found: there, owned: true, listed: true, hasForeign: true}, groupKept},
		"owned, cannot be listed": {"the error is reported, and nothing is deleted one by one",
			groupSituation{found: there, owned: true, listed: true, hasForeign: true, listErr: errBusy}, groupDeletedWhole},
		"others'":                   {"bring-your-own groups are kept", groupSituation{found: there, listed: true}, groupKept},
		"foreign, cannot be listed": {"as above", groupSituation{found: there, listed: true, listErr: errBusy}, groupKept},
	} {
		if got := decideGroup(test.s); got != test.want {
			t.Errorf("%s: %s, want %s: %s", name, got, test.want, test.reason)
		}
	}
}
