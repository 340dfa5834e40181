package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Converge takes one step towards the graph: it reads the resources, starts every write that is ready, and returns. The error is set
// only for an invalid graph or a cancelled context; refusals of Azure are in the outcome.
//
// A node below a foreign parent that cannot carry a tag is created only if its ID is in Request.Inventory. The convergence that finds
// it missing returns the ID in Outcome.Inventory. The caller stores it before the next call, so a crash in between leaves no unrecorded
// resource.
func (e *Engine) Converge(ctx context.Context, request Request) (arm.Outcome, error) {
	c, err := e.newConvergence(ctx, request)
	if err != nil {
		return arm.Outcome{}, err
	}
	c.reusesReads = true
	for _, node := range c.nodes {
		delete(c.migrated, node.ID.Key())
	}
	prune := c.resourcesToPrune()
	c.evaluateUntilAnswered(func() []arm.ID { return c.resourcesToRead(prune, false) }, func() {
		for _, node := range c.nodes {
			if !c.results[node.ID.Key()].IsDone() {
				c.convergeNode(node)
			}
		}
		for _, id := range prune {
			c.pruneResource(id, prune)
		}
	})
	if err := ctx.Err(); err != nil {
		return arm.Outcome{}, err
	}
	c.setPollingDeadlines()
	var order []arm.ID
	for _, node := range request.Graph.Nodes() {
		order = append(order, node.ID)
	}
	for _, id := range prune {
		switch c.results[id.Key()].State {
		case arm.Gone:
			delete(c.inventory, id.Key())
		case arm.Foreign:
			if _, listed := c.inventory[id.Key()]; listed {
				delete(c.inventory, id.Key())
				c.ignored[id.Key()] = id
			}
		default:
			order = append(order, id)
		}
	}
	return c.buildOutcome(order), nil
}

// resourcesToRead lists the resources to read: nodes, the ancestors that decide their ownership, and resources to prune. It leaves out
// resources in place and those with a running operation of this engine, unless they have to be deleted.
func (c *convergence) resourcesToRead(extra []arm.ID, deleting bool) []arm.ID {
	var out []arm.ID
	add := func(id arm.ID, goes bool) {
		result, known := c.results[id.Key()]
		if known && (result.IsDone() || result.State == arm.Gone) {
			return
		}
		if op := c.engine.operate.FindOperation(id.Key()); op != nil && (!goes || op.State == arm.Deleting) {
			return
		}
		out = append(out, id)
		for _, ancestor := range c.owningAncestors(id) {
			if _, known := c.found[ancestor.Key()]; !known {
				out = append(out, ancestor)
			}
		}
	}
	var awaitingQuota map[string]arm.ID
	if !deleting {
		awaitingQuota = c.nodesAwaitingQuota()
	}
	for _, node := range c.nodes {
		switch {
		case deleting || node.Blocked != "" || node.Refused != "" || c.isMakerMissing(node):
		case awaitingQuota[node.ID.Key()] != "":
			c.assumeAbsent(node.ID)
		default:
			add(node.ID, false)
		}
	}
	for _, id := range extra {
		add(id, true)
	}
	return out
}

// isMakerMissing reports whether the resource that Azure creates node together with does not exist yet. A read of node is useless then.
// A request with BypassCache reads every node all the same.
func (c *convergence) isMakerMissing(node *arm.Node) bool {
	if node.Policy != arm.TagOnly || c.request.BypassCache {
		return false
	}
	blocker := c.blockingDependency(node)
	maker := c.results[blocker.Key()]
	// A resource that is being updated or has failed exists.
	return blocker != "" && maker.State != arm.Updating && (len(maker.Observed) == 0 || maker.State == arm.Creating)
}

// convergeNode decides about one node and executes the decision.
func (c *convergence) convergeNode(node *arm.Node) {
	t := c.newTask(node.ID)
	// A resource that Azure creates along with an owned one is owned, even if Azure did not copy the tags.
	t.owned = t.owned || node.Policy == arm.TagOnly
	t.blocker, t.makerMissing = c.blockingDependency(node), c.isMakerMissing(node)
	for _, dependency := range c.request.Graph.Dependencies(node) {
		intended := c.results[dependency.ID.Key()].IntendedMethod
		t.intendsDependency = t.intendsDependency || intended != "" && !dependency.ID.Equal(node.OtherHalf)
	}
	for _, maker := range c.request.Graph.Dependencies(node) {
		if made := c.results[maker.ID.Key()]; !made.IsDone() {
			t.createdWith, t.makerReadFailed = maker.ID, made.ReadFailed
			break
		}
	}
	if !c.decideAndExecute(t) {
		c.convergeNode(node)
		return
	}
	if t.found.WasRead() && t.found.Err == nil && t.op == nil {
		c.engine.states.update(node.ID.Key(), func(state *resourceState) { state.presence.setAbsent(!t.found.Exists) })
	}
}

// filterDifferences returns the differences without those that the request ignores, which it returns as well: they are kept.
func (c *convergence) filterDifferences(id arm.ID, owned bool, differences []compare.Difference) (remaining, kept []compare.Difference) {
	if owned {
		// Resources created before the owner tag existed get it with another write, never with a write of its own.
		differences = slices.DeleteFunc(differences,
			func(d compare.Difference) bool { return strings.EqualFold(d.Path, "tags."+c.request.Owner.IDKey) })
	}
	if c.request.IgnoreDifference == nil || !owned {
		return differences, nil
	}
	for _, d := range differences {
		switch {
		case !c.request.IgnoreDifference(id, d.Path, d.Want, d.Have):
			remaining = append(remaining, d)
		case !strings.EqualFold(d.Path, "tags."+c.request.Owner.TagKey):
			kept = append(kept, d)
		}
	}
	return remaining, kept
}

// isNormalization reports whether the differences are Azure's normalisation of an earlier PUT. It logs those that are new.
func (c *convergence) isNormalization(key, hash string, differences []compare.Difference, found observe.Observation) bool {
	remains, first := false, false
	c.engine.states.update(key, func(state *resourceState) {
		if len(differences) > 0 {
			remains, first = state.normalization.explains(hash, differences, found.FromWrite, c.engine.clock.Now())
		} else if !found.FromWrite {
			state.normalization.recordMatch(hash)
		}
	})
	if first {
		c.engine.logNormalized(c.engine.logger(c.ctx, c.request.Object), found.ID, differences)
	}
	return remains
}

func (e *Engine) logNormalized(log logr.Logger, id arm.ID, differences []compare.Difference) {
	if len(differences) > 0 && e.options.Hooks.OnNormalized != nil {
		e.options.Hooks.OnNormalized(id, len(differences))
	}
	for _, difference := range differences {
		log.Info("Azure keeps another value than the one sent. It is not sent again", "resource", id, "path",
			difference.Path, "sent", difference.Want, "kept", difference.Have)
	}
}

// blockingDependency returns the first unfinished dependency of node, or the root cause if that one is blocked itself; "" if there is
// none.
func (c *convergence) blockingDependency(node *arm.Node) arm.ID {
	renewed := c.needsRenewal(node.ID)
	if node.OtherHalf != "" && !renewed && !c.request.Observing && c.isRenewing(node.OtherHalf) {
		return node.OtherHalf
	}
	for _, dependency := range c.request.Graph.Dependencies(node) {
		result := c.results[dependency.ID.Key()]
		switch {
		case result.IsDone():
		case renewed && dependency.ID.Equal(node.OtherHalf):
		case result.IntendedMethod != "" && node.Policy != arm.TagOnly:
			// While the object is observed, the write that would follow is reported, too.
		case result.State == arm.Blocked && result.BlockedBy != "":
			return result.BlockedBy
		default:
			return dependency.ID
		}
	}
	return ""
}

// isRenewing reports whether the state of a resource has to be renewed, or is being renewed.
func (c *convergence) isRenewing(id arm.ID) bool {
	op := c.engine.operate.FindOperation(id.Key())
	return op != nil && op.State == arm.Updating || op == nil && c.needsRenewal(id)
}

// needsRenewal reports whether the state of a resource, as last read, has to be renewed. Only types with such states are decoded.
func (c *convergence) needsRenewal(id arm.ID) bool {
	row, err := types.ForID(id)
	if err != nil || len(row.RenewedStates) == 0 {
		return false
	}
	found := c.found[id.Key()]
	if !found.Exists || c.results[id.Key()].IsDone() {
		return false
	}
	body, err := arm.DecodeBody(found.Body)
	return err == nil && compare.NeedsRenewal(row, body)
}

// resourcesToPrune lists resources of the inventory and of Request.Prune that are not in the graph, in the order of deletion.
func (c *convergence) resourcesToPrune() []arm.ID {
	var out []arm.ID
	seen := map[string]bool{}
	for _, id := range append(sortedIDs(c.inventory), c.request.Prune...) {
		if c.request.Graph.Has(id) || seen[id.Key()] {
			continue
		}
		seen[id.Key()] = true
		if c.isOthers(id) {
			delete(c.inventory, id.Key())
			continue
		}
		out = append(out, id)
	}
	return sortByRank(out)
}

func (c *convergence) isOthers(id arm.ID) bool {
	return c.request.IsOthers != nil && c.request.IsOthers(id)
}

// pruneResource deletes a resource that is no longer planned. Resources that are gone or foreign get no result.
func (c *convergence) pruneResource(id arm.ID, all []arm.ID) {
	key := id.Key()
	if result, ok := c.results[key]; ok && (result.State == arm.Gone || result.State == arm.Foreign) {
		return
	}
	var before arm.ID
	for _, other := range all {
		if other.IsWithin(id) && !other.Equal(id) && c.results[other.Key()].State != arm.Gone {
			before = other
		}
	}
	c.removeResource(func() *task {
		t := c.newTask(id)
		if t.blocker = before; before == "" {
			t.blocker = c.successorUnderWay(id)
		}
		return t
	})
}

// successorUnderWay returns a resource of the graph that may replace id and is still being created or updated, "" if there is none: a
// new peering, record or rule has to be in place before the old one is deleted. A failed successor does not count, because the old
// resource may be the one that it conflicts with.
func (c *convergence) successorUnderWay(id arm.ID) arm.ID {
	for _, node := range c.nodes {
		if !strings.EqualFold(node.ID.Type(), id.Type()) || node.Policy == arm.Observe {
			continue
		}
		result := c.results[node.ID.Key()]
		if result.State == arm.Blocked {
			result = c.results[result.BlockedBy.Key()]
		}
		switch result.State {
		case arm.Creating, arm.Updating, arm.Waiting:
			if result.Err == nil && node.Blocked == "" {
				return node.ID
			}
		}
	}
	return ""
}

// removeResource decides about a resource to delete and executes the decision. newTask is called again when the resource was read again.
func (c *convergence) removeResource(newTask func() *task) {
	for {
		t := newTask()
		t.removing = true
		if t.owned && !c.isRemovable(t.id, t.node) {
			// Its owner may be gone, as the VM of a role assignment whose VM was deleted in Azure: the inventory alone is no proof.
			t.owned, t.unclaimed = false, t.otherOwnerTag == "" && !c.referencesOtherOwner(t.id, t.row)
			t.ownershipErr = c.ownershipError(t)
		}
		if t.node != nil && t.node.Foreign == arm.AdoptForeign && c.request.DeleteAdopted && t.otherOwnerTag == "" {
			t.owned = true
		}
		t.retryAfter, t.failure = c.engine.states.get(t.id.Key()).retry.failureOf(deletionHash, c.engine.clock.Now())
		if c.decideAndExecute(t) {
			return
		}
	}
}
