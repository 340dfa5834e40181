package engine

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// Converge takes one step towards the graph: it reads the resources, starts every write that is ready, and returns. The error is set
// only for an invalid graph or a cancelled context; refusals of Azure are in the outcome.
//
// A node below a foreign parent that cannot carry a tag is created only if its ID is in Request.Inventory. The convergence that finds
// it missing returns the ID in Outcome.Inventory. The caller stores it before the next call, so a crash in between leaves no unrecorded
// resource.
func (e *Engine) Converge(ctx context.Context, request Request) (arm.Outcome, error) {
	p, err := e.newConvergence(ctx, request)
	if err != nil {
		return arm.Outcome{}, err
	}
	p.reusesReads = true
	for _, node := range p.nodes {
		delete(p.migrated, node.ID.Key())
	}
	prune := p.resourcesToPrune()
	p.evaluateUntilAnswered(func() []arm.ID { return p.resourcesToRead(prune, false) }, func() {
		for _, node := range p.nodes {
			if !p.results[node.ID.Key()].IsDone() {
				p.convergeNode(node)
			}
		}
		for _, id := range prune {
			p.pruneResource(id, prune)
		}
	})
	if err := ctx.Err(); err != nil {
		return arm.Outcome{}, err
	}
	p.setPollingDeadlines()
	var order []arm.ID
	for _, node := range request.Graph.Nodes() {
		order = append(order, node.ID)
	}
	for _, id := range prune {
		switch p.results[id.Key()].State {
		case arm.Gone:
			delete(p.inventory, id.Key())
		case arm.Foreign:
			if _, listed := p.inventory[id.Key()]; listed {
				delete(p.inventory, id.Key())
				p.ignored[id.Key()] = id
			}
		default:
			order = append(order, id)
		}
	}
	return p.buildOutcome(order), nil
}

// resourcesToRead lists the resources to read: nodes, the ancestors that decide their ownership, and resources to prune. It leaves out
// resources in place and those with a running operation of this engine, unless they have to be deleted.
func (p *convergence) resourcesToRead(extra []arm.ID, deleting bool) []arm.ID {
	var out []arm.ID
	add := func(id arm.ID, goes bool) {
		result, known := p.results[id.Key()]
		if known && (result.IsDone() || result.State == arm.Gone) {
			return
		}
		if op := p.engine.operate.FindOperation(id.Key()); op != nil && (!goes || op.State == arm.Deleting) {
			return
		}
		out = append(out, id)
		for _, ancestor := range p.owningAncestors(id) {
			if _, known := p.found[ancestor.Key()]; !known {
				out = append(out, ancestor)
			}
		}
	}
	var held map[string]arm.ID
	if !deleting {
		held = p.nodesAwaitingQuota()
	}
	for _, node := range p.nodes {
		switch {
		case deleting || node.Blocked != "" || node.Refused != "" || p.isMakerMissing(node):
		case held[node.ID.Key()] != "":
			p.assumeAbsent(node.ID)
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
func (p *convergence) isMakerMissing(node *arm.Node) bool {
	if node.Policy != arm.TagOnly || p.request.BypassCache {
		return false
	}
	blocker := p.blockingDependency(node)
	maker := p.results[blocker.Key()]
	// A resource that is being updated or has failed exists.
	return blocker != "" && maker.State != arm.Updating && (len(maker.Observed) == 0 || maker.State == arm.Creating)
}

// convergeNode decides about one node and executes the decision.
func (p *convergence) convergeNode(node *arm.Node) {
	w := p.newTask(node.ID)
	// A resource that Azure creates along with an owned one is owned, even if Azure did not copy the tags.
	w.owned = w.owned || node.Policy == arm.TagOnly
	w.blocker, w.makerMissing = p.blockingDependency(node), p.isMakerMissing(node)
	for _, maker := range p.request.Graph.Dependencies(node) {
		if made := p.results[maker.ID.Key()]; !made.IsDone() {
			w.createdWith, w.makerReadFailed = maker.ID, made.ReadFailed
			break
		}
	}
	p.decideAndExecute(w)
	if w.found.WasRead() && w.found.Err == nil && w.op == nil {
		p.engine.states.setAbsent(node.ID.Key(), !w.found.Exists)
	}
}

// filterDifferences returns the differences without those that the request ignores.
func (p *convergence) filterDifferences(id arm.ID, owned bool, differences []compare.Difference) []compare.Difference {
	if owned {
		// Resources created before the owner tag existed get it with another write, never with a write of its own.
		differences = slices.DeleteFunc(differences, func(d compare.Difference) bool { return strings.EqualFold(d.Path, "tags."+p.request.Owner.IDKey) })
	}
	if p.request.IgnoreDifference == nil || !owned {
		return differences
	}
	return slices.DeleteFunc(differences, func(d compare.Difference) bool { return p.request.IgnoreDifference(id, d.Path, d.Want, d.Have) })
}

// isNormalization reports whether the differences are Azure's normalisation of an earlier PUT. It logs those that are new.
func (p *convergence) isNormalization(key, hash string, differences []compare.Difference, found observe.Observation) bool {
	if len(differences) == 0 {
		if !found.FromWrite {
			p.engine.states.recordMatch(key, hash)
		}
		return false
	}
	remains, first := p.engine.states.isNormalization(key, hash, differences, found.FromWrite)
	if first {
		p.engine.logNormalized(found.ID, differences)
	}
	return remains
}

func (e *Engine) logNormalized(id arm.ID, differences []compare.Difference) {
	if len(differences) > 0 && e.options.Hooks.OnNormalized != nil {
		e.options.Hooks.OnNormalized(id, len(differences))
	}
	for _, difference := range differences {
		e.log.Info("Azure keeps a value other than the one sent; it is not sent again", "resource", id, "path", difference.Path, "sent", difference.Want, "kept", difference.Have)
	}
}

// blockingDependency returns the first unfinished dependency of node, or the root cause if that one is blocked itself; "" if there is
// none.
func (p *convergence) blockingDependency(node *arm.Node) arm.ID {
	for _, dependency := range p.request.Graph.Dependencies(node) {
		result := p.results[dependency.ID.Key()]
		switch {
		case result.IsDone():
		case result.State == arm.Blocked && result.BlockedBy != "":
			return result.BlockedBy
		default:
			return dependency.ID
		}
	}
	return ""
}

// resourcesToPrune lists resources of the inventory and of Request.Prune that are not in the graph, in the order of deletion.
func (p *convergence) resourcesToPrune() []arm.ID {
	var out []arm.ID
	seen := map[string]bool{}
	for _, id := range append(sortedIDs(p.inventory), p.request.Prune...) {
		if !p.request.Graph.Has(id) && !seen[id.Key()] {
			seen[id.Key()] = true
			out = append(out, id)
		}
	}
	return sortByRank(out)
}

// pruneResource deletes a resource that is no longer planned. Resources that are gone or foreign get no result.
func (p *convergence) pruneResource(id arm.ID, all []arm.ID) {
	key := id.Key()
	if result, ok := p.results[key]; ok && (result.State == arm.Gone || result.State == arm.Foreign) {
		return
	}
	var before arm.ID
	for _, other := range all {
		if other.IsWithin(id) && !other.Equal(id) && p.results[other.Key()].State != arm.Gone {
			before = other
		}
	}
	w := p.newTask(id)
	if w.blocker = before; before == "" {
		w.blocker = p.successorUnderWay(id)
	}
	p.removeResource(w)
}

// successorUnderWay returns a resource of the graph that may replace id and is still being created or updated, "" if there is none: a
// new peering, record or rule has to be in place before the old one is deleted. A failed successor does not count, because the old
// resource may be the one that it conflicts with.
func (p *convergence) successorUnderWay(id arm.ID) arm.ID {
	for _, node := range p.nodes {
		if !strings.EqualFold(node.ID.Type(), id.Type()) || node.Policy == arm.Observe {
			continue
		}
		result := p.results[node.ID.Key()]
		if result.State == arm.Blocked {
			result = p.results[result.BlockedBy.Key()]
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

// removeResource decides about a resource to delete and executes the decision.
func (p *convergence) removeResource(w *task) {
	w.removing = true
	w.owned = w.owned && p.isRemovable(w.id, w.node)
	if w.node != nil && w.node.Foreign == arm.AdoptForeign && p.request.DeleteAdopted && w.otherOwnerTag == "" {
		w.owned = true
	}
	w.retryAfter, w.failure = p.engine.states.failureOf(w.id.Key(), deletionHash)
	p.decideAndExecute(w)
}
