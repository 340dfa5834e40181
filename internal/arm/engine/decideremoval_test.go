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
	awaitsCreation := decision{step: stepJoin, state: arm.Waiting, message: "waits for the end of its creation before it is deleted",
		retryAfter: 5 * time.Minute}
	hiddenFor := func(d time.Duration) change { return func(s *situation) { s.hiddenFor = d } }
	stays := func(s *situation) { s.groupKept = true }
	unsure := func(s *situation) { s.groupErr = errBusy }
	checkDecisions(t, map[string]decisionRow{
		// Deleted with another resource.
		"with its parent": {"deleting the network deletes its subnets", newSituation(theSubnet, repair, isRemoving, carried(false)),
			blockedBy(theVNet)},
		"with its parent, which is gone": {"it is gone with it", newSituation(theSubnet, repair, isRemoving, carried(true)),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, and is gone": {"it was deleted from outside before",
			newSituation(theSubnet, repair, isRemoving, carried(false), notThere),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, absent while its creation has no answer": {"Azure refuses the PUT if a resource that its body names is deleted",
			newSituation(theSubnet, repair, isRemoving, carried(false), notThere, underOperation(arm.Creating, time.Hour)),
			blockedBy(theVNet)},
		"with its parent, absent while it is deleted": {"its deletion does not create it",
			newSituation(theSubnet, repair, isRemoving, carried(false), notThere, underOperation(arm.Deleting, time.Second)),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, which is gone, while its creation has no answer": {"Azure creates nothing in a resource that is gone",
			newSituation(theSubnet, repair, isRemoving, carried(true), notThere, underOperation(arm.Creating, time.Hour)),
			decision{step: stepReport, state: arm.Gone}},
		"with its parent, not read": {"a resource that was not read may exist",
			newSituation(theSubnet, repair, isRemoving, carried(false), notObserved),
			blockedBy(theVNet)},
		"with its parent, unreadable": {"a resource that cannot be read may exist",
			newSituation(theSubnet, repair, isRemoving, carried(false), readFailed(errBusy)),
			blockedBy(theVNet)},

		// Resource groups.
		"a group of others": {"its resources are not owned", newSituation(theGroup, repair, isRemoving, stays),
			decision{step: stepReport, state: arm.Foreign,
				message: "kept: the cluster does not own it, or it has resources of another cluster"}},
		"a group of others, gone": {"it is absent and cannot be kept", newSituation(theGroup, repair, isRemoving, stays, notThere),
			decision{step: stepForget, state: arm.Gone}},
		"a group that cannot be listed": {"it may have foreign resources", newSituation(theGroup, repair, isRemoving, unsure),
			decision{step: stepCountReadFailure, err: errBusy}},
		"a group that cannot be listed, counted": {"back-off", newSituation(theGroup, repair, isRemoving, unsure,
			readFailureCounted(time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true,
				retryAfter: time.Second}},
		"an owned group": {"it is deleted with all its resources", newSituation(theGroup, repair, isRemoving), goes},

		// Known state of the resource.
		"type is not known": {"its behaviour is unknown", newSituation(theVNet, repair, isRemoving, func(s *situation) { s.typeErr = errNoRow }),
			tellsFailure(errNoRow)},
		"being deleted": {"once is enough", newSituation(theVNet, repair, isRemoving, underOperation(arm.Deleting, time.Hour)),
			decision{step: stepJoin, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"being deleted again": {"the message has the previous error",
			newSituation(theVNet, repair, isRemoving, underOperation(arm.Deleting, time.Hour), func(s *situation) { s.running.lastErr = errPlan }),
			decision{step: stepJoin, state: arm.Deleting, message: "new try after the error: not JSON", retryAfter: 5 * time.Minute}},
		"busy": {"most types refuse it until then", newSituation(theVNet, repair, isRemoving, underOperation(arm.Creating, 20*time.Second)),
			decision{step: stepJoin, state: arm.Waiting, message: "waits for a running operation before it is deleted",
				retryAfter: 40 * time.Second}},
		"busy for long": {"it may never end", newSituation(theVNet, repair, isRemoving, underOperation(arm.Creating, time.Minute)), goes},
		"a busy machine": {"its deletion ends the running operation",
			newSituation(theMachine, repair, isRemoving, underOperation(arm.Creating, time.Second)), goes},
		"absent, while its creation has no answer": {"the resource may exist after the answer",
			newSituation(theVNet, repair, isRemoving, underOperation(arm.Creating, time.Hour), notThere), awaitsCreation},
		"an absent machine, while its creation has no answer": {"as above, and a DELETE of an absent machine does not end the PUT",
			newSituation(theMachine, repair, isRemoving, underOperation(arm.Creating, time.Second), notThere), awaitsCreation},
		"absent, while an update runs": {"a PUT creates an absent resource",
			newSituation(theVNet, repair, isRemoving, underOperation(arm.Updating, time.Second), notThere), awaitsCreation},
		"absent by a list, while its creation has no answer": {"the answer comes before the confirmation",
			newSituation(theVNet, repair, isRemoving, underOperation(arm.Creating, time.Second), absentInList), awaitsCreation},
		"absent, and being deleted": {"its deletion runs", newSituation(theVNet, repair, isRemoving, underOperation(arm.Deleting, time.Second), notThere),
			decision{step: stepJoin, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"absent, and just created": {"Azure may not show it yet", newSituation(theVNet, repair, isRemoving, notThere, hiddenFor(20*time.Second)),
			decision{step: stepReport, state: arm.Waiting, message: "is absent shortly after its creation and is read again before it counts as deleted",
				retryAfter: 20 * time.Second}},
		"absent by a list, and just created": {"the list may lag", newSituation(theVNet, repair, isRemoving, absentInList, hiddenFor(20*time.Second)),
			decision{step: stepConfirm}},
		"not read": {"the next round reads it", newSituation(theVNet, repair, isRemoving, notObserved), lookAgain(time.Second)},
		"outdated": {"a read from before a write is outdated", newSituation(theVNet, repair, isRemoving, readIsOutdated), lookAgain(time.Second)},
		"unreadable": {"its owner is unknown", newSituation(theVNet, repair, isRemoving, readFailed(errBusy)),
			decision{step: stepCountReadFailure, err: errBusy}},
		"unreadable as another": {"an error of every request is reported once",
			newSituation(theVNet, repair, isRemoving, readFailed(errBusy), func(s *situation) { s.sameErrorAs = theGroup }),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, readFailed: true}},
		"its owner is unknown": {"to keep it would leave it behind",
			newSituation(theSubnet, repair, isRemoving, isForeign, ownerUnknown),
			decision{step: stepCountReadFailure, err: errBusy}},
		"its owner is unknown, and it is gone": {"the goal is reached",
			newSituation(theSubnet, repair, isRemoving, isForeign, notThere, ownerUnknown),
			decision{step: stepForget, state: arm.Gone}},
		"gone": {"the goal is reached", newSituation(theVNet, repair, isRemoving, notThere, waitsForGroup),
			decision{step: stepForget, state: arm.Gone}},
		"absent by a list": {"lists may lag, and no object would delete the resource later", newSituation(theVNet, repair, isRemoving, absentInList),
			decision{step: stepConfirm}},
		"absent by a digest": {"the digest shows the parent, which may not change with its children",
			newSituation(theSubnet, repair, isRemoving, notThere, func(s *situation) { s.found.ConfirmedByDigest = true }),
			decision{step: stepConfirm}},
		"foreign": {"foreign resources are never deleted", newSituation(theVNet, repair, isRemoving, isForeign, unclaimedByTag),
			decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"foreign, without tags": {"it has no tag as a proof", newSituation(theSubnet, repair, isRemoving, isForeign),
			decision{step: stepReport, state: arm.Foreign}},
		"another's": {"its tag names the owner", newSituation(theVNet, repair, isRemoving, isForeign, hasOtherOwner),
			decision{step: stepReport, state: arm.Foreign}},
		"lost its tag": {"the object created it, so its deletion waits",
			newSituation(theVNet, repair, isRemoving, isForeign, func(s *situation) { s.ownershipTagRemoved = true }),
			needsAction(errorWithCode(CodeOwnershipTagRemoved), 8*time.Minute)},
		"foreign, being deleted": {"its deletion is not awaited",
			newSituation(theVNet, repair, isRemoving, isForeign, unclaimedByTag, withProvisioningState("Deleting")),
			decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"being deleted by others": {"as after a restart", newSituation(theVNet, repair, isRemoving, withProvisioningState("Deleting"),
			waitsForGroup),
			decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},

		// Reasons to delay a deletion.
		"blocked": {"dependants are deleted first", newSituation(theVNet, repair, isRemoving, waitsForGroup, failedWith(errBusy, time.Second)),
			blockedBy(theGroup)},
		"failed a moment ago": {"back-off", newSituation(theVNet, repair, isRemoving, failedWith(errBusy, time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), retryAfter: time.Second}},
		"failed, and due": {"it is retried, with the previous error", newSituation(theVNet, repair, isRemoving, failedWith(errBusy, 0)),
			withError(errBusy, goes)},
		"not claimed": {"no other write may start then", newSituation(theVNet, repair, isRemoving, notInInventory),
			decision{step: stepClaim, method: "DELETE", state: arm.Deleting}},
		"the document is held": {"writes to a document go one by one",
			newSituation(theSubnet, repair, isRemoving, heldByOperation(theVNet, arm.Updating)),
			decision{step: stepQueue, state: arm.Waiting,
				message: "waits for virtualNetworks/vnet: writes to virtualNetworks/vnet go one by one", retryAfter: 2 * time.Minute}},
		"another operation was faster": {"that operation is awaited",
			newSituation(theVNet, repair, isRemoving, heldByOperation(theVNet, arm.Deleting)),
			decision{step: stepQueue, state: arm.Deleting, retryAfter: 2 * time.Minute}},
		"in any state": {"a failed resource is deleted like any other",
			newSituation(theVNet, repair, isRemoving, withProvisioningState("Failed"), differsAt("a")), goes},
		"without a plan": {"a pruned resource has no node", newSituation(theVNet, repair, isRemoving, func(s *situation) { s.node = nil }), goes},
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
		"others'": {"bring-your-own groups are kept", groupSituation{found: there, listed: true}, groupKept},
		"foreign, cannot be listed": {"bring-your-own groups are kept, also if their resources are unknown",
			groupSituation{found: there, listed: true, listErr: errBusy}, groupKept},
	} {
		if got := decideGroup(test.s); got != test.want {
			t.Errorf("%s: %s, want %s: %s", name, got, test.want, test.reason)
		}
	}
}
