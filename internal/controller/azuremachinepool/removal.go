package azuremachinepool

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// removals are the deletions of VMs that Azure was asked for, by pool. They are memory only: Azure shows VMs that it deletes.
// It is safe for concurrent use.
type removals struct {
	mu sync.Mutex
	of map[string][]removal
}

// removal is one request.
type removal struct {
	action engine.Action
	vms    []arm.ID
}

// unseen tells whether Azure does not show yet that it deletes what it was told to, so that a list is older than that.
func (r *removals) unseen(pool string, vms []pool.Instance) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, sent := range r.of[pool] {
		for _, vm := range vms {
			if !vm.Deleting() && slices.ContainsFunc(sent.vms, vm.ID.Equal) {
				return true
			}
		}
	}
	return false
}

func (r *removals) take(pool string) []removal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.of[pool])
}

func (r *removals) keep(pool string, sent []removal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string][]removal{}
	}
	if len(sent) == 0 {
		delete(r.of, pool)
		return
	}
	r.of[pool] = sent
}

// remove has Azure delete what was decided on, and asks after what was asked for before. It returns whether Azure is at any,
// and why the first that failed did.
func (k *Kind) remove(ctx context.Context, turn pass.Turn, in *input, more bool) (busy bool, failed error) {
	sent := k.removals.take(turn.Name)
	if more {
		sent = append(sent, deletions(in, turn.Name)...)
	}
	var left []removal
	for _, r := range sent {
		switch result := k.Engine.Do(ctx, turn.Access.Client, r.action, turn.Wake); result.State {
		case arm.Ready, arm.Gone:
		case arm.Updating, arm.Deleting:
			left = append(left, r)
		default:
			if failed == nil {
				failed = result.Err
			}
		}
	}
	k.removals.keep(turn.Name, left)
	return len(left) > 0, failed
}

// deletions are the requests that delete the VMs which nothing holds any more: one for all instances of a uniform scale set, one
// for each VM of a flexible one, which are resources of their own.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/delete-instances
func deletions(in *input, object string) []removal {
	force := url.Values{"forceDeletion": {"true"}}
	var all removal
	var numbers []string
	var out []removal
	for _, vm := range in.vms {
		if !slices.Contains(in.actions.Delete, string(vm.ID)) {
			continue
		}
		if flexible(in) {
			out = append(out, removal{vms: []arm.ID{vm.ID}, action: engine.Action{Object: object, Method: "DELETE", ID: vm.ID, Query: force}})
			continue
		}
		all.vms, numbers = append(all.vms, vm.ID), append(numbers, vm.Number)
	}
	if len(numbers) == 0 {
		return out
	}
	all.action = engine.Action{
		Object: object, Method: "POST", ID: pool.ScaleSetID(in.planned), SubPath: "delete", Part: strings.Join(numbers, ","),
		Query: force, Body: map[string]any{"instanceIds": numbers},
	}
	return append(out, all)
}
