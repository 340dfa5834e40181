package engine

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// situation is all that a decision about one resource is made from. It is plain data. What costs something to find out is
// found out when a decision asks for it, and the decision is made again then.
type situation struct {
	id    arm.ID
	owner Owner
	// row is the type's; unknown is why there is none.
	row     types.Type
	typeErr error
	// node is what is wanted; nil for a resource that is only to be removed.
	node *arm.Node
	// removing is set when the resource is to go.
	removing bool
	// jitter in [0,1) spreads the next looks.
	jitter float64

	// running is the operation that is under way on the resource, as far as is known here.
	running runningOperation
	// blocker is what has to be in place before the resource can be written, or gone before it can be removed; "" is nothing.
	blocker arm.ID
	// createdWith is what Azure makes the resource together with while that is not in place, makerReadFailed that it could not be read.
	createdWith     arm.ID
	makerReadFailed bool
	// makerMissing means that the resource is not asked for, because its maker has not been made.
	makerMissing bool
	// deletedWith is what takes the resource with it when it goes, "" is nothing; deletedWithGone that it has gone.
	deletedWith     arm.ID
	deletedWithGone bool
	// groupKept means that a resource group may not go as a whole, and unsure why that could not be found out.
	groupKept bool
	groupErr  error

	// found is what was observed; the zero value is that nobody looked.
	found observe.Observation
	// outdated means that the resource was written after that.
	outdated bool
	// sameErrorAs is an earlier resource of the pass that could not be read for the same error, which is one of every request.
	sameErrorAs arm.ID
	// failureCounted means that the failed read has been counted, and readRetryAfter is when it is tried again.
	failureCounted bool
	readRetryAfter time.Duration

	// owned tells whether the resource is the cluster's, isAncestorOwned whether something above it is, by tag or inventory, and
	// recorded whether it was in the inventory when the pass began: only what is stored counts.
	owned, ownedAbove, inInventory bool
	// otherOwnerTag is the tag by which the resource is another cluster's or owner's, "" for none. namesake is the owner it says where
	// that is one with a cluster of the same name.
	otherOwnerTag, sameNameOwner string
	// hasRecord means that something was made for the object already.
	hasRecord bool
	// unclaimed means that a resource which is not the object's is nobody's by any tag: it carries none, or cannot and is in the record.
	unclaimed bool
	// ownershipTagRemoved means that the resource was seen as the object's own, and nothing in Azure proves that it still is. untagged means that it is
	// the object's by other proof than the ownership tag, which is missing. inherits is the resource above whose tag would prove it, for
	// one that cannot carry tags.
	ownershipTagRemoved, tagMissing bool
	inheritsFrom                    arm.ID

	compared bool // what follows is known
	// bodyErr is why the plan's body cannot be compared.
	bodyErr error
	// bodyTagged tells whether the plan's body has the ownership tag.
	bodyTagged bool
	// denial says why a PUT of the plan's body may not be sent, "" if it may.
	denial string
	// differences are how the resource differs from what the node wants.
	differences []compare.Difference
	// normalized tells whether the differences are known to be Azure's normalisation.
	normalized bool
	// origin tells where differences come from that are not repaired.
	origin driftOrigin
	// failure is the last error of bringing about what is wanted, or why a resource in the state Failed is so; wait is how
	// long not to try again.
	failure    error
	retryAfter time.Duration

	claimed bool // the resource is ours to write now, unless there is a holder
	// holder is the operation that has the resource or the document it is part of.
	holder runningOperation
	// writtenSince means that the resource was written between the look and the claim, or that the look was at what was read earlier, etagOutdated
	// that its document was.
	writtenSince, etagOutdated bool
}

// runningOperation is an operation; the zero value is none.
type runningOperation struct {
	id    arm.ID
	state arm.State
	age   time.Duration
	// lastErr is how the same failed the last time, nil for the first try, trouble why nobody knows how it is going.
	lastErr, statusErr error
}

// step is what the engine does for a decision. Those up to claim only find out more: the decision is made again after them.
type step string

const (
	// stepAdopt takes a foreign resource over: it is ours from here on, and in the inventory.
	stepAdopt step = "adopt"
	// stepCompare finds out how the resource differs from what is wanted, and what is known of that.
	stepCompare step = "examine"
	// stepCountReadFailure counts a failed read, and finds out when to try again.
	stepCountReadFailure step = "count"
	// stepClaim makes the resource ours to write, or finds out who has it.
	stepClaim step = "claim"

	// stepReport only reports: somebody else has to do something, or time has to pass.
	stepReport step = "report"
	// stepClearFailure reports that nothing is to be done, so that earlier failures are forgotten.
	stepClearFailure step = "settle"
	// stepAlign is settle for a resource of ours that is as wanted, which is remembered.
	stepAlign step = "align"
	// stepReadAgain has the resource looked at again.
	stepReadAgain step = "look again"
	// stepJoin waits for the operation that is under way on it.
	stepJoin step = "join"
	// stepFollow watches an operation that is under way on it and was not begun here.
	stepFollow step = "follow"
	// stepQueue waits for the holder.
	stepQueue step = "queue"
	// stepAddToInventory takes the resource into the inventory, before it is made.
	stepAddToInventory step = "enlist"
	// stepForget drops what is known of a resource that is gone.
	stepForget step = "forget"
	// stepSend sends the write.
	stepSend step = "send"
)

// decision is what to do about one resource, and what to report of it.
type decision struct {
	step step
	// method is PUT, DELETE, or PATCH for tags alone, when it is to be sent or claimed for.
	method string
	// etag is sent with a PUT as If-Match, "" for none.
	etag string
	// confirmAbsence means that the resource is read once more before it is made: a collection that does not show it may lag behind.
	confirmAbsence bool

	state      arm.State
	err        error
	message    string
	blockedBy  arm.ID
	readFailed bool
	// possiblyOwned means that a deletion leaves a resource that may be the object's for all that its tags tell.
	possiblyOwned bool
	drift         []string
	// retryAfter is when to look again if nothing wakes the object before; 0 is when something it depends on has moved.
	retryAfter time.Duration
}
