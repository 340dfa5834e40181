package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// The resources of the rows: a network has tags and an etag, a subnet has neither and is part of the network's document, a failed
// machine is kept, its disk is created with it, and a bastion's tags are written separately.
var (
	theGroup   = arm.ResourceGroupID("s", "rg")
	theVNet    = arm.NewID("s", "rg", types.VirtualNetwork, "vnet")
	theSubnet  = theVNet.Child("subnets", "nodes")
	thePeering = theVNet.Child("virtualNetworkPeerings", "hub")
	theMachine = arm.NewID("s", "rg", types.VirtualMachine, "vm")
	theDisk    = arm.NewID("s", "rg", types.Disk, "vm_OSDisk")
	theBastion = arm.NewID("s", "rg", types.BastionHost, "bastion")
)

var (
	errBusy  = &arm.Error{Code: "AnotherOperationInProgress", Status: 409, Message: "busy"}
	errQuota = &arm.Error{Code: "QuotaExceeded", Status: 409, Message: "no cores left"}
	errPlan  = errors.New("not JSON")
	// errNoGroup is Azure's answer to a write in a group that is not visible everywhere yet.
	errNoPrincipal = &arm.Error{Method: "PUT", Code: "PrincipalNotFound", Status: 400, Message: "no principal"}
	errNoGroup     = &arm.Error{Method: "PUT", Code: "ResourceGroupNotFound", Status: 404, Message: "no group"}
	errNoRow       = errors.New("unknown type")
	notTagged      = &arm.Error{Code: CodeNotOwned,
		Message: string(theVNet) + " already exists without the ownership tag owner=owned, so the provider does not manage it. To continue, " +
			"delete it, choose another name in the spec, or add the tag to let the provider manage it"}
	notWanted = &arm.Error{Code: CodeNotOwned,
		Message: string(theSubnet) + " already exists, was not created for this cluster and differs from the spec (a). Delete it or choose " +
			"another name in the spec"}
	errNoTag = errors.New(string(theVNet) + ": the body of the plan lacks the ownership tag owner=owned, so its owner would be unknown")
)

// errorWithCode returns an error with a code, for rows that do not compare its text.
func errorWithCode(code string) error { return &arm.Error{Code: code} }

var sameError = cmp.Comparer(func(a, b error) bool {
	var x, y *arm.Error
	if errors.As(a, &x) && errors.As(b, &y) {
		return x.Code == y.Code && (x.Message == y.Message || x.Message == "" || y.Message == "")
	}
	return errors.Is(a, b) || a != nil && b != nil && a.Error() == b.Error()
})

// newSituation returns the complete situation of a node: the resource is owned, exists, matches the plan, and is not held.
func newSituation(id arm.ID, policy arm.Policy, changes ...func(*situation)) situation {
	row, err := types.ForID(id)
	if err != nil {
		panic(err)
	}
	s := situation{id: id, row: row, node: &arm.Node{ID: id, Policy: policy, Body: "a body"},
		owner: Owner{TagKey: "owner", TagValue: "owned"},
		found: observe.Observation{Observed: observe.Observed{ID: id, Exists: true, Body: []byte(`{}`), ETag: "e1"}},
		owned: true, ownedAbove: true, compared: true, bodyTagged: row.Taggable, claimed: true}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// Changes of the situation in rows. Each changes one thing.
type change = func(*situation)

func isRemoving(s *situation)       { s.removing = true }
func notThere(s *situation)         { s.found = observe.Observation{Observed: observe.Observed{ID: s.id}} }
func absentInList(s *situation)     { notThere(s); s.found.FromList = true }
func notObserved(s *situation)      { s.found = observe.Observation{} }
func readIsOutdated(s *situation)   { s.outdated = true }
func hasOtherOwner(s *situation)    { s.otherOwnerTag = ownerPrefix + "other" }
func unclaimedByTag(s *situation)   { s.unclaimed = true }
func isForeign(s *situation)        { s.owned, s.ownedAbove = false, false }
func adoptsForeign(s *situation)    { s.node.Foreign = arm.AdoptForeign }
func plannedWithTag(s *situation)   { s.node.PlannedWithTag = true }
func usesExisting(s *situation)     { s.node.Foreign = arm.UseForeign }
func withoutBody(s *situation)      { s.node.Body = nil }
func noTag(s *situation)            { s.bodyTagged = false }
func waitsForGroup(s *situation)    { s.blocker = theGroup }
func notCompared(s *situation)      { s.compared = false }
func makerIsMissing(s *situation)   { s.makerMissing = true }
func writtenSincePlan(s *situation) { s.writtenSince = true }
func oldETag(s *situation)          { s.etagOutdated = true }
func notInInventory(s *situation)   { s.claimed = false }

func withProvisioningState(provisioning string) change {
	return func(s *situation) {
		s.found.Body = []byte(`{"properties":{"provisioningState":"` + provisioning + `"}}`)
	}
}

func acceptsNoWrite(s *situation) { s.node.WriteBlocked = "waits for the start" }

func differsAt(paths ...string) change {
	return func(s *situation) {
		for _, path := range paths {
			s.differences = append(s.differences, compare.Difference{Path: path, Want: "a", Have: "b"})
		}
	}
}

func inRenewedState(s *situation) {
	s.differences = append(s.differences, compare.Difference{Path: "properties.peeringState", Have: "Disconnected", Renewed: true})
}

func readFailed(err error) change {
	return func(s *situation) { s.found = observe.Observation{Observed: observe.Observed{ID: s.id, Err: err}} }
}

func ownerUnknown(s *situation) { s.ownershipErr = errBusy }

func readFailureCounted(wait time.Duration) change {
	return func(s *situation) { s.failureCounted, s.readRetryAfter = true, wait }
}

func worldWith(maker arm.ID, unseen bool) change {
	return func(s *situation) { s.createdWith, s.makerReadFailed = maker, unseen }
}

func failedWith(err error, wait time.Duration) change {
	return func(s *situation) { s.failure, s.retryAfter = err, wait }
}

func failingFor(since time.Duration) change { return func(s *situation) { s.failingFor = since } }

func underOperation(state arm.State, age time.Duration) change {
	return func(s *situation) { s.running = runningOperation{id: s.id, state: state, age: age} }
}

func heldByOperation(id arm.ID, state arm.State) change {
	return func(s *situation) { s.holder = runningOperation{id: id, state: state} }
}

// checkDecisions compares decide with a table of situations.
func checkDecisions(t *testing.T, rows map[string]decisionRow) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, decide(row.s), cmp.AllowUnexported(decision{}), sameError); diff != "" {
				t.Errorf("%s (-want +got):\n%s", row.reason, diff)
			}
		})
	}
}

type decisionRow struct {
	reason string
	s      situation
	want   decision
}

// Decisions of many rows.
func expectAligned() decision { return decision{step: stepAlign, state: arm.Ready} }

func blockedBy(id arm.ID) decision {
	return decision{step: stepReport, state: arm.Blocked, blockedBy: id}
}

func lookAgain(wait time.Duration) decision {
	return decision{step: stepReadAgain, state: arm.Waiting, retryAfter: wait}
}

func expectWrite(verb string, state arm.State, drift ...string) decision {
	return decision{step: stepSend, method: verb, state: state, drift: drift, retryAfter: 5 * time.Minute}
}

// withETag returns a decision with an etag.
func withETag(d decision) decision {
	d.etag = "e1"
	return d
}

func confirmsAbsence(d decision) decision {
	d.confirmAbsence = true
	return d
}

func withDrift(d decision, paths ...string) decision {
	d.drift = paths
	return d
}

func tellsFailure(err error) decision {
	return decision{step: stepReport, state: arm.Failed, err: err, retryAfter: 10 * time.Minute}
}

// needsAction returns a failure that a change in Azure or of the spec resolves, checked again after some time.
func needsAction(err error, wait time.Duration) decision {
	return decision{step: stepReport, state: arm.Failed, err: err, message: "next try in a few minutes", retryAfter: wait}
}

// withError returns a decision after an earlier failure.
func withError(err error, d decision) decision {
	d.message = "new try after the error: " + err.Error()
	return d
}
