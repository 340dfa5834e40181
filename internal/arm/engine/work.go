package engine

import (
	"errors"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// work is a situation with what is needed to do what is decided about it.
type work struct {
	situation
	group string
	// want and body are what is wanted and what is there, decoded, hash is the name of what is wanted.
	want compare.Desired
	body any
	hash string
	// op is the operation that a claim has begun, taken the one that was there.
	op, taken *operate.Operation
}

// look puts together what is known of a resource without asking anybody.
func (p *pass) look(id arm.ID) *work {
	e, key := p.engine, id.Key()
	w := &work{situation: situation{id: id, owner: p.request.Owner, node: p.request.Graph.Node(id), jitter: e.options.Jitter(), found: p.found[key]}}
	if w.node != nil {
		w.group = w.node.Group
	}
	w.row, w.unknown = types.ForID(id)
	tags := observe.HeadOf(w.found.Body).Tags
	w.owned, w.ownedAbove, w.recorded, w.rival = p.owned(id), p.ownedAbove(id), p.recorded[key], rivalOf(tags, p.request.Owner)
	if ofCluster(tags, p.request.Owner) {
		w.namesake = otherOwner(tags, p.request.Owner)
	}
	w.begun = len(p.seen) > 0
	w.untagged = p.untagged(w, tags)
	if w.lost = p.lost(w, tags); w.lost {
		w.inherits = p.inherits(id)
	}
	w.unclaimed = !w.owned && w.rival == "" && (w.row.Taggable || p.seen[key] && !p.tiedToOthers(id, w.row))
	w.same = p.sameError(id, w.found.Err)
	if op := e.operate.Find(key); op != nil {
		w.under = p.underway(op)
		w.under.last, w.under.trouble = e.memory.again(key), op.Trouble(e.clock.Now())
	}
	// After the look for operations: one that has ended by then has told the cache before.
	w.outdated = !e.cache.Current(w.found)
	return w
}

func (p *pass) underway(op *operate.Operation) underway {
	return underway{id: op.ID, state: op.State, age: p.engine.clock.Now().Sub(op.Started())}
}

// sameError is an earlier resource of the graph that could not be read for the same error, if every request would meet it.
func (p *pass) sameError(id arm.ID, err error) arm.ID {
	if err == nil || !observe.OfEveryRequest(err) {
		return ""
	}
	for _, other := range p.nodes {
		if other.ID == id {
			break
		}
		if errors.Is(p.results[other.ID.Key()].Err, err) {
			return other.ID
		}
	}
	return ""
}

// settle decides about a resource, finds out what that takes, and does it.
func (p *pass) settle(w *work) {
	e, key := p.engine, w.id.Key()
	for {
		d := decide(w.situation)
		switch d.do {
		case adopt:
			w.owned = true
			if w.lost {
				continue // It is none that users handed over.
			}
			if _, known := p.adopted[key]; !known {
				e.news.add(p.request.Object, arm.Change{ID: w.id, Kind: arm.Adopted})
			}
			p.adopted[key] = w.id
		case examine:
			p.examine(w)
		case count:
			w.counted, w.readWait = true, e.memory.fail(key+readSuffix, "", d.err)
		case claim:
			p.claim(w, d)
		default:
			if p.carryOut(w, d) {
				return
			}
		}
	}
}

// examine finds out how a resource differs from what is wanted, and what is remembered of that.
func (p *pass) examine(w *work) {
	e, key, node := p.engine, w.id.Key(), w.node
	w.compared = true
	e.memory.clear(key + readSuffix)
	if w.want, w.broken = wantOf(p.request.Graph, node, w.row); w.broken != nil {
		return
	}
	if w.untagged {
		w.want.Body = withTag(w.want.Body, p.request.Owner)
	}
	w.hash = hashOf(w.want)
	object, _ := w.want.Body.(map[string]any)
	w.tagged = tagsCarry(object, p.request.Owner)
	before := e.memory.inLine(key, w.hash)
	if !w.found.Exists {
		e.memory.missing(key)
	} else {
		body, err := arm.DecodeBody(w.found.Body)
		if err != nil {
			w.found.Err = &arm.Error{Method: "GET", ID: w.id, Code: "InvalidAnswer", Message: err.Error()}
			return
		}
		w.body = body
		if node.Body != nil {
			w.differences = p.unsettled(w.id, w.owned, compare.Diff(w.want, body))
		}
	}
	w.denied = node.DenialMessage(w.body)
	w.wait, w.failure = e.memory.failed(key, w.hash)
	doing, broken := observe.Provisioning(w.found.Body)
	switch {
	case w.found.Exists && doing == "" && !broken:
		w.remains = p.remains(key, w.hash, w.differences, w.found)
		if w.owned && (node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly) {
			var normalised []compare.Difference
			if w.origin, normalised = e.memory.origin(w.id, w.want, w.body, w.differences, w.found.FromWrite); !w.remains {
				e.logResidual(w.id, normalised)
			}
		}
	case broken && keepsFailed(w.situation) && w.owned:
		if w.failure = e.memory.last(key); w.failure == nil {
			w.failure = e.whyFailed(p.ctx, p.request.Client, w.found.Observed, w.row)
			e.memory.fail(key, w.hash, w.failure)
		}
	}
	if before && drifted(w.situation) && e.memory.drift(key) && e.options.Hooks.Drifted != nil {
		e.options.Hooks.Drifted(w.id)
	}
}

// drifted tells whether a resource that had been as wanted has been changed since, by somebody or by a failure of Azure.
func drifted(s situation) bool {
	if !s.found.Exists || !s.owned {
		return !s.found.Exists
	}
	doing, broken := observe.Provisioning(s.found.Body)
	if s.node.Policy == arm.CreateOnly || s.node.Policy == arm.TagOnly {
		return doing == "" && (broken || len(s.origin.outside) > 0 || len(s.differences) > len(untagged(s.differences)))
	}
	return doing == "" && (broken || len(s.differences) > 0 && !s.remains)
}

// claim begins the operation for a write, so that nobody else writes the same document.
func (p *pass) claim(w *work, d decision) {
	e, op := p.engine, p.operation(w, d)
	w.claimed = true
	if w.taken = e.operate.Begin(op, w.remove); w.taken != nil {
		w.holder = p.underway(w.taken)
		return
	}
	w.op = op
	if !w.remove {
		w.overtaken, w.oldETag = w.found.Vouched || !e.cache.Current(w.found), !e.cache.CurrentETag(w.found)
	}
}

// carryOut does what was decided and sets the result. It is false when what was decided about is over.
func (p *pass) carryOut(w *work, d decision) bool {
	e, key := p.engine, w.id.Key()
	result := arm.Result{ID: w.id, Group: w.group, State: d.state, Err: d.err, Message: d.message, BlockedBy: d.blockedBy, ReadFailed: d.unseen, PossiblyOwned: d.untagged,
		Drift: p.results[key].Drift, Observed: w.found.Body, Owned: w.found.Exists && w.owned,
		OutsideChanges: w.origin.outside, UnappliedChanges: w.origin.unapplied}
	result.Drift = append(result.Drift, d.drift...)
	if result.IsDone() {
		result.UnrepairedDrift = d.drift
	}
	if w.node != nil {
		result.UnremovablePaths = staying(w.node.UnremovablePaths, w.found.Body, w.row)
	}
	if w.rival != "" && result.State == arm.Foreign && w.node != nil && w.node.OtherCluster != arm.UseOtherCluster && !w.remove {
		result.OtherClusterTag = w.rival
	}
	if w.lost && result.IsDone() {
		result.OwnershipTagRemoved = lostMessage(w.situation)
	}
	wait := d.wait
	switch d.do {
	case join:
		op := e.operate.Find(key)
		if op == nil || !op.Await(p.request.Object, p.signal) {
			w.under, w.outdated = underway{}, !e.cache.Current(w.found)
			return false
		}
	case follow:
		e.operate.Follow(p.followed(w.id, d.state), p.signal)
	case queue:
		p.queue(w)
	case again:
		if w.op != nil {
			e.operate.Release(w.op)
		}
		if w.oldETag {
			e.cache.Invalidate(observe.Change{ID: w.id, Extent: observe.Resource})
		}
		p.signal()
	case align:
		e.memory.aligned(key, w.hash)
		e.memory.clear(key)
		if len(d.drift) == 0 {
			// Somebody has taken back what they did.
			e.memory.mended(key)
		}
	case settle:
		e.memory.clear(key)
	case enlist:
		p.inventory[key] = w.id
	case forget:
		e.memory.forget(w.id)
		e.operate.Gone(w.id)
	case send:
		if w.remove {
			e.memory.trying(key, goneHash)
		} else {
			e.memory.trying(key, w.hash)
			e.memory.absence(key, false)
		}
		if err := p.write(w, d); err != nil {
			e.operate.Release(w.op)
			result.State, result.Err, wait = arm.Failed, err, untilChanged
		}
	}
	p.set(result, wait)
	return true
}

// queue waits for who has the resource or its document.
func (p *pass) queue(w *work) {
	if w.taken.Key != w.id.Key() {
		p.engine.operate.AwaitSerial(w.row.SerialKey(w.id), p.request.Object, p.signal)
	} else if !w.taken.Await(p.request.Object, p.signal) {
		p.signal()
	}
}
