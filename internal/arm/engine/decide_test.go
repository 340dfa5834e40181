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
		"refused": {"no request would make a difference", of(theVNet, repair, func(s *situation) { s.node.Refused = "spec.x" }, differs("a"), under(arm.Updating, 0)),
			tellsFailure(arm.Refusal("spec.x"))},
		"cannot be rendered": {"the plan waits for a fact", of(theVNet, repair, func(s *situation) { s.node.Blocked = "waits for x" }, differs("a"), under(arm.Updating, 0)),
			decision{step: stepReport, state: arm.Waiting, message: "waits for x", retryAfter: 30 * time.Second}},
		"type is not known": {"nothing tells how to write it", of(theVNet, repair, func(s *situation) { s.typeErr = errNoRow }), tellsFailure(errNoRow)},
		"body is broken":    {"what is not JSON cannot be compared", of(theVNet, repair, func(s *situation) { s.bodyErr = errPlan }), tellsFailure(errPlan)},

		// Known state of the resource.
		"under way": {"one operation at a time", of(theVNet, repair, under(arm.Updating, time.Hour), differs("a")), decision{step: stepJoin, state: arm.Updating, retryAfter: 5 * time.Minute}},
		"under way after a failure": {"why it is tried again is told", of(theVNet, repair, under(arm.Creating, 0), func(s *situation) { s.running.lastErr = errPlan }),
			decision{step: stepJoin, state: arm.Creating, message: "retrying after: not JSON", retryAfter: 5 * time.Minute}},
		"under way, untold": {"how it is going is not known", of(theVNet, repair, under(arm.Creating, 0), func(s *situation) { s.running.lastErr, s.running.statusErr = errPlan, errBusy }),
			decision{step: stepJoin, state: arm.Creating, message: "Azure did not return the status of the operation: " + errBusy.Error(), retryAfter: 5 * time.Minute}},
		"not looked at":      {"the next round looks", of(theVNet, repair, unseen), lookAgain(time.Second)},
		"outdated":           {"what was seen before a write is not what that left", of(theVNet, repair, outdated, differs("a")), lookAgain(time.Second)},
		"not examined":       {"comparing is done for what can be compared", of(theVNet, repair, unexamined), decision{step: stepCompare}},
		"unknown and unread": {"a type that is not known was not read either, which says more", of(theVNet, repair, unread(errBusy), func(s *situation) { s.typeErr = errNoRow }), decision{step: stepCountReadFailure, err: errBusy}},
		"to be adopted":      {"whose it is is settled first", of(theVNet, repair, foreign, adopts, unexamined), decision{step: stepAdopt}},
		"to be adopted, marked in the plan": {"writing that would claim it: it was planned when it was not there, or was ours", of(theVNet, repair, foreign, adopts, marked, unexamined),
			decision{step: stepReport, state: arm.Waiting, message: "its ownership changed since it was planned; planning again", retryAfter: time.Second}},
		"ours, marked in the plan": {"it has the tag", of(theVNet, repair, adopts, marked), fine()},
		"adoptable, another's":     {"it has an owner, who would lose it", of(theVNet, repair, foreign, adopts, rival), needsAction(like(CodeNotOwned), 8*time.Minute)},
		"adopted":                  {"it is ours like any other", of(theVNet, repair, adopts), fine()},
		"absent, to be adopted":    {"there is nothing to adopt", of(theVNet, repair, adopts, notThere, foreign), sends("PUT", arm.Creating)},

		// Failed reads.
		"unreadable": {"a failed read is counted, so that it is tried ever more seldom", of(theVNet, repair, unread(errBusy)), decision{step: stepCountReadFailure, err: errBusy}},
		"unreadable, counted": {"back-off", of(theVNet, repair, unread(errBusy), counted(4*time.Second)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true, retryAfter: 4 * time.Second}},
		"unreadable, due": {"never at once", of(theVNet, repair, unread(errBusy), counted(0)),
			decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), readFailed: true, retryAfter: 100 * time.Millisecond}},
		"unreadable, and stays so": {"somebody has to do something", of(theVNet, repair, unread(errQuota), counted(time.Minute)),
			decision{step: stepReport, state: arm.Failed, err: errQuota, message: arm.DescribeRetry(errQuota), readFailed: true, retryAfter: time.Minute}},
		"unreadable as another": {"what every request meets is said once", of(theVNet, repair, unread(errBusy), func(s *situation) { s.sameErrorAs = theGroup }),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, readFailed: true}},

		// Created by Azure with another resource.
		"its maker is not asked for": {"the machine is not there, so its disk is not asked for", of(theDisk, apart, unseen, waiting, worldWith(theMachine, false), pointless),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm"}},
		"its maker cannot be read": {"what is known of the one is known of the other", of(theDisk, apart, unseen, waiting, worldWith(theMachine, true), pointless),
			decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm", readFailed: true}},
		"its maker was asked for, and it too": {"a look tells more than the maker", of(theDisk, apart, pointless), fine()},
		"its maker is to be made":             {"it comes with it", of(theDisk, apart, notThere, waiting, worldWith(theMachine, false)), decision{step: stepReport, state: arm.Blocked, blockedBy: theGroup, message: "is created with virtualMachines/vm"}},
		"its maker is there and it is not":    {"nobody makes it: deleting it was somebody's right", of(theDisk, apart, notThere), decision{step: stepClearFailure, state: arm.Ready}},
		"it is there before its maker is":     {"its tags are kept in line", of(theDisk, apart, waiting), fine()},
		"its tags differ":                     {"tags alone are written", of(theDisk, apart, differs("tags.a", "properties.b")), sends("PATCH", arm.Updating, "tags.a", "properties.b")},
		"it is otherwise":                     {"it is never written but for tags", of(theDisk, apart, differs("properties.b")), decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.b"}}},
		"it failed":                           {"only its maker could mend it", of(theDisk, apart, state("Failed"), failing(errQuota, 0)), needsAction(errQuota, 8*time.Minute)},

		// Absent.
		"absent":                    {"it is made", of(theVNet, repair, notThere), sends("PUT", arm.Creating)},
		"absent, once":              {"it is made", of(theMachine, once, notThere), sends("PUT", arm.Creating)},
		"absent, from a list":       {"a list may lag behind: one more look before it is made", of(theVNet, repair, listed), confirmed(sends("PUT", arm.Creating))},
		"absent, to be used":        {"users bring it", of(theVNet, use, notThere), needsAction(like(CodeMissing), 80*time.Second)},
		"absent, made by another":   {"a node without a body is made by another one", of(theVNet, repair, bodiless, notThere), decision{step: stepClearFailure, state: arm.Ready}},
		"absent, below ours":        {"the tag above tells whose it is", of(theSubnet, repair, notThere, func(s *situation) { s.inInventory = false }), sends("PUT", arm.Creating)},
		"absent, below others'":     {"a crash between the request and the record would leave it nobody's", of(theSubnet, repair, notThere, foreign), decision{step: stepAddToInventory, state: arm.Waiting, message: "waiting for the inventory annotation to be stored", retryAfter: 50 * time.Millisecond}},
		"absent, in the inventory":  {"it is recorded", of(theSubnet, repair, notThere, foreign, func(s *situation) { s.inInventory = true }), sends("PUT", arm.Creating)},
		"absent, and can be tagged": {"its own tag tells", of(theVNet, repair, notThere, foreign), sends("PUT", arm.Creating)},

		// Changing in Azure.
		"being made by somebody":     {"as after a restart: nothing is sent into it", of(theVNet, repair, state("Creating"), differs("a")), decision{step: stepFollow, state: arm.Creating, retryAfter: 5 * time.Minute}},
		"being changed by somebody":  {"as above", of(theVNet, repair, state("Updating"), differs("a")), decision{step: stepFollow, state: arm.Updating, retryAfter: 5 * time.Minute}},
		"being deleted by somebody":  {"it is made again when it is gone", of(theVNet, repair, state("Deleting")), decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"failed":                     {"another PUT mends it or tells the error again", of(theVNet, repair, state("Failed")), matched(sends("PUT", arm.Updating, failedPath))},
		"failed, once":               {"only machines are left for replacement", of(theDisk, once, state("Canceled")), sends("PUT", arm.Updating, failedPath)},
		"failed machine":             {"it is replaced and not mended", of(theMachine, once, state("Failed"), failing(errQuota, 0)), needsAction(errQuota, 8*time.Minute)},
		"failed machine, maintained": {"a plan that keeps it in line may mend it", of(theMachine, repair, state("Failed")), sends("PUT", arm.Updating, failedPath)},

		// Owned and existing.
		"in line":                       {"nothing is sent", of(theVNet, repair), fine()},
		"in line after a failure":       {"what is in place does not wait", of(theVNet, repair, failing(errBusy, time.Hour), waiting), fine()},
		"differs":                       {"it is repaired, if it is still what was seen", of(theVNet, repair, differs("properties.a", "tags.b")), matched(sends("PUT", arm.Updating, "properties.a", "tags.b"))},
		"differs, without an etag":      {"types that nobody else writes", of(theBastion, repair, differs("properties.a", "tags.b")), sends("PUT", arm.Updating, "properties.a", "tags.b")},
		"tags differ":                   {"a PUT has them along", of(theVNet, repair, differs("tags.b")), matched(sends("PUT", arm.Updating, "tags.b"))},
		"tags differ where PUT is slow": {"tags are written apart", of(theBastion, repair, differs("tags.b")), sends("PATCH", arm.Updating, "tags.b")},
		"Azure's normalisation":         {"another PUT would not change it", of(theVNet, repair, differs("properties.a"), func(s *situation) { s.normalized = true }), fine()},
		"differs, once":                 {"what is made once is reported", of(theMachine, once, differs("properties.a")), decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.a"}}},
		"differs, once, normalised": {"what Azure made of it is not reported", of(theMachine, once, differs("properties.a", "properties.b"), func(s *situation) { s.origin.normalized = []string{"properties.a"} }),
			decision{step: stepAlign, state: arm.Ready, drift: []string{"properties.b"}}},
		"tags differ, once": {"tags are kept in line, and the rest is told", of(theMachine, once, differs("properties.a", "tags.b"), func(s *situation) { s.origin.normalized = []string{"properties.a"} }),
			sends("PATCH", arm.Updating, "tags.b")},
		"tags differ, once, with an etag": {"tags need none", of(theVNet, once, differs("tags.b")), sends("PATCH", arm.Updating, "tags.b")},

		// Foreign.
		"to be used":                                  {"it is there", of(theVNet, use, foreign, differs("a")), decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, of ours":                         {"a plan of machines uses what that of the cluster made", of(theVNet, use, differs("a")), fine()},
		"may be brought, of another cluster":          {"it is used as any other", of(theGroup, repair, uses, foreign, rival), decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought, of another cluster, refused": {"nothing is begun in what another cluster deletes", of(theGroup, repair, uses, foreign, rival, func(s *situation) { s.node.OtherCluster = arm.RefuseOtherCluster }), needsAction(like(CodeNotOwned), 8*time.Minute)},
		"may be brought, of another cluster, told":    {"what is there stays", of(theGroup, repair, uses, foreign, rival, func(s *situation) { s.node.OtherCluster = arm.ReportOtherCluster }), decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought, refused to others":           {"no other cluster has it", of(theGroup, repair, uses, foreign, func(s *situation) { s.node.OtherCluster = arm.RefuseOtherCluster }), decision{step: stepClearFailure, state: arm.Foreign}},
		"may be brought":                              {"it is used as it is", of(theVNet, repair, uses, foreign, differs("a")), decision{step: stepClearFailure, state: arm.Foreign}},
		"made by another":                             {"a node without a body is used", of(theVNet, repair, bodiless), fine()},
		"made by another, and foreign":                {"as above", of(theVNet, repair, bodiless, foreign), decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, being made":                      {"it can be used when it is there", of(theVNet, use, state("Creating")), decision{step: stepFollow, state: arm.Creating, retryAfter: 5 * time.Minute}},
		"to be used, being deleted":                   {"it is about to be missing", of(theVNet, use, foreign, state("Deleting")), decision{step: stepFollow, state: arm.Deleting, retryAfter: 5 * time.Minute}},
		"to be used, being changed":                   {"it is there all the same", of(theVNet, use, foreign, state("Updating")), decision{step: stepClearFailure, state: arm.Foreign}},
		"to be used, and failed":                      {"whoever has it mends it", of(theVNet, use, foreign, state("Failed")), decision{step: stepClearFailure, state: arm.Foreign}},
		"foreign":                                     {"it is left alone, even if it is what the plan wants", of(theVNet, repair, foreign), needsAction(notTagged, 8*time.Minute)},
		"foreign, being made":                         {"it is somebody else's in any state", of(theVNet, repair, foreign, state("Creating")), needsAction(like(CodeNotOwned), 8*time.Minute)},
		"foreign without tags, as wanted":             {"it cannot tell whose it is, and serves", of(theSubnet, repair, foreign), decision{step: stepClearFailure, state: arm.Foreign}},
		"foreign without tags, and differs":           {"it is left alone", of(theSubnet, repair, foreign, differs("a")), needsAction(notWanted, 8*time.Minute)},

		// Reasons to delay a write.
		"blocked, and not made with it": {"only what Azure makes itself is said to come with something", of(theVNet, repair, notThere, waiting, worldWith(theMachine, true)), blockedBy(theGroup)},
		"adopted just now":              {"the record is for what is made", of(theSubnet, repair, differs("a"), func(s *situation) { s.ownedAbove = false }), sends("PUT", arm.Updating, "a")},
		"blocked":                       {"what it depends on comes first", of(theVNet, repair, notThere, waiting), blockedBy(theGroup)},
		"blocked, and differs":          {"as above, and is not told as repaired", of(theVNet, repair, differs("a"), waiting, failing(errBusy, time.Second)), blockedBy(theGroup)},
		"failed a moment ago":           {"back-off", of(theVNet, repair, differs("a"), failing(errBusy, time.Second)), decision{step: stepReport, state: arm.Waiting, err: errBusy, message: arm.DescribeRetry(errBusy), retryAfter: time.Second}},
		"failed for good":               {"back-off of what a person has to change", of(theVNet, repair, notThere, failing(errQuota, time.Minute)), decision{step: stepReport, state: arm.Failed, err: errQuota, message: arm.DescribeRetry(errQuota), retryAfter: time.Minute}},
		"failed, and due":               {"it is tried again, and why is told", of(theVNet, repair, differs("a"), failing(errBusy, 0)), after(errBusy, matched(sends("PUT", arm.Updating, "a")))},
		"without the tag":               {"it could not be told whose it is", of(theVNet, repair, notThere, noTag), tellsFailure(errNoTag)},
		"loses the tag":                 {"nor after a change", of(theVNet, repair, differs("a"), noTag), drifts(tellsFailure(errNoTag), "a")},
		"adopted without a tag":         {"it is in the inventory", of(theVNet, repair, differs("a"), noTag, adopts), matched(sends("PUT", arm.Updating, "a"))},
		"adopted, gone, no tag":         {"what is made has to be told", of(theVNet, repair, notThere, noTag, adopts), tellsFailure(errNoTag)},

		// One write of a document at a time.
		"not claimed":         {"the resource is claimed before it is written", of(theVNet, repair, differs("a"), unclaimed), decision{step: stepClaim, method: "PUT", etag: "e1", state: arm.Updating, drift: []string{"a"}}},
		"absent, not claimed": {"as above", of(theVNet, repair, listed, unclaimed), decision{step: stepClaim, method: "PUT", state: arm.Creating, confirmAbsence: true}},
		"somebody was faster": {"what they do is waited for", of(theVNet, repair, differs("a"), held(theVNet, arm.Deleting)), decision{step: stepQueue, state: arm.Deleting, drift: []string{"a"}, retryAfter: 2 * time.Minute}},
		"the document is taken": {"writes to a document go one by one", of(theSubnet, repair, differs("a"), held(theVNet, arm.Updating)),
			decision{step: stepQueue, state: arm.Waiting, message: "waits for virtualNetworks/vnet: writes to virtualNetworks/vnet go one by one", drift: []string{"a"}, retryAfter: 2 * time.Minute}},
		"overtaken":                   {"it was written between the look and the claim", of(theVNet, repair, differs("a"), overtaken), lookAgain(100 * time.Millisecond)},
		"etag is old":                 {"the PUT would be refused", of(theVNet, repair, differs("a"), oldETag), lookAgain(100 * time.Millisecond)},
		"etag is old and not sent":    {"nobody else writes it", of(theBastion, repair, differs("a"), oldETag), sends("PUT", arm.Updating, "a")},
		"etag is old of what is gone": {"what is made has none", of(theVNet, repair, notThere, oldETag), sends("PUT", arm.Creating)},
	})
}

// TestHasDrifted: changes from outside, and failures of Azure, of a resource that matched the plan.
func TestHasDrifted(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		s      situation
		want   bool
	}{
		"in line":             {"", of(theVNet, arm.Repair), false},
		"differs":             {"", of(theVNet, arm.Repair, differs("a")), true},
		"normalised":          {"Azure made that of what was sent", of(theVNet, arm.Repair, differs("a"), func(s *situation) { s.normalized = true }), false},
		"gone":                {"", of(theVNet, arm.Repair, notThere), true},
		"failed":              {"", of(theVNet, arm.Repair, state("Failed")), true},
		"being changed":       {"it is judged when that is over", of(theVNet, arm.Repair, state("Updating"), differs("a")), false},
		"its tag is gone":     {"it is not ours any more", of(theVNet, arm.Repair, foreign, differs("tags.owner")), false},
		"once, by the plan":   {"nobody changed it in Azure", of(theMachine, arm.CreateOnly, differs("properties.a")), false},
		"once, by somebody":   {"", of(theMachine, arm.CreateOnly, differs("properties.a"), func(s *situation) { s.origin.outside = []string{"properties.a"} }), true},
		"once, in its tags":   {"tags are kept in line", of(theMachine, arm.CreateOnly, differs("tags.a")), true},
		"once, and it failed": {"", of(theMachine, arm.CreateOnly, state("Failed")), true},
	} {
		if got := hasDrifted(test.s); got != test.want {
			t.Errorf("%s: %t, want %t: %s", name, got, test.want, test.reason)
		}
	}
}
