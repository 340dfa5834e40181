package azuremachinepool

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
)

// removals are the deletions of VMs that Azure was asked for, by pool. They are memory only: Azure shows VMs that it deletes.
// It is safe for concurrent use.
type removals struct {
	mu sync.Mutex
	of map[string]removing
}

// removing is what is known of the deletions of one pool.
type removing struct {
	// sent are the requests that Azure is at.
	sent []removal
	// failed is why the last one failed, and until is when another may be sent. last stays while that one is under way.
	failed, last error
	until        time.Time
	// free is since when there are VMs to delete while nodes of others are still drained.
	free time.Time
}

// removal is one request.
type removal struct {
	action engine.Action
	vms    []arm.ID
}

// unseen tells whether Azure does not show yet that it deletes what it was told to, so that a list is older than that.
func (r *removals) unseen(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return !vm.Deleting() && r.has(name, vm.ID) })
}

// underWay tells whether Azure still has a VM that it was told to delete.
func (r *removals) underWay(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return r.has(name, vm.ID) })
}

// has tells whether Azure was told to delete a VM.
func (r *removals) has(pool string, vm arm.ID) bool {
	return slices.ContainsFunc(r.take(pool).sent, func(sent removal) bool { return slices.ContainsFunc(sent.vms, vm.Equal) })
}

func (r *removals) take(pool string) removing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[pool]
}

func (r *removals) keep(pool string, known removing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]removing{}
	}
	r.of[pool] = known
}

// forget is for a pool that is gone.
func (r *removals) forget(pool string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, pool)
}

// remove has Azure delete what was decided on, and asks after what was asked for before. It returns whether Azure is at any,
// and why the last that failed did. What failed is not sent again before its time, whatever wakes the pool.
func (k *Kind) remove(ctx context.Context, turn pass.Turn, in *input, more bool) (busy bool, failed error) {
	known, now := k.removals.take(turn.Name), time.Now()
	sent, due := known.sent, now.After(known.until)
	if more && due && in.gathered(&known, now) && (flexible(in) || !k.removals.underWay(turn.Name, in.vms)) {
		sent = slices.Concat(sent, deletions(in, turn.Name))
	}
	if due {
		known.failed = nil
	}
	known.sent = nil
	for _, r := range sent {
		switch result := k.Engine.Do(ctx, turn.Access.Client, r.action, turn.Wake); result.State {
		case arm.Ready, arm.Gone:
			known.last = nil
		case arm.Updating, arm.Deleting:
			known.sent = append(known.sent, r)
		default:
			_, after := report.Problem("", result.Err)
			known.failed, known.last, known.until = result.Err, result.Err, now.Add(after)
		}
	}
	k.removals.keep(turn.Name, known)
	return len(known.sent) > 0, known.failed
}

// gather is how long VMs wait for others whose nodes are still drained. A uniform scale set does one thing at a time, and what
// goes with the next request waits until Azure is done with this one, as does what comes in their place.
const gather = movingRetry

// gathered tells whether nothing is to be waited for before the VMs are deleted which nothing holds any more.
func (in *input) gathered(known *removing, now time.Time) bool {
	draining := slices.ContainsFunc(in.instances(), func(vm rollout.Instance) bool { return vm.Leaving && !vm.Free && !vm.Deleting })
	if flexible(in) || len(in.actions.Delete) == 0 || !draining {
		known.free = time.Time{}
		return true
	}
	if known.free.IsZero() {
		known.free = now
	}
	return now.Sub(known.free) >= gather
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
