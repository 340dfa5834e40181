package engine

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// Converge does one pass towards the graph: it observes, starts everything that is ready, and returns. The error is set
// only for an invalid graph or a cancelled context; what Azure refuses is in the outcome.
//
// A node below a foreign parent that cannot carry a tag is created only once its ID is in Request.Inventory: the pass
// that finds it missing returns it in Outcome.Inventory, so that the caller stores it first and nothing is lost when the
// process dies in between.
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

// resourcesToRead lists what the pass has to know: nodes, what decides who owns them, and what is to be pruned. What an
// operation of ours is under way for, or what is in place, is not asked for again, but for what is to go in spite of that.
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

// isMakerMissing tells whether a node is made together with another one that is not there yet, as far as is known: asking for it
// tells nothing. A fresh pass asks for everything, all at once.
func (p *convergence) isMakerMissing(node *arm.Node) bool {
	if node.Policy != arm.TagOnly || p.request.BypassCache {
		return false
	}
	blocker := p.blockingDependency(node)
	maker := p.results[blocker.Key()]
	// One that is being changed, or that failed, has been made.
	return blocker != "" && maker.State != arm.Updating && (len(maker.Observed) == 0 || maker.State == arm.Creating)
}

// convergeNode decides about one node and does it.
func (p *convergence) convergeNode(node *arm.Node) {
	w := p.newTask(node.ID)
	// What Azure made together with a resource of ours is ours, whether Azure gave it the tags or not.
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

// filterDifferences are the differences of a resource but for those that the request leaves.
func (p *convergence) filterDifferences(id arm.ID, owned bool, differences []compare.Difference) []compare.Difference {
	if owned {
		// A resource that was made before there was such a tag gets it with another write.
		differences = slices.DeleteFunc(differences, func(d compare.Difference) bool { return strings.EqualFold(d.Path, "tags."+p.request.Owner.IDKey) })
	}
	if p.request.IgnoreDifference == nil || !owned {
		return differences
	}
	return slices.DeleteFunc(differences, func(d compare.Difference) bool { return p.request.IgnoreDifference(id, d.Path, d.Want, d.Have) })
}

// isNormalization tells whether differences are Azure's normalisation of what was PUT before, and logs those it sees first.
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

// blockingDependency is the root of what a node cannot be written before, or "".
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

// resourcesToPrune lists what is in the inventory or to be pruned and not in the graph, in the order of deletion.
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

// pruneResource takes one resource away that is not wanted any more. What is gone or somebody else's has no result.
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

// successorUnderWay returns a resource of the graph that may take the place of id and is still being created or updated, "" if there is
// none: a new peering, record or rule is in place before the old one goes. One that failed is not waited for, because the old one may be
// what it conflicts with.
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

// removeResource decides about a resource that is to go and does it.
func (p *convergence) removeResource(w *task) {
	w.removing = true
	w.owned = w.owned && p.isRemovable(w.id, w.node)
	if w.node != nil && w.node.Foreign == arm.AdoptForeign && p.request.DeleteAdopted && w.otherOwnerTag == "" {
		w.owned = true
	}
	w.retryAfter, w.failure = p.engine.states.failureOf(w.id.Key(), deletionHash)
	p.decideAndExecute(w)
}
