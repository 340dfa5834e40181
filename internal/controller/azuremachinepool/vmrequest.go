package azuremachinepool

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// requests are those to delete VMs and to bring VMs to the latest model, by pool. They are memory only: Azure shows VMs that it deletes,
// and which VMs are of the latest model.
// It is safe for concurrent use.
type requests struct {
	mu sync.Mutex
	of map[string]poolRequests
}

// poolRequests is what is known of the requests of one pool.
type poolRequests struct {
	// sent are the requests that Azure is at.
	sent []vmRequest
	// failed is why the last one failed, and until is when another may be sent. last is why the last deletion failed; it stays while the next
	// one is under way. failedUpgrade tells that failed is of an upgrade.
	failed, last  error
	failedUpgrade bool
	until         time.Time
	// free is since when there are VMs to delete while nodes of others are still drained.
	free time.Time
}

// vmRequest is one request.
type vmRequest struct {
	action engine.Action
	vms    []arm.ID
	// upgrade tells that VMs are brought to the latest model. Otherwise they are deleted.
	upgrade bool
}

// unseen tells whether Azure does not show yet that it deletes what it was told to, so that a list is older than that.
func (r *requests) unseen(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return !vm.Deleting() && r.has(name, vm.ID) })
}

// underWay tells whether Azure still has a VM that it was told to delete.
func (r *requests) underWay(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return r.has(name, vm.ID) })
}

// has tells whether Azure was told to delete a VM.
func (r *requests) has(pool string, vm arm.ID) bool {
	return slices.ContainsFunc(r.take(pool).sent, func(sent vmRequest) bool { return slices.ContainsFunc(sent.vms, vm.Equal) })
}

func (r *requests) take(pool string) poolRequests {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[pool]
}

func (r *requests) keep(pool string, known poolRequests) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[string]poolRequests{}
	}
	r.of[pool] = known
}

// forget is for a pool that is gone.
func (r *requests) forget(pool string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, pool)
}

// request has Azure delete or upgrade the VMs that were decided on, and asks after what was asked for before. It returns whether Azure is
// at any, and why the last that failed did, with the condition that says so. What failed is not sent again before its time, whatever
// wakes the pool.
func (k *Kind) request(ctx context.Context, turn reconcile.Turn, in *input, more bool) (busy bool, condition string, failed error) {
	known, now := k.requests.take(turn.Name), time.Now()
	sent, due := known.sent, now.After(known.until)
	if more && due && in.gathered(&known, now) && (flexible(in) || !k.requests.underWay(turn.Name, in.vms)) {
		sent = slices.Concat(sent, deletions(in, turn.Name), upgrades(in, turn.Name))
	}
	if due {
		known.failed = nil
	}
	known.sent = nil
	for _, r := range sent {
		switch result := turn.Do(ctx, r.action); result.State {
		case arm.Ready, arm.Gone:
			if !r.upgrade {
				known.last = nil
			}
		case arm.Updating, arm.Deleting:
			known.sent = append(known.sent, r)
		default:
			_, after := status.Problem("", result.Err)
			known.failed, known.failedUpgrade, known.until = result.Err, r.upgrade, now.Add(after)
			if !r.upgrade {
				known.last = result.Err
			}
		}
	}
	k.requests.keep(turn.Name, known)
	condition = infrav1.ScaleSetDesiredReplicasCondition
	if known.failedUpgrade {
		condition = infrav1.ScaleSetModelUpdatedCondition
	}
	return len(known.sent) > 0, condition, known.failed
}

// gather is how long VMs wait for others whose nodes are still drained. A uniform scale set does one thing at a time, and what
// goes with the next request waits until Azure is done with this one, as does what comes in their place.
const gather = movingRetry

// gathered tells whether nothing is to be waited for before the VMs are deleted which nothing holds any more.
func (in *input) gathered(known *poolRequests, now time.Time) bool {
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
func deletions(in *input, object string) []vmRequest {
	force := url.Values{"forceDeletion": {"true"}}
	var all vmRequest
	var numbers []string
	var out []vmRequest
	for _, vm := range in.vms {
		if !slices.Contains(in.actions.Delete, string(vm.ID)) {
			continue
		}
		if flexible(in) {
			out = append(out, vmRequest{vms: []arm.ID{vm.ID}, action: engine.Action{Object: object, Method: "DELETE", ID: vm.ID, Query: force}})
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

// upgrades is the request that brings VMs of a uniform scale set to its latest model, none when there are none.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/update-instances
func upgrades(in *input, object string) []vmRequest {
	out := vmRequest{upgrade: true}
	var numbers []string
	for _, vm := range in.vms {
		if slices.Contains(in.actions.Upgrade, string(vm.ID)) {
			out.vms, numbers = append(out.vms, vm.ID), append(numbers, vm.Number)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	out.action = engine.Action{
		Object: object, Method: "POST", ID: pool.ScaleSetID(in.planned), SubPath: "manualupgrade", Part: strings.Join(numbers, ","), Body: map[string]any{"instanceIds": numbers},
	}
	return []vmRequest{out}
}
