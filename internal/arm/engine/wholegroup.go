package engine

import (
	"context"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DeletesGroupWhole reports whether a deletion with Request.DeleteWholeGroups deletes the resource group as a whole, or whether the
// group is gone already. Its resources need no deletion of their own then. The request's graph does not matter. The error is set if the
// group could not be read. Requests within the freshness window share one answer, except those with BypassCache.
func (e *Engine) DeletesGroupWhole(ctx context.Context, request Request, group arm.ID) (bool, error) {
	if request.BypassCache || request.RetryNow {
		return e.decideGroupDeletion(ctx, request, group)
	}
	key := request.Client.CacheScope() + "|" + request.Owner.TagKey + "|" + request.Owner.ID + "|" + group.Key()
	return e.wholeGroups.Fetch(ctx, key, func(ctx context.Context) (bool, error) { return e.decideGroupDeletion(ctx, request, group) })
}

func (e *Engine) decideGroupDeletion(ctx context.Context, request Request, group arm.ID) (bool, error) {
	request.Graph = &arm.Graph{}
	request.Graph.Add(arm.Node{ID: group, Policy: arm.Repair})
	c, err := e.newConvergence(ctx, request)
	if err != nil {
		return false, err
	}
	d := newDeletion(c)
	d.decideGroups()
	if err := d.groupErrs[group.Key()]; err != nil {
		return false, err
	}
	if d.wholeGroups[group.Key()] {
		return true, nil
	}
	found := c.found[group.Key()]
	return found.ID != "" && found.Err == nil && !found.Exists, found.Err
}
