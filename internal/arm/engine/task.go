package engine

import (
	"errors"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
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
	// kept are differences that the request ignores. A write leaves them as they are.
	kept []compare.Difference
	// op is the operation that a claim has begun, holderOperation the one that holds the resource instead.
	op, holderOperation *operate.Operation
}

// newTask collects the known facts about a resource without any request. If the credential of its operation has expired, the operation
// continues with that of the request.
func (c *convergence) newTask(id arm.ID) *task {
	e, key := c.engine, id.Key()
	t := &task{situation: situation{id: id, observing: c.request.Observing, owner: c.request.Owner, node: c.request.Graph.Node(id), jitter: e.options.Jitter(),
		found: c.found[key]}}
	if t.node != nil {
		t.group = t.node.Group
	}
	t.row, t.typeErr = types.ForID(id)
	if t.found.WasRead() && !t.found.Exists {
		t.hiddenFor = e.states.get(key).presence.hiddenFor(e.clock.Now())
	}
	tags := t.found.Head().Tags
	t.owned, t.ownedAbove, t.inInventory, t.otherOwnerTag = c.isOwned(id), c.isAncestorOwned(id), c.storedInventory[key],
		otherOwnerTagIn(tags, c.request.Owner)
	t.ownershipErr = c.ownershipError(t)
	if hasClusterTag(tags, c.request.Owner) {
		t.sameNameOwner = otherOwnerID(tags, c.request.Owner)
	}
	t.hasRecord = len(c.record) > 0
	t.tagMissing = c.lacksOwnershipTag(t, tags)
	if t.ownershipTagRemoved = c.isOwnershipTagRemoved(t, tags); t.ownershipTagRemoved {
		t.inheritsFrom = c.taggableAncestor(id)
	}
	t.unclaimed = !t.owned && t.otherOwnerTag == "" && (t.row.Taggable || c.record[key] && !c.referencesOtherOwner(id, t.row))
	t.sameErrorAs = c.earlierSameError(id, t.found.Err)
	if op := e.operate.FindOperation(key); op != nil {
		if op.Object == c.request.Object {
			e.operate.ReplaceClient(op, c.request.Client)
		}
		t.running = c.describeOperation(op)
		t.running.lastErr, t.running.statusErr = e.states.get(key).retry.lastAttemptError(), op.StatusError(e.clock.Now())
	}
	// This check follows the lookup of operations: one that has ended by then has invalidated the cache before.
	t.outdated = !e.cache.IsCurrent(t.found)
	return t
}

func (c *convergence) describeOperation(op *operate.Operation) runningOperation {
	return runningOperation{id: op.ID, state: op.State, age: c.engine.clock.Now().Sub(op.StartTime())}
}

// earlierSameError returns an earlier resource of the graph that could not be read for the same error, if the error affects every
// request; "" otherwise.
func (c *convergence) earlierSameError(id arm.ID, err error) arm.ID {
	if err == nil || !observe.AffectsEveryRequest(err) {
		return ""
	}
	for _, other := range c.nodes {
		if other.ID == id {
			break
		}
		if errors.Is(c.results[other.ID.Key()].Err, err) {
			return other.ID
		}
	}
	return ""
}

// decideAndExecute decides about a resource, completes its situation as needed, and executes the decision. It returns false if the
// resource was read again: its situation is outdated then.
func (c *convergence) decideAndExecute(t *task) bool {
	e, key := c.engine, t.id.Key()
	for {
		d := decide(t.situation)
		switch d.step {
		case stepAdopt:
			t.owned = true
			if t.ownershipTagRemoved || t.observing {
				continue // Users did not hand it over, or it is adopted when observing ends.
			}
			if _, known := c.adopted[key]; !known {
				e.addChange(c.request.Object, arm.Change{ID: t.id, Kind: arm.Adopted})
			}
			c.adopted[key] = t.id
		case stepCompare:
			c.compareWithDesired(t)
		case stepCountReadFailure:
			t.failureCounted, t.readRetryAfter = true, e.recordFailure(key+readSuffix, "", d.err)
		case stepConfirm:
			c.found[key] = e.reader.Get(c.ctx, c.request.Client, t.id)
			return false
		case stepClaim:
			c.claimOperation(t, d)
		default:
			if c.execute(t, d) {
				return true
			}
		}
	}
}

// compareWithDesired compares a resource with its desired state and its remembered state.
func (c *convergence) compareWithDesired(t *task) {
	e, key, node := c.engine, t.id.Key(), t.node
	t.compared = true
	e.clearFailure(key + readSuffix)
	if t.desired, t.bodyErr = desiredOf(c.request.Graph, node, t.row); t.bodyErr != nil {
		return
	}
	if t.tagMissing {
		t.desired.Body = withOwnerTags(t.desired.Body, c.request.Owner)
	}
	t.desiredHash = desiredHash(t.desired)
	object, _ := t.desired.Body.(map[string]any)
	t.bodyTagged = bodyHasOwnerTag(object, c.request.Owner)
	wasAligned := e.states.get(key).alignment.hash == t.desiredHash
	if !t.found.Exists {
		e.states.update(key, (*resourceState).resetMissing)
	} else {
		body, err := arm.DecodeBody(t.found.Body)
		if err != nil {
			t.found.Err = &arm.Error{Method: "GET", ID: t.id, Code: "InvalidAnswer", Message: err.Error()}
			return
		}
		t.body = body
		if node.Body != nil {
			t.differences, t.kept = c.filterDifferences(t.id, t.owned, compare.Diff(t.desired, body))
		}
	}
	t.denial = node.DenialMessage(t.body)
	if t.row.Name == types.RoleAssignment {
		t.principal = jsonpath.GetText(t.desired.Body, "properties.principalId")
	}
	retry := e.states.get(key).retry
	t.retryAfter, t.failure = retry.failureOf(t.desiredHash, e.clock.Now())
	t.failingFor = retry.failingFor(e.clock.Now())
	inProgress, failed := t.found.Head().State()
	switch {
	case t.found.Exists && inProgress == "" && !failed:
		t.normalized = c.isNormalization(key, t.desiredHash, t.differences, t.found)
		if t.owned && (node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly) {
			var normalized []compare.Difference
			if t.origin, normalized = e.classifyDifferences(t.id, t.desired, t.body, t.differences,
				t.found.FromWrite); !t.normalized {
				e.logNormalized(e.logger(c.ctx, c.request.Object), t.id, normalized)
			}
		}
	case failed && keepsFailed(t.situation) && t.owned:
		if t.failure = e.states.get(key).retry.err; t.failure == nil {
			t.failure = e.findFailureReason(c.ctx, c.request.Client, t.found.Observed, t.row)
			e.recordFailure(key, t.desiredHash, t.failure)
		}
	}
	if wasAligned && hasDrifted(t.situation) {
		first := false
		e.states.update(key, func(state *resourceState) { first = state.alignment.recordDrift() })
		if first && e.options.Hooks.OnDrift != nil {
			e.options.Hooks.OnDrift(t.id)
		}
	}
}

// hasDrifted reports whether a resource that matched the plan has been changed since, from outside or by a failure of Azure.
func hasDrifted(s situation) bool {
	if !s.found.Exists || !s.owned {
		return !s.found.Exists
	}
	inProgress, failed := s.found.Head().State()
	if s.node.Policy == arm.CreateOnly || s.node.Policy == arm.TagOnly {
		return inProgress == "" && (failed || len(s.origin.outside) > 0 || len(s.differences) > len(withoutTagDifferences(s.differences)))
	}
	return inProgress == "" && (failed || len(s.differences) > 0 && !s.normalized)
}

// claimOperation registers the operation of a write, so that no other write of the same document starts.
func (c *convergence) claimOperation(t *task, d decision) {
	e, op := c.engine, c.newOperation(t, d)
	t.claimed = true
	if t.holderOperation = e.operate.Begin(op, t.removing); t.holderOperation != nil {
		t.holder = c.describeOperation(t.holderOperation)
		return
	}
	t.op = op
	if !t.removing {
		t.writtenSince, t.etagOutdated = t.found.ConfirmedByDigest || !e.cache.IsCurrent(t.found), !e.cache.IsETagCurrent(t.found)
	}
}

// execute carries out a decision and sets the result. It returns false if the situation has changed meanwhile.
func (c *convergence) execute(t *task, d decision) bool {
	e, key := c.engine, t.id.Key()
	result := arm.Result{ID: t.id, Group: t.group, State: d.state, Err: d.err, Message: d.message, BlockedBy: d.blockedBy,
		ReadFailed: d.readFailed, PossiblyOwned: d.possiblyOwned,
		Drift: c.results[key].Drift, Observed: t.found.Body, Owned: t.found.Exists && t.owned, OwnedByOthers: isOwnedByOthers(t.situation),
		IntendedMethod: d.intended, OutsideChanges: t.origin.outside, UnappliedChanges: t.origin.unapplied}
	if result.OwnedByOthers {
		result.Observed = nil
	}
	result.Managed = result.Owned && t.node != nil && t.node.Policy != arm.Observe
	result.Drift = append(result.Drift, d.drift...)
	if result.IsDone() && d.intended == "" {
		result.UnrepairedDrift = d.drift
	}
	if result.IsDone() {
		result.UnapprovedConnections = arm.ListUnapprovedConnections(result.Observed, t.row.ConnectionLists)
	}
	if t.node != nil {
		result.UnremovablePaths = presentPaths(t.node.UnremovablePaths, t.found.Body, t.row)
	}
	if t.otherOwnerTag != "" && result.State == arm.Foreign && t.node != nil && t.node.OtherCluster != arm.UseOtherCluster && !t.removing {
		result.OtherClusterTag = t.otherOwnerTag
	}
	if t.ownershipTagRemoved && result.IsDone() {
		result.OwnershipTagRemoved = ownershipTagMessage(t.situation)
	}
	wait := d.retryAfter
	switch d.step {
	case stepJoin:
		op := e.operate.FindOperation(key)
		if op == nil || !op.AddWaiter(c.request.Object, c.notifyChange) {
			t.running, t.outdated = runningOperation{}, !e.cache.IsCurrent(t.found)
			return false
		}
	case stepFollow:
		e.operate.FollowExisting(c.newFollowedOperation(t.id, d.state), c.notifyChange)
	case stepQueue:
		c.awaitHolder(t)
	case stepReadAgain:
		if t.op != nil {
			e.operate.Release(t.op)
		}
		if t.etagOutdated {
			e.cache.Invalidate(observe.Change{ID: t.id, Extent: observe.ExtentResource})
		}
		c.notifyChange()
	case stepAlign:
		e.states.update(key, func(state *resourceState) {
			if state.recordAligned(t.desiredHash); len(d.drift) == 0 {
				// The change from outside was reverted from outside.
				state.alignment.drifted = false
			}
		})
	case stepClearFailure:
		e.clearFailure(key)
	case stepAddToInventory:
		c.inventory[key] = t.id
	case stepForget:
		e.states.forgetResource(t.id)
		e.operate.AbandonBelow(t.id)
	case stepSend:
		e.states.update(key, func(state *resourceState) {
			if t.removing {
				state.retry.recordAttempt(deletionHash)
			} else {
				state.retry.recordAttempt(t.desiredHash)
				state.presence.setAbsent(false)
			}
		})
		if err := c.startWrite(t, d); err != nil {
			e.operate.Release(t.op)
			result.State, result.Err, wait = arm.Failed, err, specRetryAfter
		}
	}
	c.setResult(result, wait)
	return true
}

// awaitHolder waits for the operation that holds the resource or its document.
func (c *convergence) awaitHolder(t *task) {
	if t.holderOperation.Key != t.id.Key() {
		c.engine.operate.AwaitSerial(t.row.SerialKey(t.id), c.request.Object, c.notifyChange)
	} else if !t.holderOperation.AddWaiter(c.request.Object, c.notifyChange) {
		c.notifyChange()
	}
}
