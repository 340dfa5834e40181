package engine

import (
	"errors"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// task is a situation with the values that the execution of its decision needs.
type task struct {
	situation
	group string
	// desired and body are the decoded desired and observed state. desiredHash identifies the desired state.
	desired     compare.Desired
	body        any
	desiredHash string
	// op is the operation that a claim has begun, holderOperation the one that holds the resource instead.
	op, holderOperation *operate.Operation
}

// newTask collects the known facts about a resource without any request.
func (p *convergence) newTask(id arm.ID) *task {
	e, key := p.engine, id.Key()
	w := &task{situation: situation{id: id, owner: p.request.Owner, node: p.request.Graph.Node(id), jitter: e.options.Jitter(), found: p.found[key]}}
	if w.node != nil {
		w.group = w.node.Group
	}
	w.row, w.typeErr = types.ForID(id)
	tags := observe.ParseHead(w.found.Body).Tags
	w.owned, w.ownedAbove, w.inInventory, w.otherOwnerTag = p.isOwned(id), p.isAncestorOwned(id), p.storedInventory[key], otherOwnerTagIn(tags, p.request.Owner)
	if hasClusterTag(tags, p.request.Owner) {
		w.sameNameOwner = otherOwnerID(tags, p.request.Owner)
	}
	w.hasRecord = len(p.record) > 0
	w.tagMissing = p.lacksOwnershipTag(w, tags)
	if w.ownershipTagRemoved = p.isOwnershipTagRemoved(w, tags); w.ownershipTagRemoved {
		w.inheritsFrom = p.taggableAncestor(id)
	}
	w.unclaimed = !w.owned && w.otherOwnerTag == "" && (w.row.Taggable || p.record[key] && !p.referencesOtherOwner(id, w.row))
	w.sameErrorAs = p.earlierSameError(id, w.found.Err)
	if op := e.operate.FindOperation(key); op != nil {
		w.running = p.describeOperation(op)
		w.running.lastErr, w.running.statusErr = e.states.lastAttemptError(key), op.StatusError(e.clock.Now())
	}
	// This check follows the lookup of operations: one that has ended by then has invalidated the cache before.
	w.outdated = !e.cache.IsCurrent(w.found)
	return w
}

func (p *convergence) describeOperation(op *operate.Operation) runningOperation {
	return runningOperation{id: op.ID, state: op.State, age: p.engine.clock.Now().Sub(op.StartTime())}
}

// earlierSameError returns an earlier resource of the graph that could not be read for the same error, if the error affects every
// request; "" otherwise.
func (p *convergence) earlierSameError(id arm.ID, err error) arm.ID {
	if err == nil || !observe.AffectsEveryRequest(err) {
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

// decideAndExecute decides about a resource, completes its situation as needed, and executes the decision.
func (p *convergence) decideAndExecute(w *task) {
	e, key := p.engine, w.id.Key()
	for {
		d := decide(w.situation)
		switch d.step {
		case stepAdopt:
			w.owned = true
			if w.ownershipTagRemoved {
				continue // Users did not hand it over.
			}
			if _, known := p.adopted[key]; !known {
				e.changes.addChange(p.request.Object, arm.Change{ID: w.id, Kind: arm.Adopted})
			}
			p.adopted[key] = w.id
		case stepCompare:
			p.compareWithDesired(w)
		case stepCountReadFailure:
			w.failureCounted, w.readRetryAfter = true, e.states.recordFailure(key+readSuffix, "", d.err)
		case stepClaim:
			p.claimOperation(w, d)
		default:
			if p.execute(w, d) {
				return
			}
		}
	}
}

// compareWithDesired compares a resource with its desired state and its remembered state.
func (p *convergence) compareWithDesired(w *task) {
	e, key, node := p.engine, w.id.Key(), w.node
	w.compared = true
	e.states.clearFailure(key + readSuffix)
	if w.desired, w.bodyErr = desiredOf(p.request.Graph, node, w.row); w.bodyErr != nil {
		return
	}
	if w.tagMissing {
		w.desired.Body = withOwnerTags(w.desired.Body, p.request.Owner)
	}
	w.desiredHash = desiredHash(w.desired)
	object, _ := w.desired.Body.(map[string]any)
	w.bodyTagged = bodyHasOwnerTag(object, p.request.Owner)
	before := e.states.wasAligned(key, w.desiredHash)
	if !w.found.Exists {
		e.states.resetMissing(key)
	} else {
		body, err := arm.DecodeBody(w.found.Body)
		if err != nil {
			w.found.Err = &arm.Error{Method: "GET", ID: w.id, Code: "InvalidAnswer", Message: err.Error()}
			return
		}
		w.body = body
		if node.Body != nil {
			w.differences = p.filterDifferences(w.id, w.owned, compare.Diff(w.desired, body))
		}
	}
	w.denial = node.DenialMessage(w.body)
	w.retryAfter, w.failure = e.states.failureOf(key, w.desiredHash)
	doing, broken := observe.ProvisioningState(w.found.Body)
	switch {
	case w.found.Exists && doing == "" && !broken:
		w.normalized = p.isNormalization(key, w.desiredHash, w.differences, w.found)
		if w.owned && (node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly) {
			var normalised []compare.Difference
			if w.origin, normalised = e.states.classifyDifferences(w.id, w.desired, w.body, w.differences, w.found.FromWrite); !w.normalized {
				e.logNormalized(w.id, normalised)
			}
		}
	case broken && keepsFailed(w.situation) && w.owned:
		if w.failure = e.states.lastError(key); w.failure == nil {
			w.failure = e.findFailureReason(p.ctx, p.request.Client, w.found.Observed, w.row)
			e.states.recordFailure(key, w.desiredHash, w.failure)
		}
	}
	if before && hasDrifted(w.situation) && e.states.recordDrift(key) && e.options.Hooks.OnDrift != nil {
		e.options.Hooks.OnDrift(w.id)
	}
}

// hasDrifted reports whether a resource that matched the plan has been changed since, from outside or by a failure of Azure.
func hasDrifted(s situation) bool {
	if !s.found.Exists || !s.owned {
		return !s.found.Exists
	}
	doing, broken := observe.ProvisioningState(s.found.Body)
	if s.node.Policy == arm.CreateOnly || s.node.Policy == arm.TagOnly {
		return doing == "" && (broken || len(s.origin.outside) > 0 || len(s.differences) > len(withoutTagDifferences(s.differences)))
	}
	return doing == "" && (broken || len(s.differences) > 0 && !s.normalized)
}

// claimOperation registers the operation of a write, so that no other write of the same document starts.
func (p *convergence) claimOperation(w *task, d decision) {
	e, op := p.engine, p.newOperation(w, d)
	w.claimed = true
	if w.holderOperation = e.operate.Begin(op, w.removing); w.holderOperation != nil {
		w.holder = p.describeOperation(w.holderOperation)
		return
	}
	w.op = op
	if !w.removing {
		w.writtenSince, w.etagOutdated = w.found.VouchedByDigest || !e.cache.IsCurrent(w.found), !e.cache.IsETagCurrent(w.found)
	}
}

// execute carries out a decision and sets the result. It returns false if the situation has changed meanwhile.
func (p *convergence) execute(w *task, d decision) bool {
	e, key := p.engine, w.id.Key()
	result := arm.Result{ID: w.id, Group: w.group, State: d.state, Err: d.err, Message: d.message, BlockedBy: d.blockedBy, ReadFailed: d.readFailed, PossiblyOwned: d.possiblyOwned,
		Drift: p.results[key].Drift, Observed: w.found.Body, Owned: w.found.Exists && w.owned,
		OutsideChanges: w.origin.outside, UnappliedChanges: w.origin.unapplied}
	result.Drift = append(result.Drift, d.drift...)
	if result.IsDone() {
		result.UnrepairedDrift = d.drift
	}
	if w.node != nil {
		result.UnremovablePaths = presentPaths(w.node.UnremovablePaths, w.found.Body, w.row)
	}
	if w.otherOwnerTag != "" && result.State == arm.Foreign && w.node != nil && w.node.OtherCluster != arm.UseOtherCluster && !w.removing {
		result.OtherClusterTag = w.otherOwnerTag
	}
	if w.ownershipTagRemoved && result.IsDone() {
		result.OwnershipTagRemoved = ownershipTagMessage(w.situation)
	}
	wait := d.retryAfter
	switch d.step {
	case stepJoin:
		op := e.operate.FindOperation(key)
		if op == nil || !op.AddWaiter(p.request.Object, p.notifyChange) {
			w.running, w.outdated = runningOperation{}, !e.cache.IsCurrent(w.found)
			return false
		}
	case stepFollow:
		e.operate.FollowExisting(p.newFollowedOperation(w.id, d.state), p.notifyChange)
	case stepQueue:
		p.awaitHolder(w)
	case stepReadAgain:
		if w.op != nil {
			e.operate.Release(w.op)
		}
		if w.etagOutdated {
			e.cache.Invalidate(observe.Change{ID: w.id, Extent: observe.ExtentResource})
		}
		p.notifyChange()
	case stepAlign:
		e.states.recordAligned(key, w.desiredHash)
		e.states.clearFailure(key)
		if len(d.drift) == 0 {
			// The change from outside was reverted from outside.
			e.states.clearDrift(key)
		}
	case stepClearFailure:
		e.states.clearFailure(key)
	case stepAddToInventory:
		p.inventory[key] = w.id
	case stepForget:
		e.states.forgetResource(w.id)
		e.operate.AbandonBelow(w.id)
	case stepSend:
		if w.removing {
			e.states.recordAttempt(key, deletionHash)
		} else {
			e.states.recordAttempt(key, w.desiredHash)
			e.states.setAbsent(key, false)
		}
		if err := p.startWrite(w, d); err != nil {
			e.operate.Release(w.op)
			result.State, result.Err, wait = arm.Failed, err, specRetryAfter
		}
	}
	p.setResult(result, wait)
	return true
}

// awaitHolder waits for the operation that holds the resource or its document.
func (p *convergence) awaitHolder(w *task) {
	if w.holderOperation.Key != w.id.Key() {
		p.engine.operate.AwaitSerial(w.row.SerialKey(w.id), p.request.Object, p.notifyChange)
	} else if !w.holderOperation.AddWaiter(p.request.Object, p.notifyChange) {
		p.notifyChange()
	}
}
