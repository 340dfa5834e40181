package engine

import (
	"context"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DeletesGroupWhole tells whether a deletion with Request.DeleteWholeGroups takes the resource group as a whole, or the group is
// gone already: what is in it need not be deleted one by one then. The request's graph does not matter. The error is why
// the group could not be looked at. All who ask within the freshness window get one answer, but for a fresh request.
func (e *Engine) DeletesGroupWhole(ctx context.Context, request Request, group arm.ID) (bool, error) {
	if request.BypassCache || request.RetryNow {
		return e.decideGroupDeletion(ctx, request, group)
	}
	key := request.Client.CacheScope() + "|" + request.Owner.TagKey + "|" + request.Owner.ID + "|" + group.Key()
	return e.wholeGroups.findOrAsk(key, func() (bool, error) { return e.decideGroupDeletion(ctx, request, group) })
}

func (e *Engine) decideGroupDeletion(ctx context.Context, request Request, group arm.ID) (bool, error) {
	request.Graph = &arm.Graph{}
	request.Graph.Add(arm.Node{ID: group, Policy: arm.Repair})
	p, err := e.newConvergence(ctx, request)
	if err != nil {
		return false, err
	}
	d := newDeletion(p)
	d.decideGroups()
	if err := d.groupErrs[group.Key()]; err != nil {
		return false, err
	}
	if d.wholeGroups[group.Key()] {
		return true, nil
	}
	found := p.found[group.Key()]
	return found.ID != "" && found.Err == nil && !found.Exists, found.Err
}
