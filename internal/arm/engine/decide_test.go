package engine

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestDecide lists the decision of the engine about a node in each situation, in the order of the checks.
func TestDecide(t *testing.T) {
	const (
		repair = arm.Repair
		once   = arm.CreateOnly
		apart  = arm.TagOnly
		use    = arm.Observe
	)
	checkDecisions(t, map[string]decisionRow{
		// Refused and blocked by the plan.
		"refused": {"no request would help",
			of(theVNet, repair, func(s *situation) { s.node.Refused = "spec.x" }, differs("a"), under(arm.Updating, 0)),
			tellsFailure(arm.Refusal("spec.x"))},
		"cannot be rendered": {"the plan waits for a fact",
			of(theVNet, repair, func(s *situation) { s.node.Blocked = "waits for x" }, differs("a"), under(arm.Updating, 0)),
			decision{step: stepReport, state: arm.Waiting, message: "waits for x", retryAfter: 30 * time.Second}},
		"type is not known": {"its behaviour is unknown", of(theVNet, repair, func(s *situation) { s.typeErr = errNoRow }),
			tellsFailure(errNoRow)},
		"body is broken": {"a body that is not JSON cannot be compared",
			of(theVNet, repair, func(s *situation) { s.bodyErr = errPlan }), tellsFailure(errPlan)},

		// Known state of the resource.
		"under way": {"one operation at a time", of(theVNet, repair, under(arm.Updating, time.Hour), differs("a")),
			decision{step: stepJoin, state: arm.Updating, retryAfter: 5 * time.Minute}},
		"under way after a failure": {"the message has the previous error",
			of(theVNet, repair, under(arm.Creating, 0), func(s *situation) { s.running.lastErr = errPlan }),
			decision{step: stepJoin, state: arm.Creating, message: "retrying after: not JSON", retryAfter: 5 * time.Minute}},
		"running, without a status": {"the message has the error of the status",
			of(theVNet, repair, under(arm.Creating, 0), func(s *situation) { s.running.lastErr, s.running.statusErr = errPlan, errBusy }),
			decision{step: stepJoin, state: arm.Creating,
				message: "Azure did not return the status of the operation: " + errBusy.Error(), retryAfter: 5 * time.Minute}},
		"not read": {"the next round reads it", of(theVNet, repair, unseen), lookAgain(time.Second)},
		"outdated": {"a read from before a write is outdated", of(theVNet, repair, outdated, differs("a")),
			lookAgain(time.Second)},
		"not examined": {"a valid body is compared", of(theVNet, repair, unexamined), decision{step: stepCompare}},
		"unknown and unread": {"a resource of an unknown type was not read, and the type is the better message",
			of(theVNet, repair, unread(errBusy), func(s *situation) { s.typeErr = errNoRow }),
			decision{step: stepCountReadFailure, err: errBusy}},
		"to be adopted": {"ownership is decided first", of(theVNet, repair, foreign, adopts, unexamined), decision{step: stepAdopt}},
		"to be adopted, planned with the tag": {"a write would claim it: at the time of the plan it was absent or owned",
			of(theVNet, repair, foreign, adopts, marked, unexamined),
			decision{step: stepReport, state: arm.Waiting, message: "its ownership changed since it was planned; planning again",
				retryAfter: time.Second}},
		"owned, planned with the tag": {"it has the tag", of(theVNet, repair, adopts, marked), fine()},
		"adoptable, another's": {"it has another owner", of(theVNet, repair, foreign, adopts, rival),
			needsAction(like(CodeNotOwned), 8*time.Minute)},
		"adopted":               {"it is owned like any other", of(theVNet, repair, adopts), fine()},
		"absent, to be adopted": {"there is nothing to adopt", of(theVNet, repair, adopts, notThere, foreign), sends("PUT", arm.Creating)},

		// Failed reads.
		"unreadable": {"failed reads are counted for the back-off", of(theVNet, repair, unread(errBusy)),
			decision{step: stepCountReadFailure, err: errBusy}},
		"unreadable, counted": {"back-off", of(theVNet, repair, unread(errBusy), counted(4*time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true,
				retryAfter: 4 * time.Second}},
		"unreadable, due": {"never without a delay", of(theVNet, repair, unread(errBusy), counted(0)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true,
				retryAfter: 100 * time.Millisecond}},
		"unreadable permanently": {"the user has to act", of(theVNet, repair, unread(errQuota), counted(time.Minute)),
			decision{step: stepReport, state: arm.Failed, err: errQuota, message: arm.DescribeRetry(errQuota), readFailed: true,
				retryAfter: time.Minute}},
		"unreadable as another": {"an error of every request is reported once",
			of(theVNet, repair, unread(errBusy), func(s *situation) { s.sameErrorAs = theGroup }),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, readFailed: true}},

		// Created by Azure with another resource.
		"its machine is not read": {"the machine is absent, so its disk is not read",
			of(theDisk, apart, unseen, waiting, worldWith(theMachine, false), pointless),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm"}},
		"its machine cannot be read": {"the disk is as unknown as the machine",
			of(theDisk, apart, unseen, waiting, worldWith(theMachine, true), pointless),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm",
				readFailed: true}},
		"its machine and the disk were read": {"a read is better than a conclusion", of(theDisk, apart, pointless), fine()},
		"its machine has to be created": {"the disk is created with it",
			of(theDisk, apart, notThere, waiting, worldWith(theMachine, false)),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm"}},
		"its machine exists and the disk does not": {"it was deleted from outside and is not created again",
			of(theDisk, apart, notThere), decision{step: stepClearFailure, state: arm.Ready}},
		"it exists before its machine is done": {"its tags are compared", of(theDisk, apart, waiting), fine()},
		"its tags differ": {"only tags are written", of(theDisk, apart, differs("tags.a", "properties.b")),
			sends("PATCH", arm.Updating, "tags.a", "properties.b")},
		"other properties differ": {"only its tags are ever written", of(theDisk, apart, differs("properties.b")),
			decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.b"}}},
		"it failed": {"a PUT of the disk is not allowed", of(theDisk, apart, state("Failed"), failing(errQuota, 0)),
			needsAction(errQuota, 8*time.Minute)},

		// Absent.
		"absent":       {"it is created", of(theVNet, repair, notThere), sends("PUT", arm.Creating)},
		"absent, once": {"it is created", of(theMachine, once, notThere), sends("PUT", arm.Creating)},
		"absent, from a list": {"a list may lag: one more read before the creation", of(theVNet, repair, listed),
			confirmed(sends("PUT", arm.Creating))},
		"absent, to be used": {"users bring it", of(theVNet, use, notThere), needsAction(like(CodeMissing), 80*time.Second)},
		"absent, created by another node": {"a node without a body is created with another one",
			of(theVNet, repair, bodiless, notThere), decision{step: stepClearFailure, state: arm.Ready}},
		"absent, below an owned resource": {"the parent's tag proves its owner",
			of(theSubnet, repair, notThere, func(s *situation) { s.inInventory = false }), sends("PUT", arm.Creating)},
		"absent, below a foreign resource": {"a crash between the request and the record would leave it without an owner",
			of(theSubnet, repair, notThere, foreign),
			decision{step: stepAddToInventory, state: arm.Waiting, message: "waiting for the inventory to be stored",
				retryAfter: 50 * time.Millisecond}},
		"absent, in the inventory": {"it is recorded",
			of(theSubnet, repair, notThere, foreign, func(s *situation) { s.inInventory = true }), sends("PUT", arm.Creating)},
		"absent, and can be tagged": {"its own tag is the proof", of(theVNet, repair, notThere, foreign), sends("PUT", arm.Creating)},

		// Changing in Azure.
		"being created by another party": {"as after a restart: no write during an operation",
			of(theVNet, repair, state("Creating"), differs("a")),
			decision{step: stepFollow, state: arm.Creating, retryAfter: 5 * time.Minute}},
		"being changed by another party": {"as above", of(theVNet, repair, state("Updating"), differs("a")),
			decision{step: stepFollow, state: arm.Updating, retryAfter: 5 * time.Minute}},
		"being deleted by another party": {"it is created again when it is gone", of(theVNet, repair, state("Deleting")),
			decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"failed": {"another PUT repairs it or returns the error again", of(theVNet, repair, state("Failed")),
			matched(sends("PUT", arm.Updating, failedPath))},
		"failed, once": {"only machines are left for replacement", of(theDisk, once, state("Canceled")),
			sends("PUT", arm.Updating, failedPath)},
		"failed machine": {"it is replaced and not repaired", of(theMachine, once, state("Failed"), failing(errQuota, 0)),
			needsAction(errQuota, 8*time.Minute)},
		"failed machine, maintained": {"a Repair plan may repair it", of(theMachine, repair, state("Failed")),
			sends("PUT", arm.Updating, failedPath)},

		// Owned and existing.
		"in line": {"nothing is sent", of(theVNet, repair), fine()},
		"in line after a failure": {"a resource in place has no back-off",
			of(theVNet, repair, failing(errBusy, time.Hour), waiting), fine()},
		"differs": {"it is repaired, if it has not changed since the read",
			of(theVNet, repair, differs("properties.a", "tags.b")), matched(sends("PUT", arm.Updating, "properties.a", "tags.b"))},
		"differs, without an etag": {"the type has no other writers", of(theBastion, repair, differs("properties.a", "tags.b")),
			sends("PUT", arm.Updating, "properties.a", "tags.b")},
		"tags differ": {"a PUT includes them", of(theVNet, repair, differs("tags.b")),
			matched(sends("PUT", arm.Updating, "tags.b"))},
		"tags differ where PUT is slow": {"tags are written separately", of(theBastion, repair, differs("tags.b")),
			sends("PATCH", arm.Updating, "tags.b")},
		"Azure's normalisation": {"another PUT would not change it",
			of(theVNet, repair, differs("properties.a"), func(s *situation) { s.normalized = true }), fine()},
		"differs, once": {"CreateOnly drift is reported", of(theMachine, once, differs("properties.a")),
			decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.a"}}},
		"differs, once, normalised": {"a normalisation is not reported",
			of(theMachine, once, differs("properties.a", "properties.b"),
				func(s *situation) { s.origin.normalized = []string{"properties.a"} }),
			decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.b"}}},
		"tags differ, once": {"tags are repaired, other drift is reported",
			of(theMachine, once, differs("properties.a", "tags.b"), func(s *situation) { s.origin.normalized = []string{"properties.a"} }),
			sends("PATCH", arm.Updating, "tags.b")},
		"tags differ, once, with an etag": {"tags need none", of(theVNet, once, differs("tags.b")), sends("PATCH", arm.Updating, "tags.b")},

		// Foreign.
		"to be used": {"it is there", of(theVNet, use, foreign, differs("a")),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, owned": {"plans of machines use resources of the cluster's plan",
			of(theVNet, use, differs("a")), fine()},
		"may be brought, of another cluster": {"it is used like any other", of(theGroup, repair, uses, foreign, rival),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought, of another cluster, refused": {"the other cluster may delete it",
			of(theGroup, repair, uses, foreign, rival, func(s *situation) { s.node.OtherCluster = arm.RefuseOtherCluster }),
			needsAction(like(CodeNotOwned), 8*time.Minute)},
		"may be brought, of another cluster, reported": {"existing resources stay",
			of(theGroup, repair, uses, foreign, rival, func(s *situation) { s.node.OtherCluster = arm.ReportOtherCluster }),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought, refused to others": {"no other cluster has it",
			of(theGroup, repair, uses, foreign, func(s *situation) { s.node.OtherCluster = arm.RefuseOtherCluster }),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought": {"it is used as it is", of(theVNet, repair, uses, foreign, differs("a")),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"created by others": {"a node without a body is used", of(theVNet, repair, bodiless), fine()},
		"created by others, and foreign": {"as above", of(theVNet, repair, bodiless, foreign),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, being created": {"it can be used when it exists", of(theVNet, use, state("Creating")),
			decision{step: stepFollow, state: arm.Creating, retryAfter: 5 * time.Minute}},
		"to be used, being deleted": {"it will be absent", of(theVNet, use, foreign, state("Deleting")),
			decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"to be used, being changed": {"it exists nevertheless", of(theVNet, use, foreign, state("Updating")),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, and failed": {"its owner repairs it", of(theVNet, use, foreign, state("Failed")),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"foreign": {"it is not managed, even if it matches the plan", of(theVNet, repair, foreign),
			needsAction(notTagged, 8*time.Minute)},
		"foreign, being created": {"it is foreign in any state", of(theVNet, repair, foreign, state("Creating")),
			needsAction(like(CodeNotOwned), 8*time.Minute)},
		"foreign without tags, as wanted": {"it has no tags and matches the plan, so it is used", of(theSubnet, repair, foreign),
			decision{step: stepClearFailure, state: arm.Foreign}},
		"foreign without tags, and differs": {"it is not managed", of(theSubnet, repair, foreign, differs("a")),
			needsAction(notWanted, 8*time.Minute)},

		// Reasons to delay a write.
		"blocked, and not made with it": {"only resources that Azure creates itself name their machine",
			of(theVNet, repair, notThere, waiting, worldWith(theMachine, true)), blockedBy(theGroup)},
		"adopted just now": {"the inventory is for created resources",
			of(theSubnet, repair, differs("a"), func(s *situation) { s.ownedAbove = false }), sends("PUT", arm.Updating, "a")},
		"blocked": {"its dependencies come first", of(theVNet, repair, notThere, waiting), blockedBy(theGroup)},
		"blocked, and differs": {"its dependencies come first, and no repair is reported",
			of(theVNet, repair, differs("a"), waiting, failing(errBusy, time.Second)), blockedBy(theGroup)},
		"failed a moment ago": {"back-off", of(theVNet, repair, differs("a"), failing(errBusy, time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), retryAfter: time.Second}},
		"failed for good": {"back-off of an error that the user has to resolve",
			of(theVNet, repair, notThere, failing(errQuota, time.Minute)),
			decision{step: stepReport, state: arm.Failed, err: errQuota, message: arm.DescribeRetry(errQuota), retryAfter: time.Minute}},
		"failed, and due": {"it is retried, with the previous error", of(theVNet, repair, differs("a"), failing(errBusy, 0)),
			after(errBusy, matched(sends("PUT", arm.Updating, "a")))},
		"without the tag": {"its owner would be unknown", of(theVNet, repair, notThere, noTag), tellsFailure(errNoTag)},
		"loses the tag":   {"nor after an update", of(theVNet, repair, differs("a"), noTag), drifts(tellsFailure(errNoTag), "a")},
		"adopted without a tag": {"it is in the inventory", of(theVNet, repair, differs("a"), noTag, adopts),
			matched(sends("PUT", arm.Updating, "a"))},
		"adopted, gone, no tag": {"a created resource needs the tag", of(theVNet, repair, notThere, noTag, adopts), tellsFailure(errNoTag)},

		// One write of a document at a time.
		"not claimed": {"the resource is claimed before it is written", of(theVNet, repair, differs("a"), unclaimed),
			decision{step: stepClaim, method: "PUT", etag: "e1", state: arm.Updating, drift: []string{"a"}}},
		"absent, not claimed": {"as above", of(theVNet, repair, listed, unclaimed),
			decision{step: stepClaim, method: "PUT", state: arm.Creating, confirmAbsence: true}},
		"another operation was faster": {"that operation is awaited", of(theVNet, repair, differs("a"), held(theVNet, arm.Deleting)),
			decision{step: stepQueue, state: arm.Deleting, drift: []string{"a"}, retryAfter: 2 * time.Minute}},
		"the document is held": {"writes to a document go one by one", of(theSubnet, repair, differs("a"), held(theVNet, arm.Updating)),
			decision{step: stepQueue, state: arm.Waiting,
				message: "waits for virtualNetworks/vnet: writes to virtualNetworks/vnet go one by one", drift: []string{"a"},
				retryAfter: 2 * time.Minute}},
		"overtaken": {"it was written between the read and the claim",
			of(theVNet, repair, differs("a"), overtaken), lookAgain(100 * time.Millisecond)},
		"etag is old": {"the PUT would be refused", of(theVNet, repair, differs("a"), oldETag),
			lookAgain(100 * time.Millisecond)},
		"etag is old and not sent": {"the type has no other writers", of(theBastion, repair, differs("a"), oldETag),
			sends("PUT", arm.Updating, "a")},
		"outdated etag of an absent resource": {"a creation sends no etag", of(theVNet, repair, notThere, oldETag),
			sends("PUT", arm.Creating)},
	})
}

// TestHasDrifted: changes from outside, and failures of Azure, of a resource that matched the plan.
func TestHasDrifted(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		s      situation
		want   bool
	}{
		"in line": {"", of(theVNet, arm.Repair), false},
		"differs": {"", of(theVNet, arm.Repair, differs("a")), true},
		"normalised": {"Azure normalised the value",
			of(theVNet, arm.Repair, differs("a"), func(s *situation) { s.normalized = true }), false},
		"gone":              {"", of(theVNet, arm.Repair, notThere), true},
		"failed":            {"", of(theVNet, arm.Repair, state("Failed")), true},
		"being changed":     {"it is compared after the operation", of(theVNet, arm.Repair, state("Updating"), differs("a")), false},
		"its tag is gone":   {"it is no longer owned", of(theVNet, arm.Repair, foreign, differs("tags.owner")), false},
		"once, by the plan": {"Azure has not changed", of(theMachine, arm.CreateOnly, differs("properties.a")), false},
		"once, from outside": {"", of(theMachine, arm.CreateOnly, differs("properties.a"),
			func(s *situation) { s.origin.outside = []string{"properties.a"} }), true},
		"once, in its tags":   {"tags are repaired", of(theMachine, arm.CreateOnly, differs("tags.a")), true},
		"once, and it failed": {"", of(theMachine, arm.CreateOnly, state("Failed")), true},
	} {
		if got := hasDrifted(test.s); got != test.want {
			t.Errorf("%s: %t, want %t: %s", name, got, test.want, test.reason)
		}
	}
}
