package engine

import (
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// busyFor is how long a deletion waits for another operation on the resource before it is tried all the same.
const busyFor = time.Minute

// remove deletes one resource once nothing has to go before it, and sets its result.
func (p *pass) remove(id arm.ID, group string, before arm.ID) {
	const desired = "delete"
	e, key := p.engine, id.Key()
	result := arm.Result{ID: id, Group: group}
	row, err := types.Of(id)
	if err != nil {
		result.State, result.Err = arm.Failed, err
		p.set(result, 10*time.Minute)
		return
	}
	under := e.registry.find(key)
	if under != nil && under.await(p.request.Object, p.signal) {
		result.State = under.state
		wait := safety
		if under.state != arm.Deleting {
			result.State, result.Message = arm.Waiting, "waits for an operation on it to end before it is deleted"
			wait = busyFor - e.clock.Now().Sub(under.started)
		}
		if under.state == arm.Deleting || !row.DeleteWhileBusy && wait > 0 {
			p.set(result, wait)
			return
		}
	}
	found := p.found[key]
	switch {
	case found.ID == "" || e.cache.changedSince(id, found.count):
		result.State = arm.Waiting
		p.set(result, time.Second)
		p.signal()
		return
	case found.Err != nil:
		p.unreadable(&arm.Node{ID: id, Group: group}, result, found.Err)
		return
	case !found.Exists:
		result.State = arm.Gone
		e.gone(id)
		p.set(result, 0)
		return
	case !p.owned(id):
		result.State, result.Observed = arm.Foreign, found.Body
		p.set(result, 0)
		return
	}
	result.Owned, result.Observed = true, found.Body
	if doing, _ := provisioning(headOf(found.Body).Properties.ProvisioningState); doing == arm.Deleting {
		e.follow(p.request.Client, id, doing, p.request.Object, p.signal)
		result.State = arm.Deleting
		p.set(result, safety)
		return
	}
	if before != "" {
		result.State, result.BlockedBy = arm.Blocked, before
		p.set(result, 0)
		return
	}
	if wait, failure := e.memory.failed(key, desired); wait > 0 {
		result.State, result.Err, result.Message = stateOf(failure), failure, arm.Outlook(failure)
		p.set(result, wait)
		return
	}
	op := p.operation(id, row, arm.Deleting, http.MethodDelete)
	op.hash = desired
	if holder := e.registry.begin(op, true); holder != nil {
		p.held(op, holder, result)
		return
	}
	result.State = arm.Deleting
	p.set(result, safety)
	p.sent(id, http.MethodDelete)
	e.log.Info("DELETE", "resource", id, "object", p.request.Object)
	go func() {
		defer p.answered()
		p.slots <- struct{}{}
		defer func() { <-p.slots }()
		e.send(op, func() (*client.Response, error) {
			return op.client.Delete(op.ctx, id, row.APIVersion, row.DeleteQuery)
		})
	}()
}
