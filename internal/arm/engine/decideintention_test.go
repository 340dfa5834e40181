package engine

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestDecideIntention lists the decisions about resources of an observed object.
func TestDecideIntention(t *testing.T) {
	watched := func(s *situation) { s.observing = true }
	confirmed := func(s *situation) { s.found.ConfirmedByDigest = true }
	intends := func(method string, paths ...string) decision {
		return decision{step: stepReport, state: arm.Ready, intended: method, drift: paths}
	}
	absent := decision{step: stepReport, state: arm.Absent, intended: "PUT", retryAfter: observingRetryAfter,
		message: "does not exist and is not created while the object is observed"}
	checkDecisions(t, map[string]decisionRow{
		"in order":             {"there is nothing to write", newSituation(theVNet, arm.Repair, watched), expectAligned()},
		"differs":              {"it exists, so it is Ready", newSituation(theVNet, arm.Repair, watched, differsAt("a")), intends("PUT", "a")},
		"only tags differ":     {"tags are written separately", newSituation(theMachine, arm.CreateOnly, watched, differsAt("tags.a")), intends("PATCH", "tags.a")},
		"not claimed yet":      {"nothing is sent, so nothing is claimed", newSituation(theVNet, arm.Repair, watched, notInInventory, differsAt("a")), intends("PUT", "a")},
		"differs by a digest":  {"that is no basis for a write", newSituation(theVNet, arm.Repair, watched, confirmed, differsAt("a")), decision{step: stepConfirm}},
		"absent":               {"it is not created", newSituation(theVNet, arm.Repair, watched, notThere), absent},
		"absent by a list":     {"a list may be outdated", newSituation(theVNet, arm.Repair, watched, absentInList), decision{step: stepConfirm}},
		"absent, without tags": {"the inventory is not changed", newSituation(theSubnet, arm.Repair, watched, notThere, isForeign), absent},
		"refused":              {"it would not be written", newSituation(theVNet, arm.Repair, watched, notThere, noTag), decisionUnobserved(theVNet, notThere, noTag)},
		"waits":                {"its dependency has to be corrected first", newSituation(theVNet, arm.Repair, watched, notThere, waitsForGroup), blockedBy(theGroup)},
		"has to go":            {"it is not deleted", newSituation(theVNet, arm.Repair, watched, isRemoving), intends("DELETE")},
	})
}

// decisionUnobserved returns the decision about a resource of an object that is not observed.
func decisionUnobserved(id arm.ID, changes ...func(*situation)) decision {
	return decide(newSituation(id, arm.Repair, changes...))
}
