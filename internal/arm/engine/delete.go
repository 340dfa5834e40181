package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Delete takes one step towards the deletion of the graph's resources, dependants first. It deletes only owned resources. A resource
// that is gone already, alone or with its parent, counts as deleted. The deletion is complete when Outcome.IsDeleted returns true.
//
// Resources that Azure deletes with their parent are not deleted one by one. With Request.DeleteWholeGroups, an owned resource group of
// the graph without resources of another cluster is deleted as a whole, after the resources outside of it that depend on it. If the
// group in turn depends on those, as with a network in a group of its own and load balancers in its subnets, its resources are deleted
// one by one first. Any other group is kept: its result is Foreign.
func (e *Engine) Delete(ctx context.Context, request Request) (arm.Outcome, error) {
	c, err := e.newConvergence(ctx, request)
	if err != nil {
		return arm.Outcome{}, err
	}
	d := newDeletion(c)
	for _, node := range c.nodes {
		if node.Policy == arm.Observe {
			c.setResult(arm.Result{ID: node.ID, Group: node.Group, State: arm.Foreign}, 0)
			continue
		}
		if c.isOthers(node.ID) {
			delete(c.inventory, node.ID.Key())
			c.setResult(arm.Result{ID: node.ID, Group: node.Group, State: arm.Foreign, Message: "kept: another object of the cluster has it, too"}, 0)
			continue
		}
		d.targets = append(d.targets, node.ID)
	}
	extra := c.resourcesToPrune()
	if request.DeleteWholeGroups {
		extra = append(extra, d.decideGroups()...)
	}
	for _, id := range sortByRank(extra) {
		if !slices.ContainsFunc(d.extras, id.Equal) {
			d.retryNow(id)
			d.extras = append(d.extras, id)
		}
	}
	slices.Reverse(d.targets)
	d.targets = append(d.targets, d.extras...)

	c.evaluateUntilAnswered(d.resourcesToRead, func() {
		for _, id := range d.targets {
			d.removeTarget(id)
		}
	})
	if err := ctx.Err(); err != nil {
		return arm.Outcome{}, err
	}
	var order []arm.ID
	for _, node := range request.Graph.Nodes() {
		order = append(order, node.ID)
	}
	return c.buildOutcome(append(order, d.extras...)), nil
}

// deletion is one call of Delete.
type deletion struct {
	*convergence
	targets []arm.ID
	extras  []arm.ID
	// wholeGroups holds the keys of resource groups deleted as a whole, emptiedGroups of those whose resources are deleted first,
	// groupErrs the errors of those that could not be listed.
	wholeGroups, emptiedGroups map[string]bool
	groupErrs                  map[string]error
}

func newDeletion(c *convergence) *deletion {
	return &deletion{convergence: c, wholeGroups: map[string]bool{}, emptiedGroups: map[string]bool{}, groupErrs: map[string]error{}}
}

// decideGroups decides about all resource groups of the graph. It returns the tagged resources in groups that are kept or emptied
// first.
func (d *deletion) decideGroups() []arm.ID {
	var extra []arm.ID
	within := map[string][]arm.ID{}
	for _, node := range d.nodes {
		if node.ID.Type() != types.ResourceGroup || node.Policy == arm.Observe || d.isOthers(node.ID) {
			continue
		}
		key, s, ours := node.ID.Key(), groupSituation{}, []arm.ID(nil)
		if op := d.engine.operate.FindOperation(key); op != nil {
			s.running = op.State
		}
		decision := decideGroup(s)
		if decision == groupAbsent {
			d.found[key] = d.engine.reader.Read(d.ctx, d.request.Client, []arm.ID{node.ID}, d.engine.maxReadAge(d.request.BypassCache),
				d.request.Read)[key]
			s.found, s.owned = d.found[key], d.isOwned(node.ID)
			decision = decideGroup(s)
		}
		if decision == groupUnlisted {
			s.listed = true
			ours, s.hasForeign, s.listErr = d.listGroup(node.ID)
			s.hasForeign = s.hasForeign || otherOwnerTagIn(s.found.Head().Tags, d.request.Owner) != ""
			decision = decideGroup(s)
		}
		switch decision {
		case groupDeletedWhole:
			d.wholeGroups[key] = true
			switch {
			case s.listErr != nil:
				d.groupErrs[key] = s.listErr
			case s.listed:
				within[key] = ours
			}
		case groupUnreadable:
			d.wholeGroups[key], d.groupErrs[key] = true, s.found.Err
		case groupKept:
			extra = append(extra, ours...)
		}
	}
	for key, ours := range within {
		if d.hasGroupCycle(key) {
			d.emptiedGroups[key] = true
			extra = append(extra, ours...)
		}
	}
	return extra
}

// hasGroupCycle reports whether a group that is deleted as a whole waits for a resource that waits for the group.
func (d *deletion) hasGroupCycle(group string) bool {
	unit := func(id arm.ID) string {
		if key := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()).Key(); d.wholeGroups[key] {
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

// deletesContents reports whether the deletion of a group deletes the resources in it.
func (d *deletion) deletesContents(group arm.ID) bool {
	return d.wholeGroups[group.Key()] && !d.emptiedGroups[group.Key()]
}

// listGroup lists the resources of a group that carry the cluster's tag and are not in the graph. others is true if any resource has
// another cluster's tag.
func (d *deletion) listGroup(group arm.ID) (ours []arm.ID, others bool, err error) {
	items, err := d.request.Client.List(d.ctx, string(group)+"/resources", types.ResourcesAPIVersion, nil)
	if err != nil {
		return nil, false, err
	}
	for _, item := range items {
		var resource struct {
			ID   arm.ID            `json:"id"`
			Tags map[string]string `json:"tags"`
		}
		if err := json.Unmarshal(item, &resource); err != nil || resource.ID == "" {
			// It may be another cluster's.
			return nil, false, &arm.Error{Method: "GET", ID: group, Code: client.CodeInvalidAnswer,
				Message: "the list of the resources of the group has an element without an ID or with other tags than texts"}
		}
		others = others || otherOwnerTagIn(resource.Tags, d.request.Owner) != ""
		row, err := types.ForID(resource.ID)
		if err == nil && !row.DeletedWithParent && tagsProveOwner(resource.Tags, d.request.Owner) && !d.request.Graph.Has(resource.ID) {
			ours = append(ours, resource.ID)
		}
	}
	return ours, others, nil
}

func (d *deletion) resourcesToRead() []arm.ID {
	var ids []arm.ID
	for _, id := range d.targets {
		if group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()); !d.deletesContents(group) || group.Equal(id) {
			ids = append(ids, id)
		}
	}
	return d.convergence.resourcesToRead(ids, true)
}

// deletedWith returns the resource whose deletion includes id: its group, its parent, or id itself.
func (d *deletion) deletedWith(id arm.ID) arm.ID {
	if group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()); d.deletesContents(group) {
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
	op := d.engine.operate.FindOperation(parent.Key())
	state := d.results[parent.Key()].State
	if state == arm.Gone || state == arm.Deleting || op != nil && op.State == arm.Deleting || state != arm.Foreign && d.isOwned(parent) {
		return d.deletedWith(parent)
	}
	return id
}

// removeTarget decides about one target and executes the decision.
func (d *deletion) removeTarget(id arm.ID) {
	before := d.results[id.Key()].State
	if before == arm.Gone || before == arm.Foreign {
		return
	}
	d.convergence.removeResource(func() *task {
		t := d.newTask(id)
		if into := d.deletedWith(id); !into.Equal(id) {
			t.deletedWith, t.deletedWithGone = into, d.results[into.Key()].State == arm.Gone
		} else {
			t.blocker = d.blockingDependant(id)
		}
		if id.Type() == types.ResourceGroup {
			t.groupKept, t.groupErr = !d.wholeGroups[id.Key()], d.groupErrs[id.Key()]
			t.sameErrorAs = d.earlierSameError(id, cmp.Or(t.groupErr, t.found.Err))
		}
		return t
	})
	if d.results[id.Key()].State == arm.Gone {
		delete(d.inventory, id.Key())
		// Resources that waited for it can be deleted in this convergence.
		d.notifyChange()
	}
}

// blockingDependant returns a resource that has to be deleted before id, "" if there is none.
func (d *deletion) blockingDependant(id arm.ID) arm.ID {
	exists := func(other arm.ID) bool {
		state := d.results[other.Key()].State
		return state != arm.Gone && state != arm.Foreign
	}
	if slices.Contains(d.extras, id) {
		for _, other := range d.extras {
			if deleteRank(other) < deleteRank(id) && exists(other) {
				return other
			}
		}
		return ""
	}
	for _, node := range d.nodes {
		if node.Policy == arm.Observe || !exists(node.ID) {
			continue
		}
		unit := d.deletedWith(node.ID)
		if unit.Equal(id) {
			continue
		}
		for _, dependency := range d.request.Graph.Dependencies(node) {
			if d.deletedWith(dependency.ID).Equal(id) {
				return unit
			}
		}
	}
	return ""
}

func deleteRank(id arm.ID) int {
	row, err := types.ForID(id)
	if err != nil {
		return 0
	}
	return row.DeleteRank
}

func sortByRank(ids []arm.ID) []arm.ID {
	slices.SortStableFunc(ids, func(a, b arm.ID) int { return deleteRank(a) - deleteRank(b) })
	return ids
}
