package engine

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// situation is the input of the decision about one resource, as plain data. Values that are costly to find out are added when a
// decision asks for them; then the engine decides again.
type situation struct {
	id    arm.ID
	owner Owner
	// row is the row of the resource type, typeErr the error if there is none.
	row     types.Type
	typeErr error
	// node is the planned node; nil for a resource that is only to be deleted.
	node *arm.Node
	// removing is set for a resource to delete.
	removing bool
	// observing is Request.Observing.
	observing bool
	// jitter in [0,1) spreads retries.
	jitter float64

	// running is the operation that this engine follows on the resource.
	running runningOperation
	// blocker is the resource that has to be in place before this one is written, or gone before it is deleted; "" for none.
	blocker arm.ID
	// createdWith is the unfinished resource that Azure creates this one with. makerReadFailed means that it could not be read.
	createdWith     arm.ID
	makerReadFailed bool
	// makerMissing means that createdWith does not exist, so this resource was not read.
	makerMissing bool
	// deletedWith is the resource whose deletion includes this one, "" for none. deletedWithGone means that it is gone.
	deletedWith     arm.ID
	deletedWithGone bool
	// groupKept means that a resource group is not deleted as a whole. groupErr is the error if that could not be decided.
	groupKept bool
	groupErr  error

	// intendsDependency means that a write of a resource that this one depends on is reported in place of sent, except one of the other half.
	intendsDependency bool

	// found is the observation; the zero value means that the resource was not read.
	found observe.Observation
	// hiddenFor is how long an absent resource may still exist, because Azure may not show its creation by this process yet.
	hiddenFor time.Duration
	// outdated means that the resource was written after the observation.
	outdated bool
	// sameErrorAs is an earlier resource that could not be read for the same error, if the error affects every request.
	sameErrorAs arm.ID
	// failureCounted means that the failed read is counted in the back-off. readRetryAfter is the time until the next read.
	failureCounted bool
	readRetryAfter time.Duration

	// owned means that the cluster owns the resource, ownedAbove that an ancestor is owned by tag or inventory, inInventory that the
	// stored inventory has the resource: only stored entries count.
	owned, ownedAbove, inInventory bool
	// ownershipErr is the error of a read that could prove the ownership of a resource that nothing else proves. It is not known then whether the
	// cluster owns the resource.
	ownershipErr error
	// otherOwnerTag is the tag that marks the resource as another cluster's or owner's, "" for none. sameNameOwner is the other owner
	// if its cluster has the same name.
	otherOwnerTag, sameNameOwner string
	// hasRecord means that the object has created something already.
	hasRecord bool
	// unclaimed means that the resource is not owned and no tag names an owner: it has none, or its type has no tags and it is in the
	// record.
	unclaimed bool
	// ownershipTagRemoved means that the resource was seen as the object's own and no proof of ownership is left. tagMissing means that
	// another proof exists and only the ownership tag is missing. inheritsFrom is the ancestor whose tag would be the proof, for a type
	// without tags.
	ownershipTagRemoved, tagMissing bool
	inheritsFrom                    arm.ID

	compared bool // the fields below are set
	// bodyErr is the error if the body of the plan cannot be compared.
	bodyErr error
	// bodyTagged means that the body of the plan has the ownership tag.
	bodyTagged bool
	// denial is the reason why a PUT of the body is not allowed, "" if it is.
	denial string
	// differences are those between the resource and the node.
	differences []compare.Difference
	// normalized means that the differences are Azure's normalisation.
	normalized bool
	// origin classifies differences that are not repaired.
	origin driftOrigin
	// failure is the last error of a write of the desired state, or the reason of the state Failed. retryAfter is the time until the
	// next try.
	failure    error
	retryAfter time.Duration
	// principal is the ID of the principal to which a planned role assignment gives its role, "" in other types.
	principal string
	// failingFor is how long writes of the desired state have failed.
	failingFor time.Duration

	claimed bool // this engine holds the resource, unless holder is set
	// holder is the operation that holds the resource or its document.
	holder runningOperation
	// writtenSince means that the resource was written between the read and the claim, or that the read is outdated otherwise.
	// etagOutdated means that its document was written.
	writtenSince, etagOutdated bool
}

// runningOperation is an operation; the zero value is none.
type runningOperation struct {
	id    arm.ID
	state arm.State
	age   time.Duration
	// lastErr is the error of the previous try, nil for the first. statusErr is the error if the status of the operation cannot be
	// read.
	lastErr, statusErr error
}

// step is the action of the engine for a decision. The steps up to stepClaim only complete the situation; then the engine decides
// again.
type step string

const (
	// stepAdopt adopts a foreign resource: it is owned from now on, and in the inventory.
	stepAdopt step = "adopt"
	// stepCompare compares the resource with the desired state.
	stepCompare step = "compare"
	// stepCountReadFailure counts a failed read and determines the time of the next try.
	stepCountReadFailure step = "count read failure"
	// stepConfirm reads the resource alone, because a list or a digest is no basis for a write or for a removal.
	stepConfirm step = "confirm"
	// stepClaim claims the resource for a write, or finds the operation that holds it.
	stepClaim step = "claim"

	// stepReport only reports: another party has to act, or time has to pass.
	stepReport step = "report"
	// stepClearFailure reports a resource in place and drops earlier failures.
	stepClearFailure step = "clear failure"
	// stepAlign is stepClearFailure for an owned resource in its desired state, and records that state.
	stepAlign step = "align"
	// stepReadAgain has the resource read again.
	stepReadAgain step = "read again"
	// stepJoin waits for the operation that this engine runs on the resource.
	stepJoin step = "join"
	// stepFollow follows an operation that another party began on the resource.
	stepFollow step = "follow"
	// stepQueue waits for the holder.
	stepQueue step = "queue"
	// stepAddToInventory adds the resource to the inventory before it is created.
	stepAddToInventory step = "add to inventory"
	// stepForget drops the state of a resource that is gone.
	stepForget step = "forget"
	// stepSend sends the write.
	stepSend step = "send"
)

// decision is the step for one resource and its report.
type decision struct {
	step step
	// method is PUT, DELETE, or PATCH for tags alone; "" for no write.
	method string
	// intended is the method of a write that is not sent because the object is observed, "" for none.
	intended string
	// etag is sent with a PUT as If-Match; "" sends none.
	etag string
	// confirmAbsence has the resource read once more before its creation: a list that does not show it may be outdated.
	confirmAbsence bool

	state      arm.State
	err        error
	message    string
	blockedBy  arm.ID
	readFailed bool
	// possiblyOwned means that a deletion keeps a resource that may be the object's own, as its tags name no owner.
	possiblyOwned bool
	drift         []string
	// retryAfter is the time until the next try if no event wakes the object; 0 if an event of a dependency will.
	retryAfter time.Duration
}
