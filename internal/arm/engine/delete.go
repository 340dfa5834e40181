package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Delete does one pass of deleting the graph's resources, dependants first. Only owned resources are deleted; what is
// gone already, also because its parent is, counts as deleted. The deletion is complete when Outcome.Deleted is true.
//
// Resources that go with their parent are not deleted one by one. With Request.WholeGroups, an owned resource group of
// the graph without resources of another cluster goes as a whole, after what lies outside of it and depends on it. Where it
// depends on that, too, as the network in a group of its own and the load balancers in its subnets do, its resources go one
// by one before it. Any other group stays: its result is Foreign.
func (e *Engine) Delete(ctx context.Context, request Request) (arm.Outcome, error) {
	p, err := e.newPass(ctx, request)
	if err != nil {
		return arm.Outcome{}, err
	}
	d := newDeletion(p)
	for _, node := range p.nodes {
		if node.Policy == arm.Observe {
			p.set(arm.Result{ID: node.ID, Group: node.Group, State: arm.Foreign}, 0)
			continue
		}
		d.targets = append(d.targets, node.ID)
	}
	extra := p.pruned()
	if request.WholeGroups {
		extra = append(extra, d.groups()...)
	}
	for _, id := range byRank(extra) {
		if !slices.ContainsFunc(d.extra, id.Equal) {
			d.hasten(id)
			d.extra = append(d.extra, id)
		}
	}
	slices.Reverse(d.targets)
	d.targets = append(d.targets, d.extra...)

	p.run(d.toObserve, func() {
		for _, id := range d.targets {
			d.remove(id)
		}
	})
	if err := ctx.Err(); err != nil {
		return arm.Outcome{}, err
	}
	var order []arm.ID
	for _, node := range request.Graph.Nodes() {
		order = append(order, node.ID)
	}
	return p.outcome(append(order, d.extra...)), nil
}

// deletion is one call of Delete.
type deletion struct {
	*pass
	targets []arm.ID
	extra   []arm.ID
	// whole are the keys of resource groups that go as a whole, unsure those of which it could not be found out, and
	// piecewise those whose resources have to go before.
	whole, piecewise map[string]bool
	unsure           map[string]error
}

func newDeletion(p *pass) *deletion {
	return &deletion{pass: p, whole: map[string]bool{}, piecewise: map[string]bool{}, unsure: map[string]error{}}
}

// groups finds out which resource groups go as a whole, and lists what carries the cluster's tag in the others.
func (d *deletion) groups() []arm.ID {
	var extra []arm.ID
	within := map[string][]arm.ID{}
	for _, node := range d.nodes {
		if node.ID.Type() != types.ResourceGroup || node.Policy == arm.Observe {
			continue
		}
		key, s, ours := node.ID.Key(), groupSituation{}, []arm.ID(nil)
		if op := d.engine.operate.Find(key); op != nil {
			s.under = op.State
		}
		decision := decideGroup(s)
		if decision == absent {
			d.found[key] = d.engine.reader.Read(d.ctx, d.request.Client, []arm.ID{node.ID}, d.engine.maxAge(d.request.Fresh))[key]
			s.found, s.owned = d.found[key], d.owned(node.ID)
			decision = decideGroup(s)
		}
		if decision == unlisted {
			s.listed = true
			ours, s.others, s.unsure = d.inGroup(node.ID)
			s.others = s.others || rivalOf(observe.HeadOf(s.found.Body).Tags, d.request.Owner) != ""
			decision = decideGroup(s)
		}
		switch decision {
		case whole:
			d.whole[key] = true
			switch {
			case s.unsure != nil:
				d.unsure[key] = s.unsure
			case s.listed:
				within[key] = ours
			}
		case unclear:
			d.whole[key], d.unsure[key] = true, s.found.Err
		case stays:
			extra = append(extra, ours...)
		}
	}
	for key, ours := range within {
		if d.entangled(key) {
			d.piecewise[key] = true
			extra = append(extra, ours...)
		}
	}
	return extra
}

// entangled tells whether a group that could go as a whole waits for something that waits for it.
func (d *deletion) entangled(group string) bool {
	unit := func(id arm.ID) string {
		if key := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()).Key(); d.whole[key] {
			return key
		}
		return id.Key()
	}
	before := map[string][]string{}
	for _, node := range d.nodes {
		if node.Policy == arm.Observe {
			continue
		}
		for _, dependency := range d.request.Graph.Dependencies(node) {
			if from, to := unit(node.ID), unit(dependency.ID); from != to && dependency.Policy != arm.Observe {
				before[from] = append(before[from], to)
			}
		}
	}
	seen := map[string]bool{}
	for next := slices.Clone(before[group]); len(next) > 0; next = next[1:] {
		if next[0] == group {
			return true
		}
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, before[next[0]]...)
		}
	}
	return false
}

// takes tells whether the deletion of a group takes what is in it along.
func (d *deletion) takes(group arm.ID) bool { return d.whole[group.Key()] && !d.piecewise[group.Key()] }

// inGroup lists what in a group carries the cluster's tag and is not in the graph, and tells whether anything carries
// another cluster's.
func (d *deletion) inGroup(group arm.ID) (ours []arm.ID, others bool, err error) {
	items, err := d.request.Client.List(d.ctx, string(group)+"/resources", types.ResourcesAPIVersion, nil)
	if err != nil {
		return nil, false, err
	}
	for _, item := range items {
		var resource struct {
			ID   arm.ID            `json:"id"`
			Tags map[string]string `json:"tags"`
		}
		if json.Unmarshal(item, &resource) != nil {
			continue
		}
		others = others || rivalOf(resource.Tags, d.request.Owner) != ""
		row, err := types.ForID(resource.ID)
		if err == nil && !row.DeletedWithParent && proves(resource.Tags, d.request.Owner) && !d.request.Graph.Has(resource.ID) {
			ours = append(ours, resource.ID)
		}
	}
	return ours, others, nil
}

func (d *deletion) toObserve() []arm.ID {
	var ids []arm.ID
	for _, id := range d.targets {
		if group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()); !d.takes(group) || group.Equal(id) {
			ids = append(ids, id)
		}
	}
	return d.pass.toObserve(ids, true)
}

// fold is the resource whose deletion takes id with it: its group, its parent, or itself.
func (d *deletion) fold(id arm.ID) arm.ID {
	if group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()); d.takes(group) {
		return group
	}
	row, err := types.ForID(id)
	if err != nil || !row.DeletedWithParent {
		return id
	}
	parent := id.Parent()
	if !slices.ContainsFunc(d.targets, parent.Equal) {
		return id
	}
	op := d.engine.operate.Find(parent.Key())
	state := d.results[parent.Key()].State
	if state == arm.Gone || state == arm.Deleting || op != nil && op.State == arm.Deleting || state != arm.Foreign && d.owned(parent) {
		return d.fold(parent)
	}
	return id
}

// remove decides about one target and does it.
func (d *deletion) remove(id arm.ID) {
	before := d.results[id.Key()].State
	if before == arm.Gone || before == arm.Foreign {
		return
	}
	w := d.look(id)
	if into := d.fold(id); !into.Equal(id) {
		w.carrier, w.carrierGone = into, d.results[into.Key()].State == arm.Gone
	} else {
		w.blocker = d.blocker(id)
	}
	if id.Type() == types.ResourceGroup {
		w.stays, w.unsure = !d.whole[id.Key()], d.unsure[id.Key()]
		w.same = d.sameError(id, cmp.Or(w.unsure, w.found.Err))
	}
	d.pass.remove(w)
	if d.results[id.Key()].State == arm.Gone {
		delete(d.inventory, id.Key())
		// What waited for it can go in this pass.
		d.signal()
	}
}

// blocker is something that has to go before id, or "".
func (d *deletion) blocker(id arm.ID) arm.ID {
	standing := func(other arm.ID) bool {
		state := d.results[other.Key()].State
		return state != arm.Gone && state != arm.Foreign
	}
	if slices.Contains(d.extra, id) {
		for _, other := range d.extra {
			if rank(other) < rank(id) && standing(other) {
				return other
			}
		}
		return ""
	}
	for _, node := range d.nodes {
		if node.Policy == arm.Observe || !standing(node.ID) {
			continue
		}
		unit := d.fold(node.ID)
		if unit.Equal(id) {
			continue
		}
		for _, dependency := range d.request.Graph.Dependencies(node) {
			if d.fold(dependency.ID).Equal(id) {
				return unit
			}
		}
	}
	return ""
}

func rank(id arm.ID) int {
	row, err := types.ForID(id)
	if err != nil {
		return 0
	}
	return row.DeleteRank
}

func byRank(ids []arm.ID) []arm.ID {
	slices.SortStableFunc(ids, func(a, b arm.ID) int { return rank(a) - rank(b) })
	return ids
}
