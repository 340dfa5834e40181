package engine

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Converge does one pass towards the graph: it observes, starts everything that is ready, and returns. The error is set
// only for an invalid graph or a cancelled context; what Azure refuses is in the outcome.
//
// A node below a foreign parent that cannot carry a tag is created only once its ID is in Request.Inventory: the pass
// that finds it missing returns it in Outcome.Inventory, so that the caller stores it first and nothing is lost when the
// process dies in between.
func (e *Engine) Converge(ctx context.Context, request Request) (arm.Outcome, error) {
	p, err := e.newPass(ctx, request)
	if err != nil {
		return arm.Outcome{}, err
	}
	p.patient = true
	prune := p.pruned()
	p.run(func() []arm.ID { return p.toObserve(prune, false) }, func() {
		for _, node := range p.nodes {
			if !p.results[node.ID.Key()].Done() {
				p.converge(node)
			}
		}
		for _, id := range prune {
			p.prune(id, prune)
		}
	})
	if err := ctx.Err(); err != nil {
		return arm.Outcome{}, err
	}
	var order []arm.ID
	for _, node := range request.Graph.Nodes() {
		order = append(order, node.ID)
	}
	for _, id := range prune {
		switch p.results[id.Key()].State {
		case arm.Gone:
			delete(p.inventory, id.Key())
		case arm.Foreign:
		default:
			order = append(order, id)
		}
	}
	return p.outcome(order), nil
}

// toObserve lists what the pass has to know: nodes, what decides who owns them, and what is to be pruned. What an
// operation of ours is under way for, or what is in place, is not asked for again.
func (p *pass) toObserve(extra []arm.ID, deleting bool) []arm.ID {
	var out []arm.ID
	add := func(id arm.ID) {
		result, known := p.results[id.Key()]
		if known && (result.Done() || result.State == arm.Gone) {
			return
		}
		if op := p.engine.registry.find(id.Key()); op != nil && op.state == arm.Deleting || op != nil && !deleting {
			return
		}
		out = append(out, id)
		for _, ancestor := range ancestors(id) {
			if _, known := p.found[ancestor.Key()]; !known {
				out = append(out, ancestor)
			}
		}
	}
	for _, node := range p.nodes {
		if !deleting && node.Blocked == "" && node.Refused == "" && !p.unmade(node) {
			add(node.ID)
		}
	}
	for _, id := range extra {
		add(id)
	}
	return out
}

// unmade tells whether a node is made together with another one that is not there yet, as far as is known: asking for it
// tells nothing. A fresh pass asks for everything, all at once.
func (p *pass) unmade(node *arm.Node) bool {
	if node.Policy != arm.TagOnly || p.request.Fresh {
		return false
	}
	blocker := p.blocker(node)
	maker := p.results[blocker.Key()]
	// One that is being changed, or that failed, has been made.
	return blocker != "" && maker.State != arm.Updating && (len(maker.Observed) == 0 || maker.State == arm.Creating)
}

// comesWith reports a node that Azure makes together with one that is not in place.
func (p *pass) comesWith(node *arm.Node, result arm.Result) {
	result.State, result.BlockedBy = arm.Blocked, p.blocker(node)
	for _, maker := range p.request.Graph.Dependencies(node) {
		if made := p.results[maker.ID.Key()]; !made.Done() {
			result.Message, result.Unseen = "is made with "+maker.ID.Short(), made.Unseen
			break
		}
	}
	p.set(result, 0)
}

// converge decides about one node and does it.
func (p *pass) converge(node *arm.Node) {
	key := node.ID.Key()
	result := arm.Result{ID: node.ID, Group: node.Group, Drift: p.results[key].Drift}
	found := p.found[key]
	result.Observed = found.Body
	// What Azure made together with a resource of ours is ours, whether Azure gave it the tags or not.
	result.Owned = found.Exists && (p.owned(node.ID) || node.Policy == arm.TagOnly)
	if found.Exists && !result.Owned && node.Foreign == arm.AdoptForeign {
		p.engine.news.add(p.request.Object, arm.Change{ID: node.ID, What: arm.Adopted})
		p.inventory[key] = node.ID
		result.Owned = true
	}

	if node.Refused != "" {
		result.State, result.Err = arm.Failed, arm.Refusal(node.Refused)
		p.set(result, 10*time.Minute)
		return
	}
	if node.Blocked != "" {
		result.State, result.Message = arm.Waiting, node.Blocked
		p.set(result, 30*time.Second)
		return
	}
	if op := p.engine.registry.find(key); op != nil && op.await(p.request.Object, p.signal) {
		result.State = op.state
		if err := p.engine.memory.last(key); err != nil {
			result.Message = "is tried again after: " + err.Error()
		}
		p.set(result, safety)
		return
	}
	if found.ID == "" && p.unmade(node) {
		p.comesWith(node, result)
		return
	}
	if found.ID == "" || p.engine.cache.changedSince(node.ID, found.count) {
		// An operation ended after the last look; there is another round. What was seen before it is not what it left.
		p.signal()
		result.State = arm.Waiting
		p.set(result, time.Second)
		return
	}
	if found.Err != nil {
		p.unreadable(node, result, found.Err)
		return
	}
	row, err := types.Of(node.ID)
	if err != nil {
		result.State, result.Err = arm.Failed, err
		p.set(result, 10*time.Minute)
		return
	}
	p.engine.memory.clear(key + readSuffix)
	p.act(node, row, found, result)
}

func (p *pass) act(node *arm.Node, row types.Type, found observation, result arm.Result) {
	e, key := p.engine, node.ID.Key()
	s := situation{node: node, found: found.Observed, owned: result.Owned, owner: p.request.Owner}
	want, err := wantOf(node, row)
	if err != nil {
		result.State, result.Err = arm.Failed, err
		p.set(result, 10*time.Minute)
		return
	}
	hash := hashOf(want)
	var body any
	if !found.Exists {
		e.memory.missing(key)
	} else {
		if body, err = compare.Decode(found.Body); err != nil {
			p.unreadable(node, result, &arm.Error{Method: "GET", ID: node.ID, Code: "InvalidAnswer", Message: err.Error()})
			return
		}
		if node.Body != nil {
			s.differences = p.unsettled(node.ID, s.owned, compare.Diff(want, body))
		}
	}
	wait, failure := e.memory.failed(key, hash)
	s.failure = failure
	if doing, failed := provisioning(headOf(found.Body).Properties.ProvisioningState); found.Exists && doing == "" && !failed {
		s.remains = p.remains(key, hash, s.differences, found)
		if s.owned && (node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly) {
			var normalised []compare.Difference
			if s.origin, normalised = e.memory.origin(key, want, body, s.differences, found.fromWrite); !s.remains {
				e.logResidual(node.ID, normalised)
			}
			result.Outside, result.Unapplied = s.origin.outside, s.origin.unapplied
		}
	} else if failed && keepsFailed(node) && s.owned {
		if s.failure = e.memory.last(key); s.failure == nil {
			s.failure = e.whyFailed(p.ctx, p.request.Client, found.Observed, row)
			e.memory.fail(key, hash, s.failure)
		}
	}
	d := decide(s)
	if !found.Exists && node.Policy == arm.TagOnly && p.blocker(node) != "" {
		p.comesWith(node, result)
		return
	}
	switch {
	case d.follow != "":
		e.follow(p.request.Client, node.ID, d.follow, p.request.Object, p.signal)
		result.State = d.follow
		p.set(result, safety)
		return
	case d.write == "":
		result.State, result.Err, result.Message = d.state, d.err, d.message
		result.Drift = append(result.Drift, d.drift...)
		if result.Done() {
			if found.Exists && s.owned {
				e.memory.aligned(key, hash)
			}
			e.memory.clear(key)
			p.set(result, 0)
			return
		}
		if result.Message == "" {
			result.Message = "looked at again every few minutes"
		}
		p.set(result, arm.BackOff(arm.Classify(d.err), 5, e.options.Jitter()))
		return
	}
	if blocker := p.blocker(node); blocker != "" {
		result.State, result.BlockedBy = arm.Blocked, blocker
		p.set(result, 0)
		return
	}
	if wait > 0 {
		result.State, result.Err, result.Message = stateOf(failure), failure, arm.Outlook(failure)
		p.set(result, wait)
		return
	}
	p.write(node, want, hash, body, found, d, result)
}

// unsettled are the differences of a resource but for those that the request leaves.
func (p *pass) unsettled(id arm.ID, owned bool, differences []compare.Difference) []compare.Difference {
	if p.request.Leave == nil || !owned {
		return differences
	}
	return slices.DeleteFunc(differences, func(d compare.Difference) bool { return p.request.Leave(id, d.Path, d.Want, d.Have) })
}

// remains tells whether differences are Azure's normalisation of what was PUT before, and logs those it sees first.
func (p *pass) remains(key, hash string, differences []compare.Difference, found observation) bool {
	if len(differences) == 0 {
		if !found.fromWrite {
			p.engine.memory.judge(key, hash)
		}
		return false
	}
	remains, first := p.engine.memory.remains(key, hash, differences, found.fromWrite)
	if first {
		p.engine.logResidual(found.ID, differences)
	}
	return remains
}

func (e *Engine) logResidual(id arm.ID, differences []compare.Difference) {
	for _, difference := range differences {
		e.log.Info("Azure keeps a value other than the one sent; it is not sent again", "resource", id, "path", difference.Path, "sent", difference.Want, "kept", difference.Have)
	}
}

// unreadable reports a node that could not be observed. An error that every request would meet is reported once: the
// other nodes are blocked by the first.
func (p *pass) unreadable(node *arm.Node, result arm.Result, err error) {
	result.Unseen = true
	if ofEveryRequest(err) {
		for _, other := range p.nodes {
			if other.ID == node.ID {
				break
			}
			if before := p.results[other.ID.Key()]; before.Err == err {
				result.State, result.BlockedBy = arm.Blocked, other.ID
				p.set(result, 0)
				return
			}
		}
	}
	key := node.ID.Key() + readSuffix
	p.engine.memory.fail(key, "", err)
	wait, _ := p.engine.memory.failed(key, "")
	result.State, result.Err, result.Message = stateOf(err), err, arm.Outlook(err)
	p.set(result, max(wait, 100*time.Millisecond))
}

// stateOf is the state of a node that failed with err.
func stateOf(err error) arm.State {
	switch arm.Classify(err) {
	case arm.ClassWaiting, arm.ClassRetry:
		return arm.Waiting
	}
	return arm.Failed
}

// blocker is the root of what a node cannot be written before, or "".
func (p *pass) blocker(node *arm.Node) arm.ID {
	for _, dependency := range p.request.Graph.Dependencies(node) {
		result := p.results[dependency.ID.Key()]
		switch {
		case result.Done():
		case result.State == arm.Blocked && result.BlockedBy != "":
			return result.BlockedBy
		default:
			return dependency.ID
		}
	}
	return ""
}

// pruned lists what is in the inventory or to be pruned and not in the graph, in the order of deletion.
func (p *pass) pruned() []arm.ID {
	var out []arm.ID
	seen := map[string]bool{}
	for _, id := range append(append([]arm.ID{}, p.request.Inventory...), p.request.Prune...) {
		if !p.request.Graph.Has(id) && !seen[id.Key()] {
			seen[id.Key()] = true
			out = append(out, id)
		}
	}
	return byRank(out)
}

// prune takes one resource away that is not wanted any more. What is gone or somebody else's has no result.
func (p *pass) prune(id arm.ID, all []arm.ID) {
	key := id.Key()
	if result, ok := p.results[key]; ok && (result.State == arm.Gone || result.State == arm.Foreign) {
		return
	}
	var before arm.ID
	for _, other := range all {
		if other.Within(id) && !other.Equal(id) && p.results[other.Key()].State != arm.Gone {
			before = other
		}
	}
	p.remove(id, "", before)
}
