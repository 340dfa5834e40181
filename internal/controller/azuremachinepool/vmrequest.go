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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// vmRequests are the requests to delete VMs and to bring VMs to the latest model, by pool. They are kept in memory only, because Azure
// shows which VMs it deletes and which are of the latest model. It is safe for concurrent use.
type vmRequests struct {
	mu     sync.Mutex
	byPool map[string]poolRequests
}

// poolRequests are the requests of one pool.
type poolRequests struct {
	// sent are the requests that Azure is carrying out.
	sent []vmRequest
	// deleted are the VMs that Azure has deleted by request, as long as objects represent them.
	deleted []arm.ID
	// failed is the error of the last request. lastDeletionFailure is the error of the last deletion; it stays while the next one is
	// running. failedUpgrade is set if failed is the error of an upgrade.
	failed, lastDeletionFailure error
	failedUpgrade               bool
	// deletableSince is when the first VMs became deletable while other nodes are still drained.
	deletableSince time.Time
}

// vmRequest is one request.
type vmRequest struct {
	action engine.Action
	vms    []arm.ID
	// upgrade is set if VMs are brought to the latest model. Otherwise they are deleted.
	upgrade bool
}

// hasUnseen reports whether Azure does not yet show a requested deletion, so that the list is older than the request.
func (r *vmRequests) hasUnseen(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return !vm.IsDeleting() && r.hasRequested(name, vm.ID) })
}

// hasUnfinished reports whether Azure still has a VM whose deletion was requested.
func (r *vmRequests) hasUnfinished(name string, vms []pool.Instance) bool {
	return slices.ContainsFunc(vms, func(vm pool.Instance) bool { return r.hasRequested(name, vm.ID) })
}

// hasRequested reports whether the deletion or upgrade of a VM was requested.
func (r *vmRequests) hasRequested(pool string, vm arm.ID) bool {
	return slices.ContainsFunc(r.poolState(pool).sent, func(sent vmRequest) bool { return slices.ContainsFunc(sent.vms, vm.Equal) })
}

// hasDeleted reports whether the deletion of a VM was requested and has not failed.
func (r *vmRequests) hasDeleted(pool string, vm arm.ID) bool {
	known := r.poolState(pool)
	return slices.ContainsFunc(known.deleted, vm.Equal) || slices.ContainsFunc(known.sent,
		func(sent vmRequest) bool { return !sent.upgrade && slices.ContainsFunc(sent.vms, vm.Equal) })
}

func (r *vmRequests) poolState(pool string) poolRequests {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byPool[pool]
}

func (r *vmRequests) setPoolState(pool string, known poolRequests) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byPool == nil {
		r.byPool = map[string]poolRequests{}
	}
	r.byPool[pool] = known
}

// forget drops a pool that is gone.
func (r *vmRequests) forget(pool string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byPool, pool)
}

// requestState is the state of the requests of a pool, as its status shows it.
type requestState struct {
	// running is set while Azure carries out a request.
	running bool
	// failure is the error of the last request, and condition is the type of the condition that shows it.
	failure   error
	condition string
}

// sendRequests sends the requests to delete or upgrade the VMs that were decided on, and follows those sent before. Engine.RunAction does
// not repeat a failed one before its retry is due.
func (k *Kind) sendRequests(ctx context.Context, session reconcile.Session, in *input, more bool) requestState {
	known, now := k.requests.poolState(session.Name), session.Now()
	sent := known.sent
	if more && in.isGathered(&known, now) && (isFlexible(in) || !k.requests.hasUnfinished(session.Name, in.vms)) {
		sent = slices.Concat(sent, deleteRequests(in, session.Name), upgradeRequests(in, session.Name))
		known.failed = nil
	}
	known.sent, known.deleted = nil, in.representedVMs(known.deleted)
	for _, r := range sent {
		switch result := session.RunAction(ctx, r.action); result.State {
		case arm.Ready, arm.Gone:
			if !r.upgrade {
				known.lastDeletionFailure, known.deleted = nil, slices.Concat(known.deleted, r.vms)
			}
		case arm.Updating, arm.Deleting:
			known.sent = append(known.sent, r)
		default:
			known.failed, known.failedUpgrade = result.Err, r.upgrade
			if !r.upgrade {
				known.lastDeletionFailure = result.Err
			}
		}
	}
	k.requests.setPoolState(session.Name, known)
	out := requestState{running: len(known.sent) > 0, failure: known.failed, condition: infrav1.ScaleSetDesiredReplicasCondition}
	if known.failedUpgrade {
		out.condition = infrav1.ScaleSetModelUpdatedCondition
	}
	return out
}

// representedVMs returns those of vms that an AzureMachinePoolMachine represents.
func (in *input) representedVMs(vms []arm.ID) []arm.ID {
	members := in.membersByProviderID()
	return slices.DeleteFunc(slices.Clone(vms), func(vm arm.ID) bool {
		_, ok := members[strings.ToLower(plan.ProviderID(vm))]
		return !ok
	})
}

// gatherTime is how long deletable VMs wait for others whose nodes are still drained. A uniform scale set runs one operation at a time,
// so later deletions, and the VMs that replace them, wait until the first one has ended.
const gatherTime = movingRetry

// isGathered reports whether the deletable VMs need not wait for others.
func (in *input) isGathered(known *poolRequests, now time.Time) bool {
	draining := slices.ContainsFunc(in.rolloutInstances(),
		func(vm rollout.Instance) bool { return vm.MachineDeleting && !vm.Drained && !vm.Deleting })
	if isFlexible(in) || len(in.actions.Delete) == 0 || !draining {
		known.deletableSince = time.Time{}
		return true
	}
	if known.deletableSince.IsZero() {
		known.deletableSince = now
	}
	return now.Sub(known.deletableSince) >= gatherTime
}

// deleteRequests returns the requests that delete the VMs that are no longer needed: one for all instances of a uniform scale set, one
// for each VM of a flexible one, whose VMs are resources of their own.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/delete-instances
func deleteRequests(in *input, object string) []vmRequest {
	force := url.Values{"forceDeletion": {"true"}}
	var all vmRequest
	var numbers []string
	var out []vmRequest
	for _, vm := range in.vms {
		if !slices.Contains(in.actions.Delete, string(vm.ID)) {
			continue
		}
		if isFlexible(in) {
			out = append(out, vmRequest{vms: []arm.ID{vm.ID}, action: engine.Action{Object: object, Method: "DELETE", ID: vm.ID, Query: force}})
			continue
		}
		all.vms, numbers = append(all.vms, vm.ID), append(numbers, vm.InstanceID)
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

// upgradeRequests returns the request that brings VMs of a uniform scale set to its latest model, or none.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/update-instances
func upgradeRequests(in *input, object string) []vmRequest {
	out := vmRequest{upgrade: true}
	var numbers []string
	for _, vm := range in.vms {
		if slices.Contains(in.actions.Upgrade, string(vm.ID)) {
			out.vms, numbers = append(out.vms, vm.ID), append(numbers, vm.InstanceID)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	out.action = engine.Action{
		Object: object, Method: "POST", ID: pool.ScaleSetID(in.planned), SubPath: "manualupgrade", Part: strings.Join(numbers, ","),
		Body: map[string]any{"instanceIds": numbers},
	}
	return []vmRequest{out}
}
