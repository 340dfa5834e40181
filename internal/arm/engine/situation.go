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
	unknown error
	// node is what is wanted; nil for a resource that is only to be removed.
	node *arm.Node
	// remove is set when the resource is to go.
	remove bool
	// jitter in [0,1) spreads the next looks.
	jitter float64

	// under is the operation that is under way on the resource, as far as is known here.
	under underway
	// blocker is what has to be in place before the resource can be written, or gone before it can be removed; "" is nothing.
	blocker arm.ID
	// maker is what Azure makes the resource together with while that is not in place, makerUnseen that it could not be read.
	maker       arm.ID
	makerUnseen bool
	// pointless means that the resource is not asked for, because its maker has not been made.
	pointless bool
	// carrier is what takes the resource with it when it goes, "" is nothing; carrierGone that it has gone.
	carrier     arm.ID
	carrierGone bool
	// stays means that a resource group may not go as a whole, and unsure why that could not be found out.
	stays  bool
	unsure error

	// found is what was observed; the zero value is that nobody looked.
	found observe.Observation
	// outdated means that the resource was written after that.
	outdated bool
	// same is an earlier resource of the pass that could not be read for the same error, which is one of every request.
	same arm.ID
	// counted means that the failed read has been counted, and readWait is when it is tried again.
	counted  bool
	readWait time.Duration

	// owned tells whether the resource is the cluster's, ownedAbove whether something above it is, by tag or inventory, and
	// recorded whether it was in the inventory when the pass began: only what is stored counts.
	owned, ownedAbove, recorded bool
	// rival is the tag by which the resource is another cluster's or owner's, "" for none. namesake is the owner it says where
	// that is one with a cluster of the same name.
	rival, namesake string
	// begun means that something was made for the object already.
	begun bool
	// unclaimed means that a resource which is not the object's is nobody's by any tag: it carries none, or cannot and is in the record.
	unclaimed bool
	// lost means that the resource was seen as the object's own, and nothing in Azure proves that it still is. untagged means that it is
	// the object's by other proof than the ownership tag, which is missing. inherits is the resource above whose tag would prove it, for
	// one that cannot carry tags.
	lost, untagged bool
	inherits       arm.ID

	compared bool // what follows is known
	// broken is why the plan's body cannot be compared.
	broken error
	// tagged tells whether the plan's body has the ownership tag.
	tagged bool
	// denied says why a PUT of the plan's body may not be sent, "" if it may.
	denied string
	// differences are how the resource differs from what the node wants.
	differences []compare.Difference
	// remains tells whether the differences are known to be Azure's normalisation.
	remains bool
	// origin tells where differences come from that are not repaired.
	origin origin
	// failure is the last error of bringing about what is wanted, or why a resource in the state Failed is so; wait is how
	// long not to try again.
	failure error
	wait    time.Duration

	claimed bool // the resource is ours to write now, unless there is a holder
	// holder is the operation that has the resource or the document it is part of.
	holder underway
	// overtaken means that the resource was written between the look and the claim, or that the look was at what was read earlier, oldETag
	// that its document was.
	overtaken, oldETag bool
}

// underway is an operation; the zero value is none.
type underway struct {
	id    arm.ID
	state arm.State
	age   time.Duration
	// last is how the same failed the last time, nil for the first try, trouble why nobody knows how it is going.
	last, trouble error
}

// deed is what the engine does for a decision. Those up to claim only find out more: the decision is made again after them.
type deed string

const (
	// adopt takes a foreign resource over: it is ours from here on, and in the inventory.
	adopt deed = "adopt"
	// examine finds out how the resource differs from what is wanted, and what is known of that.
	examine deed = "examine"
	// count counts a failed read, and finds out when to try again.
	count deed = "count"
	// claim makes the resource ours to write, or finds out who has it.
	claim deed = "claim"

	// report only reports: somebody else has to do something, or time has to pass.
	report deed = "report"
	// settle reports that nothing is to be done, so that earlier failures are forgotten.
	settle deed = "settle"
	// align is settle for a resource of ours that is as wanted, which is remembered.
	align deed = "align"
	// again has the resource looked at again.
	again deed = "look again"
	// join waits for the operation that is under way on it.
	join deed = "join"
	// follow watches an operation that is under way on it and was not begun here.
	follow deed = "follow"
	// queue waits for the holder.
	queue deed = "queue"
	// enlist takes the resource into the inventory, before it is made.
	enlist deed = "enlist"
	// forget drops what is known of a resource that is gone.
	forget deed = "forget"
	// send sends the write.
	send deed = "send"
)

// decision is what to do about one resource, and what to report of it.
type decision struct {
	do deed
	// write is PUT, DELETE, or PATCH for tags alone, when it is to be sent or claimed for.
	write string
	// etag is sent with a PUT as If-Match, "" for none.
	etag string
	// confirm means that the resource is read once more before it is made: a collection that does not show it may lag behind.
	confirm bool

	state     arm.State
	err       error
	message   string
	blockedBy arm.ID
	unseen    bool
	// untagged means that a deletion leaves a resource that may be the object's for all that its tags tell.
	untagged bool
	drift    []string
	// wait is when to look again if nothing wakes the object before; 0 is when something it depends on has moved.
	wait time.Duration
}
