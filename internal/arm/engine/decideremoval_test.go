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
		"with its parent":                {"deleting the network deletes its subnets", of(theSubnet, repair, going, carried(false)), blockedBy(theVNet)},
		"with its parent, which went":    {"it is gone with it", of(theSubnet, repair, going, carried(true)), decision{step: stepReport, state: arm.Gone}},
		"with its parent, and is gone":   {"somebody deleted it before", of(theSubnet, repair, going, carried(false), notThere), decision{step: stepReport, state: arm.Gone}},
		"with its parent, not looked at": {"not to be seen is not to be gone", of(theSubnet, repair, going, carried(false), unseen), blockedBy(theVNet)},
		"with its parent, unreadable":    {"as above", of(theSubnet, repair, going, carried(false), unread(errBusy)), blockedBy(theVNet)},

		// Resource groups.
		"a group of others":             {"what is in it is not ours to take along", of(theGroup, repair, going, stays), decision{step: stepReport, state: arm.Foreign, message: "kept: the cluster does not own it, or it has resources of another cluster"}},
		"a group of others, gone":       {"it is not there to stay", of(theGroup, repair, going, stays, notThere), decision{step: stepForget, state: arm.Gone}},
		"a group that cannot be listed": {"it may hold what is not ours", of(theGroup, repair, going, unsure), decision{step: stepCountReadFailure, err: errBusy}},
		"a group that cannot be listed, counted": {"back-off", of(theGroup, repair, going, unsure, counted(time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true, retryAfter: time.Second}},
		"a group of ours": {"it goes with all that is in it", of(theGroup, repair, going), goes},

		// Known state of the resource.
		"type is not known": {"nothing tells how to delete it", of(theVNet, repair, going, func(s *situation) { s.typeErr = errNoRow }), tellsFailure(errNoRow)},
		"being deleted":     {"once is enough", of(theVNet, repair, going, under(arm.Deleting, time.Hour)), decision{step: stepJoin, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"being deleted again": {"why it is tried again is told", of(theVNet, repair, going, under(arm.Deleting, time.Hour), func(s *situation) { s.running.lastErr = errPlan }),
			decision{step: stepJoin, state: arm.Deleting, message: "retrying after: not JSON", retryAfter: 5 * time.Minute}},
		"busy":           {"most types refuse it until then", of(theVNet, repair, going, under(arm.Creating, 20*time.Second)), decision{step: stepJoin, state: arm.Waiting, message: "waits for a running operation before it is deleted", retryAfter: 40 * time.Second}},
		"busy for long":  {"it may never end", of(theVNet, repair, going, under(arm.Creating, time.Minute)), goes},
		"a busy machine": {"its deletion ends what is under way", of(theMachine, repair, going, under(arm.Creating, time.Second)), goes},
		"not looked at":  {"the next round looks", of(theVNet, repair, going, unseen), lookAgain(time.Second)},
		"outdated":       {"what was seen before a write is not what that left", of(theVNet, repair, going, outdated), lookAgain(time.Second)},
		"unreadable":     {"whose it is cannot be told", of(theVNet, repair, going, unread(errBusy)), decision{step: stepCountReadFailure, err: errBusy}},
		"unreadable as another": {"what every request meets is said once", of(theVNet, repair, going, unread(errBusy), func(s *situation) { s.sameErrorAs = theGroup }),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, readFailed: true}},
		"gone":                    {"that is what was wanted", of(theVNet, repair, going, notThere, waiting), decision{step: stepForget, state: arm.Gone}},
		"foreign":                 {"what is not ours is never deleted", of(theVNet, repair, going, foreign, unclaimedByTag), decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"foreign, without tags":   {"it cannot tell", of(theSubnet, repair, going, foreign), decision{step: stepReport, state: arm.Foreign}},
		"another's":               {"its tag tells whose it is", of(theVNet, repair, going, foreign, rival), decision{step: stepReport, state: arm.Foreign}},
		"lost its tag":            {"the object made it, so it does not go without it", of(theVNet, repair, going, foreign, func(s *situation) { s.ownershipTagRemoved = true }), needsAction(like(CodeOwnershipTagRemoved), 8*time.Minute)},
		"foreign, being deleted":  {"nor waited for", of(theVNet, repair, going, foreign, unclaimedByTag, state("Deleting")), decision{step: stepReport, state: arm.Foreign, possiblyOwned: true}},
		"being deleted by others": {"as after a restart", of(theVNet, repair, going, state("Deleting"), waiting), decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},

		// Reasons to delay a deletion.
		"blocked":             {"what uses it goes first", of(theVNet, repair, going, waiting, failing(errBusy, time.Second)), blockedBy(theGroup)},
		"failed a moment ago": {"back-off", of(theVNet, repair, going, failing(errBusy, time.Second)), decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), retryAfter: time.Second}},
		"failed, and due":     {"it is tried again, and why is told", of(theVNet, repair, going, failing(errBusy, 0)), after(errBusy, goes)},
		"not claimed":         {"nobody else may write it then", of(theVNet, repair, going, unclaimed), decision{step: stepClaim, method: "DELETE", state: arm.Deleting}},
		"the document is taken": {"writes to a document go one by one", of(theSubnet, repair, going, held(theVNet, arm.Updating)),
			decision{step: stepQueue, state: arm.Waiting, message: "waits for virtualNetworks/vnet: writes to virtualNetworks/vnet go one by one", retryAfter: 2 * time.Minute}},
		"somebody was faster": {"what they do is waited for", of(theVNet, repair, going, held(theVNet, arm.Deleting)), decision{step: stepQueue, state: arm.Deleting, retryAfter: 2 * time.Minute}},
		"in any state":        {"a failed resource goes like any other", of(theVNet, repair, going, state("Failed"), differs("a")), goes},
		"without a plan":      {"what is pruned has no node", of(theVNet, repair, going, func(s *situation) { s.node = nil }), goes},
	})
}

func TestDecideGroup(t *testing.T) {
	there := observe.Observation{Observed: observe.Observed{ID: theGroup, Exists: true, Body: []byte(`{"properties":{"provisioningState":"Succeeded"}}`)}}
	deleting := observe.Observation{Observed: observe.Observed{ID: theGroup, Exists: true, Body: []byte(`{"properties":{"provisioningState":"Deleting"}}`)}}
	for name, test := range map[string]struct {
		reason string
		s      groupSituation
		want   groupDecision
	}{
		"being made":                {"only what is ours is made", groupSituation{running: arm.Creating}, groupDeletedWhole},
		"being deleted":             {"only what is ours is deleted", groupSituation{running: arm.Deleting}, groupDeletedWhole},
		"being changed":             {"tags of foreign groups may be ours, too: look", groupSituation{running: arm.Updating, found: there, owned: true}, groupUnlisted},
		"gone":                      {"there is nothing in it", groupSituation{owned: true}, groupAbsent},
		"unreadable now":            {"it may go as a whole a moment later", groupSituation{found: observe.Observation{Observed: observe.Observed{Err: errBusy}}}, groupUnreadable},
		"not to be read":            {"a role at what is in it may be all there is", groupSituation{found: observe.Observation{Observed: observe.Observed{Err: &arm.Error{Status: 403, Code: "AuthorizationFailed"}}}}, groupAbsent},
		"ours, going":               {"what is in it cannot be asked for", groupSituation{found: deleting, owned: true}, groupDeletedWhole},
		"others', going":            {"what of ours is in it is asked for", groupSituation{found: deleting}, groupUnlisted},
		"not listed":                {"what is in it decides", groupSituation{found: there, owned: true}, groupUnlisted},
		"ours alone":                {"all in it is ours", groupSituation{found: there, owned: true, listed: true}, groupDeletedWhole},
		"ours, with others":         {"what is another cluster's stays", groupSituation{found: there, owned: true, listed: true, hasForeign: true}, groupKept},
		"ours, cannot be listed":    {"it is said that it is not known, and not deleted piece by piece", groupSituation{found: there, owned: true, listed: true, hasForeign: true, listErr: errBusy}, groupDeletedWhole},
		"others'":                   {"what users bring stays", groupSituation{found: there, listed: true}, groupKept},
		"others', cannot be listed": {"as above", groupSituation{found: there, listed: true, listErr: errBusy}, groupKept},
	} {
		if got := decideGroup(test.s); got != test.want {
			t.Errorf("%s: %s, want %s: %s", name, got, test.want, test.reason)
		}
	}
}
