package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// write starts the PUT of a node, or the PATCH of its tags, unless something has to come first.
func (p *pass) write(node *arm.Node, want compare.Want, hash string, body any, found observation, d decision, result arm.Result) {
	e, row := p.engine, want.Type
	result.Drift = append(result.Drift, d.drift...)
	if object, _ := want.Body.(map[string]any); row.Taggable && !tagsCarry(object, p.request.Owner) && !(node.Foreign == arm.AdoptForeign && found.Exists) {
		result.State = arm.Failed
		result.Err = fmt.Errorf("%s: the plan's body lacks the tag %s=%s, so it could not be told whose it is", node.ID, p.request.Owner.TagKey, p.request.Owner.TagValue)
		p.set(result, 10*time.Minute)
		return
	}
	if !found.Exists && !row.Taggable && !p.belowOwned(node.ID) && !p.recorded[node.ID.Key()] {
		p.inventory[node.ID.Key()] = node.ID
		result.State, result.Message = arm.Waiting, "waits until it is recorded in the inventory"
		p.set(result, 50*time.Millisecond)
		return
	}

	op := p.operation(node.ID, row, arm.Creating, d.write)
	op.hash, op.differs, op.repairs = hash, d.drift, found.Exists && e.memory.inLine(node.ID.Key(), hash)
	if node.Policy == arm.CreateOnly {
		op.want = visible(want)
	}
	if found.Exists {
		op.state = arm.Updating
	}
	if holder := e.registry.begin(op, false); holder != nil {
		p.held(op, holder, result)
		return
	}
	if e.cache.changedSince(node.ID, found.count) || row.ETag && found.Exists && e.cache.stale(op.client.Scope(), found) {
		// Written after it was read: look again.
		e.registry.end(op)
		result.State = arm.Waiting
		p.set(result, 100*time.Millisecond)
		p.signal()
		return
	}
	var send func() (*client.Response, error)
	if d.write == http.MethodPut {
		raw, err := json.Marshal(compare.Merge(want, body))
		if err != nil {
			e.registry.end(op)
			result.State, result.Err = arm.Failed, err
			p.set(result, 10*time.Minute)
			return
		}
		etag := ""
		if row.ETag && found.Exists {
			etag = found.ETag
		}
		send = func() (*client.Response, error) {
			return op.client.Put(op.ctx, node.ID, row.APIVersion, json.RawMessage(raw), etag)
		}
	} else {
		send = func() (*client.Response, error) { return e.writeTags(op, want, body) }
	}
	result.State = op.state
	p.set(result, safety)
	p.sent(node.ID, d.write)
	e.log.Info(d.write, "resource", node.ID, "object", p.request.Object, "differs", d.drift)
	go func() {
		defer p.answered()
		p.slots <- struct{}{}
		defer func() { <-p.slots }()
		if found.fromList && !found.Exists {
			// A collection may lag behind: be sure before making something.
			if sure := e.get(op.ctx, op.client, node.ID); sure.Err != nil || sure.Exists {
				p.unsent(node.ID)
				e.abandon(op)
				return
			}
		}
		e.send(op, send)
	}()
}

func (p *pass) operation(id arm.ID, row types.Type, state arm.State, verb string) *operation {
	op := &operation{key: id.Key(), id: id, serial: row.SerialKey(id), client: p.request.Client, state: state, verb: verb,
		object: p.request.Object, started: p.engine.clock.Now(), ctx: p.engine.background(p.ctx)}
	op.waiters.add(p.request.Object, p.signal)
	return op
}

// held reports that another operation has the resource or the document it is part of.
func (p *pass) held(op, holder *operation, result arm.Result) {
	if holder.key == op.key {
		result.State = holder.state
		if !holder.await(p.request.Object, p.signal) {
			p.signal()
		}
	} else {
		result.State = arm.Waiting
		result.Message = fmt.Sprintf("waits for %s: writes to %s go one by one", holder.id.Short(), op.serial.Short())
		p.engine.registry.await(op.serial, p.request.Object, p.signal)
	}
	p.set(result, safety)
}

// belowOwned tells whether a resource is below one that carries the ownership tag.
func (p *pass) belowOwned(id arm.ID) bool {
	for _, ancestor := range ancestors(id) {
		if p.tagged(ancestor) || p.recorded[ancestor.Key()] {
			return true
		}
	}
	return false
}

func (p *pass) unsent(id arm.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.wrote, id.Key())
}

func tagsCarry(body map[string]any, owner Owner) bool {
	tags := map[string]string{}
	object, _ := body["tags"].(map[string]any)
	for key, value := range object {
		tags[key], _ = value.(string)
	}
	return hasTag(tags, owner)
}

// writeTags merges and deletes tags without touching the resource itself.
// https://learn.microsoft.com/en-us/rest/api/resources/tags/update-at-scope
func (e *Engine) writeTags(op *operation, want compare.Want, body any) (*client.Response, error) {
	merge, drop := compare.Tags(want, body)
	at := op.id.Extension("Microsoft.Resources/tags", "default")
	patch := func(operation string, tags map[string]string) (*client.Response, error) {
		return op.client.Patch(op.ctx, at, types.TagsAPIVersion, map[string]any{"operation": operation, "properties": map[string]any{"tags": tags}})
	}
	var response *client.Response
	var err error
	if len(merge) > 0 {
		response, err = patch("Merge", merge)
	}
	if len(drop) > 0 && err == nil {
		gone := map[string]string{}
		for _, key := range drop {
			gone[key] = ""
		}
		response, err = patch("Delete", gone)
	}
	if response == nil && err == nil {
		response = &client.Response{Status: http.StatusOK}
	}
	return response, err
}

// send does the request of an operation, and follows what Azure makes of it.
func (e *Engine) send(op *operation, request func() (*client.Response, error)) {
	e.cache.wrote(op.id, false)
	response, err := request()
	e.cache.wrote(op.id, false)
	e.cache.touch(op.serial)
	if err != nil {
		if op.verb == http.MethodDelete && !op.action && arm.Classify(err) == arm.ClassNotFound {
			e.end(op, nil, nil)
			return
		}
		e.end(op, nil, err)
		return
	}
	op.mu.Lock()
	op.requestID = response.RequestID
	op.mu.Unlock()
	if op.verb == http.MethodPut && response.Status == http.StatusCreated && op.id.Type() == types.ResourceGroup {
		e.cache.made(op.client.Scope(), op.id)
	}
	var found *observation
	if op.verb == http.MethodPut && !op.action && headOf(response.Body).ID != "" {
		found = &observation{Observed: Observed{ID: op.id, Exists: true, Body: response.Body, ETag: etagOf(response.Body), At: e.clock.Now()},
			count: e.cache.begin(), fromWrite: true}
	}
	if !accepted(op.verb, response) {
		e.end(op, found, nil)
		return
	}
	if found != nil {
		// Whoever asks while Azure is at it need not ask Azure.
		e.cache.put(op.client.Scope(), *found)
	}
	e.watch(op, response)
}

// accepted tells whether an answer means that the work has only begun. A body that says Succeeded means that it is done
// even when there are headers to ask for more, as with load balancers.
func accepted(verb string, response *client.Response) bool {
	linked := response.AsyncOperation != "" || response.Status == http.StatusAccepted && response.Location != ""
	if verb != http.MethodPut {
		return response.Status == http.StatusAccepted || linked
	}
	state := headOf(response.Body).Properties.ProvisioningState
	if state == "" {
		return response.Status == http.StatusAccepted || linked
	}
	doing, failed := provisioning(state)
	return doing != "" || failed
}

// abandon ends an operation for which nothing was sent.
func (e *Engine) abandon(op *operation) {
	op.mu.Lock()
	op.ended = true
	op.mu.Unlock()
	e.cache.ended(op.id)
	e.registry.end(op)
}

// end is called once Azure has done an operation: with what it left, if that is known, or with its error.
func (e *Engine) end(op *operation, found *observation, err error) {
	op.mu.Lock()
	if op.ended {
		op.mu.Unlock()
		return
	}
	op.ended = true
	if op.stop != nil {
		op.stop()
	}
	op.mu.Unlock()

	e.cache.touch(op.serial)
	e.cache.ended(op.id)
	took := e.clock.Now().Sub(op.started)
	if err == nil {
		e.changed(op, took)
	}
	switch {
	case op.action:
		if op.state == arm.Deleting && err == nil {
			e.memory.forget(op.id)
		}
		e.memory.keep(op.key, op.waiters.objects(), err)
		e.cache.wrote(op.id, op.verb == http.MethodDelete)
	case err != nil:
		e.cache.wrote(op.id, false)
		e.memory.fail(op.key, op.hash, err)
	case op.state == arm.Deleting:
		e.gone(op.id)
		e.cache.wrote(op.id, true)
		e.cache.put(op.client.Scope(), observation{Observed: Observed{ID: op.id, At: e.clock.Now()}, count: e.cache.begin()})
	default:
		if op.verb == http.MethodPut {
			e.memory.put(op.key, op.hash)
			if op.want != nil {
				e.memory.agree(op.key, op.want)
			}
		} else {
			e.memory.clear(op.key)
		}
		// What a change has made of a resource is read once, so that what remains of the difference is known.
		if found != nil && !(found.fromWrite && op.state == arm.Updating) {
			e.cache.put(op.client.Scope(), *found)
		}
	}
	if err != nil {
		e.log.Info("operation failed", "resource", op.id, "object", op.object, "verb", op.verb, "class", arm.Classify(err), "why", arm.Reason(err), "requestID", arm.RequestID(err), "error", err.Error())
	} else {
		e.log.V(1).Info("operation ended", "resource", op.id, "object", op.object, "verb", op.verb, "state", op.state, "took", took.String())
	}
	e.registry.end(op)
}

// gone forgets a resource that is gone. What is under way on what went with it has no end to wait for.
func (e *Engine) gone(id arm.ID) {
	for _, op := range e.registry.below(id) {
		e.abandon(op)
	}
	e.memory.forget(id)
}

// whyFailed finds out why a resource is in the state Failed when the operation that failed is not known any more. Only
// machines tell, in their instance view, which is asked for when what was found came from a list.
func (e *Engine) whyFailed(ctx context.Context, c *client.Client, found Observed, row types.Type) error {
	failure := &arm.Error{Method: http.MethodPut, ID: found.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
		Message: "Azure shows the resource in the state Failed; it is not made again on its own: delete and replace it"}
	if row.Name != types.VirtualMachine {
		return failure
	}
	statuses := statusesOf(found.Body)
	if len(statuses) == 0 {
		response, err := c.Get(ctx, found.ID, row.APIVersion, row.GetQuery)
		if err != nil {
			return failure
		}
		statuses = statusesOf(response.Body)
	}
	for _, status := range statuses {
		if code, ok := strings.CutPrefix(status.Code, "ProvisioningState/failed/"); ok {
			failure.Code, failure.Message = code, status.Message
		}
	}
	return failure
}

type status struct{ Code, Message string }

// statusesOf are the statuses in the instance view of a machine.
func statusesOf(body json.RawMessage) []status {
	var machine struct {
		Properties struct {
			InstanceView struct {
				Statuses []status `json:"statuses"`
			} `json:"instanceView"`
		} `json:"properties"`
	}
	// A body of another shape says nothing.
	_ = json.Unmarshal(body, &machine)
	return machine.Properties.InstanceView.Statuses
}
